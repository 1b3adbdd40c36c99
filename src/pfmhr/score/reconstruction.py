"""FM-Recon, the rival that looks at single poses: how far the denoiser moves a corrupted pose (Eq. 21)."""

from __future__ import annotations

from typing import Any, ClassVar

import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.inputs import as_poses, check_dt, check_flow_time, finite_rows
from pfmhr.prior import PosePrior
from pfmhr.prior.path import corrupt
from pfmhr.score.corruption import POSES_PER_CHUNK, chunks, corruption
from pfmhr.score.engine import Choice, Engine, Precision, make_engine

NOISE_LEVELS = (0.55, 0.65, 0.80)
"""The paper's three flow times."""


class ReconstructionScore:
    """``e_m = ‖F(z_m, t_m) − q‖²`` at several flow times: low for poses the prior knows. Eq. 21."""

    of_changes: ClassVar[bool] = False
    """It judges poses, moving or not."""

    def __init__(
        self,
        prior: PosePrior,
        t_eval: tuple[float, ...] = NOISE_LEVELS,
        *,
        precision: Precision = "float32",
        engine: Choice = "auto",
    ) -> None:
        if not t_eval:
            raise InputError("no flow time to reconstruct at", code="bad_flow_time")
        delta = prior.config.delta
        self.prior, self.t_eval = prior, tuple(check_flow_time(flow_time, delta) for flow_time in t_eval)
        self._choice: Choice = engine
        self._precision: Precision = precision
        self._dtype = torch.float64 if precision == "float64" else torch.float32
        self._engines: dict[torch.device, tuple[Engine, ...]] = {}
        self._hash = prior.hash
        self._at(prior.device)

    @property
    def settings(self) -> dict[str, Any]:
        """What a calibration depends on besides the reference and its time step."""
        return {"score": "reconstruction", "prior": self._hash, "t_eval": list(self.t_eval), "samples": 1}

    @torch.no_grad()
    def __call__(self, pose: Tensor | NDArray[Any], *, generator: torch.Generator | None = None) -> Tensor:
        """Errors ``(levels, N)`` of poses ``(N, J)`` in rad; 0 where a pose is not finite."""
        poses = as_poses(pose, len(self.prior.joint_names))
        finite, parts = finite_rows(poses), []
        for rows in chunks(len(poses), POSES_PER_CHUNK):
            clean = torch.nan_to_num(self.prior.normalise(poses[rows]), 0.0, 0.0, 0.0).to(self._dtype)
            draws = corruption(clean, len(self.t_eval), None, generator)
            levels = zip(self._at(poses.device), self.t_eval, draws, strict=True)
            with torch.autocast(poses.device.type, enabled=False):
                errors = [engine.clean_pose(corrupt(clean, noise, time)) - clean for engine, time, noise in levels]
            parts.append(torch.stack([error.square().sum(dim=1) for error in errors]))
        return torch.where(finite, torch.cat(parts, dim=1), 0.0)

    def evaluate(
        self, previous_pose: Any, pose: Any, dt: float, *, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Errors ``(levels, N)`` of the poses after each transition, and which ``(N,)`` are finite."""
        del previous_pose  # this score sees one pose at a time
        check_dt(dt)
        poses = as_poses(pose, len(self.prior.joint_names))
        return self(poses, generator=generator), finite_rows(poses)

    def _at(self, device: torch.device) -> tuple[Engine, ...]:
        if device not in self._engines:
            make = [make_engine(self.prior, time, device, self._choice, self._precision) for time in self.t_eval]
            self._engines[device] = tuple(make)
        return self._engines[device]
