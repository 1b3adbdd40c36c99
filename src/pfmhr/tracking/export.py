"""A trained policy as one ONNX file that also says what a controller has to know to use it."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

import pfmhr
from pfmhr.errors import InputError
from pfmhr.files import disk_errors, write_atomically
from pfmhr.tracking.environment import TrackingEnvironment
from pfmhr.tracking.networks import Policy
from pfmhr.tracking.observations import observation_layout
from pfmhr.tracking.runs import TrackerRun

OPSET = 18
TOLERANCE = 1e-5
"""How far the file's actions may be from torch's: absolute below one, relative above."""


def export_policy(run: TrackerRun, path: Path) -> dict[str, str]:
    """Write the deterministic policy of a run to ``path`` and return its metadata.

    Input ``obs`` ``(batch, D)``: raw observations; normaliser and clip are inside. Output ``actions`` ``(batch, J)``.
    What would be written is first compared with torch; on a mismatch nothing is.
    """
    missing = [name for name in ("onnx", "onnxruntime", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        what = f"exporting a policy needs {' and '.join(missing)}"
        raise InputError(what, fix="`pip install 'pfm-hr[tracking]'`.", code="missing_extra")
    metadata = policy_metadata(run)
    content = _converted(run.policy, metadata)
    _compare(content, run.policy, path)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda handle: handle.write(content))
    return metadata


def policy_metadata(run: TrackerRun) -> dict[str, str]:
    """What the file says about itself: lists joined by commas as in mjlab's files, numbers to the last bit.

    ``action_type`` says what joint targets are: ``residual``: the reference pose one control step ahead plus
    ``action_scale`` times the action; ``absolute``: ``action_scale`` times the action, which is cut to ±1.
    """
    settings, robot = run.config.environment, run.robot
    one = TrackingEnvironment(robot, run.motions[:1], replace(settings, environments=1), threads=1)
    residual = settings.actions == "residual"
    layout = observation_layout(settings, robot)
    return {
        "joint_names": ",".join(robot.joint_names),
        "joint_stiffness": _numbers(robot.stiffness),
        "joint_damping": _numbers(robot.damping),
        "joint_effort_limits": _numbers(robot.effort),
        "default_joint_pos": _numbers(robot.default_pose),
        "action_type": settings.actions,
        "action_scale": _numbers((one.residual_scale if residual else one.absolute_scale).tolist()),
        "control_rate": repr(settings.control_rate),
        "physics_rate": repr(settings.physics_rate),
        "observation_type": settings.observation,
        "observation_layout": json.dumps([[name, width] for name, width in layout]),
        "key_bodies": ",".join(settings.key_bodies),
        "robot": robot.name,
        "clip_names": json.dumps([motion.name for motion in run.motions], ensure_ascii=False),
        "samples": str(run.samples),
        "pfmhr_version": pfmhr.__version__,
    }


def _numbers(values: Iterable[float]) -> str:
    return ",".join(f"{float(value):.9g}" for value in values)


def _converted(policy: Policy, metadata: dict[str, str]) -> bytes:
    """The policy and its metadata as the content of an ONNX file."""
    import onnx

    width = sum(width for _, width in json.loads(metadata["observation_layout"]))
    batch = torch.export.Dim("batch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch about torch
        program = torch.onnx.export(
            policy,
            (torch.zeros(2, width),),
            input_names=["obs"],
            output_names=["actions"],
            opset_version=OPSET,
            dynamic_shapes=({0: batch},),
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    onnx.helper.set_model_props(model, metadata)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _compare(content: bytes, policy: Policy, path: Path) -> None:
    """Refuse a file whose actions are not those of torch, at usual observations and far beyond the clip."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    mean, scale = policy.get_buffer("mean"), policy.get_buffer("scale")
    random = torch.Generator().manual_seed(0)
    for batch, spread in ((1, 1.0), (64, 1.0), (16, 30.0)):
        observations = mean + spread * torch.randn(batch, mean.shape[-1], generator=random) / scale
        with torch.no_grad():
            wanted = policy(observations).numpy()
        given = np.asarray(session.run(["actions"], {"obs": observations.numpy()})[0])
        gap = np.abs(given - wanted) / np.maximum(1.0, np.abs(wanted))
        if not bool((gap <= TOLERANCE).all()):  # also if any is not a number
            raise InputError(
                "the exported policy does not act like the trained one; nothing was written",
                where=path,
                expected=f"actions equal to {TOLERANCE:g}",
                got=f"a difference of {gap.max():g}",
                code="bad_export",
            )
