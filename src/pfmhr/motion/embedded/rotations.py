"""Roll-pitch-yaw to matrices and quaternions, for whole clips at once."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from pfmhr.motion.embedded.curves import Array


def matrices(angles: Array) -> Array:
    """Rotation matrices ``(..., 3, 3)`` of roll, pitch, yaw ``(..., 3)`` about the fixed axes x, y, z."""
    (sr, sp, sy), (cr, cp, cy) = np.moveaxis(np.sin(angles), -1, 0), np.moveaxis(np.cos(angles), -1, 0)
    rows = [
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def quaternions(angles: Array) -> Array:
    """Quaternions ``(T, 4)``, wxyz, of the same angles; continuous where the angles are."""
    return Rotation.from_euler("xyz", angles).as_quat(scalar_first=True)
