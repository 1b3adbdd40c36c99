"""SMPL, SMPL-H and SMPL-X poses, as AMASS and others store them: rotation vectors per joint and a root position.

The body model itself is not needed. Its joints stand in a T-pose when all are 0, so turns follow from the poses alone;
bones of average length (Drillis and Contini, 1966) stand in for its own, which only the ratio of legs uses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion.formats.clip import array, rate
from pfmhr.retarget.human import Human
from pfmhr.retarget.rotations import compose, exponential, turned

_HEIGHT = 1.7
_POSES, _PLACES = ("poses", "smpl_poses", "fullpose"), ("trans", "smpl_trans", "transl")
_RATES = ("mocap_framerate", "mocap_frame_rate", "fps", "framerate")
_UPWARD = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
"""From the model's axes (y up, looking along z) to ours."""

_SKELETON: tuple[tuple[str, int, tuple[float, float, float]], ...] = (
    ("pelvis", -1, (0.0, 0.0, 0.0)),
    ("left_hip", 0, (0.045, -0.04, 0.0)),
    ("right_hip", 0, (-0.045, -0.04, 0.0)),
    ("spine1", 0, (0.0, 0.07, 0.0)),
    ("left_knee", 1, (0.0, -0.245, 0.0)),
    ("right_knee", 2, (0.0, -0.245, 0.0)),
    ("spine2", 3, (0.0, 0.08, 0.0)),
    ("left_ankle", 4, (0.0, -0.246, 0.0)),
    ("right_ankle", 5, (0.0, -0.246, 0.0)),
    ("spine3", 6, (0.0, 0.04, 0.0)),
    ("left_foot", 7, (0.0, -0.03, 0.07)),
    ("right_foot", 8, (0.0, -0.03, 0.07)),
    ("neck", 9, (0.0, 0.11, 0.0)),
    ("left_collar", 9, (0.04, 0.07, 0.0)),
    ("right_collar", 9, (-0.04, 0.07, 0.0)),
    ("head", 12, (0.0, 0.05, 0.0)),
    ("left_shoulder", 13, (0.09, 0.0, 0.0)),
    ("right_shoulder", 14, (-0.09, 0.0, 0.0)),
    ("left_elbow", 16, (0.186, 0.0, 0.0)),
    ("right_elbow", 17, (-0.186, 0.0, 0.0)),
    ("left_wrist", 18, (0.146, 0.0, 0.0)),
    ("right_wrist", 19, (-0.146, 0.0, 0.0)),
)
"""The joints that all variants share: name, parent, offset as a share of the height, in the model's axes."""


def matches(content: Mapping[str, Any]) -> bool:
    """Whether this is a file of SMPL poses."""
    return any(name in content for name in _POSES) and any(name in content for name in _PLACES)


def read(content: dict[str, Any], fps: float | None, name: str, source: str) -> Human:
    """The motion in such a file; ``fps`` where it states none."""
    poses = array(content, next(key for key in _POSES if key in content), None, None)
    key = next(key for key in _PLACES if key in content)
    places = array(content, key, len(poses), 3)
    if poses.shape[1] < 3 * len(_SKELETON):
        raise InputError("too few joints", expected=3 * len(_SKELETON), got=poses.shape[1], code="bad_width")
    stated = next((rate(content, key) for key in _RATES if key in content), fps)
    if stated is None:
        raise InputError("the file holds no frame rate", fix="State it with --source-fps.", code="no_fps")
    scaling = float(np.asarray(content.get("smpl_scaling", 1.0)).reshape(-1)[0])
    return smpl(poses, places / scaling, stated, name, source)


def smpl(
    poses: NDArray[np.floating], places: NDArray[np.floating], fps: float, name: str = "motion", source: str = ""
) -> Human:
    """The motion of SMPL joints: rotation vectors ``(T, ≥ 66)`` in rad, root positions ``(T, 3)`` in m."""
    count = len(_SKELETON)
    vectors = np.moveaxis(np.asarray(poses, dtype=np.float64)[:, : 3 * count].reshape(-1, count, 3), 0, -1)
    local = exponential(np.ascontiguousarray(vectors))
    offsets = _HEIGHT * np.array([offset for _, _, offset in _SKELETON])
    turns, positions = np.empty_like(local), np.empty((count, 3, len(poses)))
    turns[0], positions[0] = local[0], np.asarray(places, dtype=np.float64).T
    still = np.zeros((count, 3))
    for index, (_, parent, _) in enumerate(_SKELETON[1:], start=1):
        turns[index] = compose(turns[parent], local[index])
        positions[index] = positions[parent] + turned(turns[parent], offsets[index])
        still[index] = still[parent] + offsets[index]
    world = _world(turns[0])
    return Human(
        names=tuple(name for name, _, _ in _SKELETON),
        positions=np.einsum("ik,jkt->tji", world, positions),
        rotations=np.einsum("ik,jklt,ml->tjim", world, turns, _UPWARD),
        fps=fps,
        zero_positions=still @ _UPWARD.T,
        name=name,
        source=source,
    )


def _world(root: NDArray[np.float64]) -> NDArray[np.float64]:
    """From the file's world to one with z up: AMASS has that, others have y up as the model itself."""
    up = np.median(root[:, 1], axis=-1)
    return _UPWARD if up[1] > up[2] else np.eye(3)
