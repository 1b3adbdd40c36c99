"""Finding the same clip twice, and its mirror image, among any number of files in constant time each."""

from __future__ import annotations

import hashlib
from collections import defaultdict

import numpy as np
from numpy.typing import NDArray

from pfmhr.motion.checks.report import Fault, Severity
from pfmhr.motion.motion import Motion
from pfmhr.robots import Robot

MATCH = 2e-3
"""Mirrored files are written with rounding; poses this close, in rad, are the same."""
CELL = 0.01


def digest(joint_pos: NDArray[np.float32]) -> str:
    """A fingerprint of the poses, equal for equal bytes."""
    return hashlib.sha256(np.ascontiguousarray(joint_pos).data).hexdigest()[:32]


class Copies:
    """Remembers the clips seen so far by fingerprint and by a coarse, mirror-proof signature."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._by_digest: dict[str, str] = {}
        self._by_signature: dict[tuple[int, int], list[tuple[str, NDArray[np.float32]]]] = defaultdict(list)

    def faults(self, motion: Motion, fingerprint: str, name: str) -> list[Fault]:
        """Is this clip, or its mirror image, among those seen before? Then remember it as well."""
        original = self._by_digest.setdefault(fingerprint, name)
        if original != name:
            return [Fault("duplicate", f"exactly the same poses as {original}", detail={"original": original})]
        mirrored = self._mirror_of(motion, name)
        if mirrored is None:
            return []
        message = f"mirror image of {mirrored}"
        return [Fault("mirrored", message, Severity.WARNING, {"original": mirrored})]

    def _mirror_of(self, motion: Motion, name: str) -> str | None:
        poses = motion.joint_pos
        if not len(poses):
            return None
        sample = poses[np.linspace(0, len(poses) - 1, 8).astype(int)]
        index, sign = self._robot.mirror
        image = sample[:, index] * sign
        # |q| summed over both sides is the same for a clip and its mirror image: the place to look.
        size = np.abs(sample).sum(dtype=np.float64)
        if not np.isfinite(size):
            return None
        cell = int(size / CELL)
        found = None
        for neighbour in (cell - 1, cell, cell + 1):
            for other, poses_of_other in self._by_signature.get((len(poses), neighbour), ()):
                if np.abs(poses_of_other - image).max() < MATCH and np.abs(poses_of_other - sample).max() > 0.05:
                    found = other
        self._by_signature[len(poses), cell].append((name, sample))
        return found
