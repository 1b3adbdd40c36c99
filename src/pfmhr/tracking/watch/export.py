"""A trained policy as one ONNX file that holds all a controller needs to use it: policy, reference, settings."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

import pfmhr
from pfmhr.errors import InputError
from pfmhr.files import make_folder, write_atomically
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.env.library import MotionLibrary
from pfmhr.tracking.env.observations import observation_layout
from pfmhr.tracking.ppo.networks import Policy
from pfmhr.tracking.runs import TrackerRun

OPSET = 18
TOLERANCE = 1e-5
"""How far the file's actions may be from torch's: absolute below one, relative above."""


def export_policy(run: TrackerRun, path: Path) -> dict[str, str]:
    """Write the deterministic policy of a run to ``path`` and return its metadata.

    Input ``obs`` ``(batch, D)``: raw observations; normaliser and clip are inside. Output ``actions`` ``(batch, J)``.
    Inputs ``clip`` and ``time_step`` ``(batch,)``: which clip, and how many control steps after its beginning.
    Outputs ``reference_pos`` ``(batch, 7 + J)`` and ``reference_vel`` ``(batch, 6 + J)``: the reference then, as
    MuJoCo has positions and velocities. What would be written is first compared; on a mismatch nothing is.
    """
    missing = [name for name in ("onnx", "onnxruntime", "onnxscript") if importlib.util.find_spec(name) is None]
    if missing:
        what = f"exporting a policy needs {' and '.join(missing)}"
        raise InputError(what, fix="`pip install 'pfm-hr[tracking]'`.", code="missing_extra")
    settings = replace(run.config.environment, environments=1)
    one = TrackingEnvironment(run.robot, run.motions, settings, threads=1, library=run.library)
    metadata = policy_metadata(run, one)
    content = _converted(PolicyWithReference(run.policy, one.library, one.substeps), metadata)
    _compare(content, run.policy, one, path)
    one.simulation.close()
    make_folder(path.parent)
    write_atomically(path, lambda handle: handle.write(content))
    return metadata


class PolicyWithReference(nn.Module):
    """What is exported: the policy, and the clips it was trained on."""

    def __init__(self, policy: Policy, library: MotionLibrary, substeps: int) -> None:
        super().__init__()
        self.policy, self.substeps = policy, substeps
        lengths, every = library.length.tolist(), torch.arange(len(library))
        frames = torch.cat([torch.arange(length + 1) for length in lengths])
        clips = torch.repeat_interleave(every, library.length + 1)
        positions, velocities = library.at(clips, frames, bodies=False).states()
        first = torch.tensor([0, *lengths[:-1]]).cumsum(0) + every
        travelled = library.at(every, library.length, bodies=False).root_pos - positions[first, :3]
        travelled = torch.nn.functional.pad(travelled * library.loops[:, None], (0, positions.shape[1] - 3))
        tables = {"positions": positions, "velocities": velocities, "first": first, "travelled": travelled}
        for name, table in {**tables, "length": library.length, "loops": library.loops}.items():
            self.register_buffer(name, table)

    def forward(self, obs: Tensor, clip: Tensor, time_step: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Mean actions, and positions and velocities of the reference; see :func:`export_policy`."""
        table = self.get_buffer
        frame, length, loops = time_step * self.substeps, table("length")[clip], table("loops")[clip]
        cycles = torch.where(loops, frame // length, 0)
        row = table("first")[clip] + torch.where(loops, frame - cycles * length, torch.minimum(frame, length))
        positions = table("positions")[row] + cycles[:, None] * table("travelled")[clip]
        return self.policy(obs), positions, table("velocities")[row]


def policy_metadata(run: TrackerRun, one: TrackingEnvironment) -> dict[str, str]:
    """What the file says about itself: lists joined by commas as in mjlab's files, numbers to the last bit.

    ``action_type`` says what joint targets are: ``residual``: the reference pose one control step ahead plus
    ``action_scale`` times the action; ``absolute``: ``action_scale`` times the action, which is cut to ±1.
    """
    settings, robot = run.config.environment, run.robot
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
        "key_bodies": ",".join(settings.key_bodies_of(robot)),
        "robot": robot.name,
        "clip_names": json.dumps([motion.name for motion in run.motions], ensure_ascii=False),
        "samples": str(run.samples),
        "pfmhr_version": pfmhr.__version__,
    }


def _numbers(values: Iterable[float]) -> str:
    return ",".join(f"{float(value):.9g}" for value in values)


def _converted(policy: PolicyWithReference, metadata: dict[str, str]) -> bytes:
    """Policy, reference and metadata as the content of an ONNX file."""
    import onnx

    width = sum(width for _, width in json.loads(metadata["observation_layout"]))
    batch = torch.export.Dim("batch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch about torch
        program = torch.onnx.export(
            policy,
            (torch.zeros(2, width), torch.zeros(2, dtype=torch.long), torch.zeros(2, dtype=torch.long)),
            input_names=["obs", "clip", "time_step"],
            output_names=["actions", "reference_pos", "reference_vel"],
            opset_version=OPSET,
            dynamic_shapes=({0: batch}, {0: batch}, {0: batch}),
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    model = program.model_proto
    onnx.helper.set_model_props(model, metadata)
    onnx.checker.check_model(model)
    return model.SerializeToString()


def _compare(content: bytes, policy: Policy, one: TrackingEnvironment, path: Path) -> None:
    """Refuse a file whose actions are not those of torch, at usual observations and far beyond the clip, or whose
    reference is not that of training, also behind its end."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    mean, scale = policy.get_buffer("mean"), policy.get_buffer("scale")
    random = torch.Generator().manual_seed(0)
    for batch, spread in ((1, 1.0), (64, 1.0), (16, 30.0)):
        observations = mean + spread * torch.randn(batch, mean.shape[-1], generator=random) / scale
        clip = torch.randint(len(one.library), (batch,), generator=random)
        step = (3 * torch.rand(batch, generator=random) * one.library.length[clip] / one.substeps).long()
        with torch.no_grad():
            wanted = (policy(observations), *one.library.at(clip, step * one.substeps).states())
        inputs = {"obs": observations, "clip": clip, "time_step": step}
        given = session.run(None, {name: value.numpy() for name, value in inputs.items()})
        for ours, theirs in zip(given, wanted, strict=True):
            gap = np.abs(np.asarray(ours) - theirs.numpy()) / np.maximum(1.0, np.abs(theirs.numpy()))
            if not bool((gap <= TOLERANCE).all()):  # also if any is not a number
                raise InputError(
                    "the exported policy does not act like the trained one; nothing was written",
                    where=path,
                    expected=f"actions and reference equal to {TOLERANCE:g}",
                    got=f"a difference of {gap.max():g}",
                    code="bad_export",
                )
