"""All checks on one motion, in an order where each may rely on the ones before it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pfmhr.errors import InputError
from pfmhr.motion.checks.change import check_change
from pfmhr.motion.checks.poses import check_poses
from pfmhr.motion.checks.report import Fault
from pfmhr.motion.checks.root import check_root
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot


@dataclass(frozen=True)
class CheckConfig:
    """Thresholds. The defaults pass all of LAFAN1 and catch every known fault of public G1 data."""

    limit_tolerance: float = 0.02
    """How far in rad a joint may be outside its limits."""
    jump_speed: float = 60.0
    """A joint changing faster, in rad/s, has jumped; the G1's fastest motor reaches 37."""
    fast_speed: float = 40.0
    """A joint changing faster, in rad/s, is worth a warning."""
    root_jump_speed: float = 15.0
    """A root moving faster, in m/s, has jumped."""
    frozen_seconds: float = 0.5
    """Standing perfectly still for longer, in s, is worth a warning: retargeting stalled, or padding."""
    quaternion_tolerance: float = 0.01
    """How far the norm of a root quaternion may be from 1."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 <= value < np.inf:
                raise InputError(f"no such {name}", expected="0 or more", got=value, code="bad_config")


def check_motion(motion: Motion, robot: Robot, config: CheckConfig | None = None) -> tuple[Fault, ...]:
    """Every fault of one motion; an empty tuple if it is sound."""
    config = config or CheckConfig()
    faults = _size(motion) or _finite(motion)
    if faults:
        return tuple(faults)
    # Absurdly large numbers overflow on the way to their verdict; that is no news worth a warning.
    with np.errstate(all="ignore"):
        return tuple(_sound(motion, robot, config))


def _sound(motion: Motion, robot: Robot, config: CheckConfig) -> list[Fault]:
    faults = check_poses(motion, robot, config.limit_tolerance)
    faults += check_root(motion, robot, config.quaternion_tolerance, config.root_jump_speed)
    # With columns in the wrong places or in degrees, speeds mean nothing.
    if not any(fault.code in ("degrees", "joint_order") for fault in faults):
        faults += check_change(motion, config.jump_speed, config.fast_speed, config.frozen_seconds)
    return faults


def _size(motion: Motion) -> list[Fault]:
    if motion.num_frames >= 2:
        return []
    return [Fault("too_short", f"{motion.num_frames} frame(s); a change of pose needs at least 2")]


def _finite(motion: Motion) -> list[Fault]:
    parts = {"joint": motion.joint_pos, "root position": motion.root_pos, "root orientation": motion.root_quat}
    faults = []
    for what, values in parts.items():
        # One sum tells, at a fraction of the cost of looking at every number: NaN and inf both survive it.
        with np.errstate(over="ignore", invalid="ignore"):
            suspicious = not np.isfinite(values.sum())
        if suspicious and not np.isfinite(values).all():
            rows = np.flatnonzero(~np.isfinite(values).all(axis=1))
            message = (
                f"{len(rows)} of {len(values)} frames have a {what} that is NaN or infinite, first in frame {rows[0]}"
            )
            faults.append(Fault("not_finite", message, detail={"frames": len(rows), "first_frame": int(rows[0])}))
    return faults
