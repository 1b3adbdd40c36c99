"""How fast the Pose Geometry Score is, against the matrix products nothing can avoid."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pfmhr.bench.accuracy import score_accuracy
from pfmhr.bench.timing import interleaved
from pfmhr.motion import Motion
from pfmhr.motion.checks import find_motion_files
from pfmhr.motion.checks.paths import available_cores
from pfmhr.motion.embedded import CLIPS, embedded_motion
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.prior import PosePrior, PriorConfig, preset
from pfmhr.prior.network import PoseNetwork
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import new_denoiser
from pfmhr.provenance import provenance
from pfmhr.robots import Robot
from pfmhr.score.autodiff import AutodiffEngine
from pfmhr.score.fused import FusedEngine

FLOW_TIME = 0.75


def bench_score(
    name: str, batch: int, repeats: int, bfloat16: bool | None, threads: int | None, data: Path | None
) -> dict[str, Any]:
    """Every way to one score per pose, in one run on the same tensors; and how exact the fast ones are."""
    torch.set_num_threads(threads or available_cores())
    prior = random_prior(name)
    generator = torch.Generator().manual_seed(0)
    poses, directions = torch.randn(2, batch, len(prior.joint_names), generator=generator)
    works = _works(prior, poses, directions, has_bfloat16() if bfloat16 is None else bfloat16)
    with torch.inference_mode():
        times = interleaved(works, repeats)
    bare = times["bare_products"]
    return {
        "preset": name,
        "batch": batch,
        "threads": torch.get_num_threads(),
        "milliseconds": {what: round(1000.0 * seconds, 3) for what, seconds in times.items()},
        "ratio": {what: round(seconds / bare, 3) for what, seconds in times.items()},
        "peak_extra_megabytes": {str(rows): _peak_memory(name, rows) for rows in (batch, 8 * batch)},
        "fused_bfloat16": "measured" if "fused_bfloat16" in times else "left out: this processor has no bfloat16 units",
        "accuracy_on_g1-small": score_accuracy(PosePrior.load("g1-small"), _motions(data)),
        **provenance(),
    }


def _motions(data: Path | None) -> list[Motion]:
    """Clips to be exact on: those of a file or folder, or one of each embedded kind."""
    robot = Robot.load("g1")
    if data is None:
        return [embedded_motion(name, robot) for name in CLIPS]
    options = ReadOptions(robot, assume_fps=True)
    return [motion for file in find_motion_files([data]) for motion in read_motions(file, options)]


def random_prior(name: str) -> PosePrior:
    """A prior of the given size whose weights, those that start at zero too, are random."""
    robot = Robot.load("g1")
    config = PriorConfig(network=preset(name))
    denoiser = new_denoiser(config, robot.num_joints)
    generator = torch.Generator().manual_seed(0)
    for parameter in denoiser.parameters():
        with torch.no_grad():
            parameter.normal_(0.0, parameter.shape[-1] ** -0.5 if parameter.ndim == 2 else 0.1, generator=generator)
    return PosePrior(config, Normalisation.from_limits(robot), robot.name, robot.joint_names, denoiser)


def has_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16 matrices by itself; others emulate it, a hundred times slower."""
    try:
        flags = Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
    return "avx512_bf16" in flags or "amx_bf16" in flags


def _works(prior: PosePrior, poses: Tensor, directions: Tensor, bfloat16: bool) -> dict[str, Callable[[], object]]:
    cpu, along = torch.device("cpu"), directions[None]
    autodiff = AutodiffEngine(prior.denoiser, FLOW_TIME, cpu, torch.float32)
    each = AutodiffEngine(_TimePerPose(prior.denoiser), FLOW_TIME, cpu, torch.float32)
    fused = FusedEngine(prior.denoiser, FLOW_TIME, cpu, torch.float32)
    time = torch.tensor(FLOW_TIME)
    works: dict[str, Callable[[], object]] = {
        "bare_products": _bare_products(prior, len(poses)),
        "jvp_with_a_time_per_pose": lambda: each.respond(poses, along),
        "jvp": lambda: autodiff.respond(poses, along),
        "fused_float32": lambda: fused.respond(poses, along),
        "three_denoiser_calls": lambda: [prior.denoiser(poses, time) for _ in range(3)],
        "three_fused_denoiser_calls": lambda: [fused.clean_pose(poses) for _ in range(3)],
    }
    if bfloat16:
        half = FusedEngine(prior.denoiser, FLOW_TIME, cpu, torch.bfloat16)
        works["fused_bfloat16"] = lambda: half.respond(poses, along)
    return works


class _TimePerPose(nn.Module):
    """The denoiser as a plain implementation would call it: a flow time, and so a condition, per row."""

    def __init__(self, denoiser: nn.Module) -> None:
        super().__init__()
        self.denoiser = denoiser

    def forward(self, noisy_pose: Tensor, flow_time: Tensor) -> Tensor:
        return self.denoiser(noisy_pose, flow_time.expand(noisy_pose.shape[:-1]))


def _bare_products(prior: PosePrior, batch: int) -> Callable[[], None]:
    """All linear maps of the network on 2·batch rows (poses and directions), results written in place."""
    network, rows = prior.denoiser.network, 2 * batch
    assert isinstance(network, PoseNetwork)
    width, joints = network.config.width, network.joints
    pose, hidden, other = torch.randn(rows, joints), torch.randn(rows, width), torch.randn(rows, width)
    weights = [linear.weight.T for block in network.blocks for linear in block.linears]  # type: ignore[union-attr]

    def run() -> None:
        torch.mm(pose, network.input.weight.T, out=other)
        for weight in weights:
            torch.mm(hidden, weight, out=other)
        torch.mm(hidden, network.output.weight.T, out=pose)

    return run


def _peak_memory(name: str, batch: int) -> float | None:
    """MB that scoring a batch needs for itself, beyond prior and poses, in a fresh process; None where unknown."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    code = f"from pfmhr.bench.score import _memory_of; print(_memory_of({name!r}, {batch}))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return round(float(answer.stdout), 1)


def _memory_of(name: str, batch: int) -> float:
    from pfmhr.score import PoseGeometryScore

    prior = random_prior(name)
    score = PoseGeometryScore(prior, FLOW_TIME)
    poses = torch.randn(2, batch, len(prior.joint_names))
    score(poses[0, :64], poses[1, :64], 1 / 30)
    before = _resident(peak=False)
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    score(poses[0], poses[1], 1 / 30)
    return _resident(peak=True) - before


def _resident(peak: bool) -> float:
    """MB of memory this process has in use, or has had at most (Linux)."""
    field = "VmHWM:" if peak else "VmRSS:"
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field))
    return float(line.split()[1]) / 1000.0
