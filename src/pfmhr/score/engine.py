"""Two ways to one result: the denoiser's response to directions. The fast one is checked when it is made."""

from __future__ import annotations

from typing import Literal, Protocol

import torch
from torch import Tensor, nn

from pfmhr.errors import InputError, unknown_name
from pfmhr.prior import PosePrior
from pfmhr.prior.denoiser import Denoiser
from pfmhr.prior.network import PoseNetwork
from pfmhr.score.autodiff import AutodiffEngine
from pfmhr.score.fused import FusedEngine

Choice = Literal["auto", "fused", "autodiff"]
Precision = Literal["float32", "bfloat16", "float64"]

# Relative to the response itself. Rounding alone gives about 1e-6, 1e-2 and 1e-15.
_TOLERANCE = {"float32": 1e-4, "bfloat16": 5e-2, "float64": 1e-9}
_WORST = 5e-2
_SELF_TEST_POSES = 32


class Engine(Protocol):
    """The clean-pose map at one flow time, and its derivative."""

    def clean_pose(self, noisy_pose: Tensor) -> Tensor:
        """F(z): normalised poses ``(N, J)`` → ``(N, J)``."""
        ...

    def respond(self, noisy_pose: Tensor, directions: Tensor) -> Tensor:
        """``J(z)·d`` for many directions at each pose: ``(N, J)``, ``(D, N, J)`` → ``(D, N, J)``."""
        ...


def make_engine(
    prior: PosePrior, flow_time: float, device: torch.device, choice: Choice = "auto", precision: Precision = "float32"
) -> Engine:
    """The engine for a prior at one flow time; fused whenever the denoiser is our own network."""
    if precision not in _TOLERANCE:
        raise unknown_name("precision", precision, _TOLERANCE)
    if choice not in ("auto", "fused", "autodiff"):
        raise unknown_name("engine", choice, ("auto", "fused", "autodiff"))
    denoiser: nn.Module = prior.denoiser
    ours = isinstance(denoiser, Denoiser) and isinstance(denoiser.network, PoseNetwork)
    if choice == "fused" and not ours:
        raise InputError(
            "the fused engine knows the project's own network only",
            expected="a Denoiser around a PoseNetwork",
            got=type(denoiser).__name__,
            fix='Use engine="autodiff".',
            code="bad_config",
        )
    reference_dtype = torch.float64 if precision == "float64" else torch.float32
    if choice == "autodiff" or not ours:
        if precision == "bfloat16":
            raise InputError("bfloat16 is for the fused engine only", fix="Use float32.", code="bad_config")
        return AutodiffEngine(denoiser, flow_time, device, reference_dtype)
    assert isinstance(denoiser, Denoiser)
    with torch.autocast(device.type, enabled=False):  # the engine chooses its own precision
        engine = FusedEngine(denoiser, flow_time, device, getattr(torch, precision))
        usual = AutodiffEngine(denoiser, flow_time, device, reference_dtype)
        exact = AutodiffEngine(denoiser, flow_time, torch.device("cpu"), torch.float64)
        self_test(engine, usual, exact, len(prior.joint_names), device, reference_dtype, _TOLERANCE[precision])
    return engine


def self_test(
    engine: Engine,
    usual: Engine,
    exact: Engine,
    joints: int,
    device: torch.device,
    dtype: torch.dtype,
    tolerance: float,
) -> None:
    """Refuse an engine that is further from the exact result, of float64 on the CPU, than rounding explains.

    How products are rounded is the machine's choice (TF32 makes a thousandth of float32's millionth), and ``usual``,
    autodiff there, meets the same: ten times its error is allowed where that is more than ``tolerance``.
    """
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(3, _SELF_TEST_POSES, joints, generator=generator, dtype=dtype)
    precise, here = values.double(), values.to(device)
    results = (
        (
            "response",
            *(each.respond(here[0], here[1:]) for each in (engine, usual)),
            exact.respond(precise[0], precise[1:]),
        ),
        ("clean pose", *(each.clean_pose(here[0]) for each in (engine, usual)), exact.clean_pose(precise[0])),
    )
    for what, ours, theirs, expected in results:
        size = expected.norm().clamp_min(1e-20)
        error, rounding = (float((each.cpu().double() - expected).norm() / size) for each in (ours, theirs))
        allowed = max(tolerance, min(10.0 * rounding, _WORST))
        if not error <= allowed:
            raise InputError(
                f"the fused engine's {what} is wrong on this machine",
                expected=f"a relative error up to {allowed:.2g} against autodiff in float64",
                got=f"{error:.2g}",
                fix='Use engine="autodiff" (or float32 precision), and report this.',
                code="engine_mismatch",
            )
