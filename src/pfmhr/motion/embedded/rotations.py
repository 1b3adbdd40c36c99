"""Roll-pitch-yaw to matrices and quaternions, for whole clips at once."""

from __future__ import annotations

import numpy as np

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
    """Quaternions ``(..., 4)``, wxyz, of the same angles; continuous where the angles are."""
    (sr, sp, sy), (cr, cp, cy) = (np.moveaxis(part(0.5 * angles), -1, 0) for part in (np.sin, np.cos))
    parts = [
        cr * cp * cy + sr * sp * sy,
        sr * cp * cy - cr * sp * sy,
        cr * sp * cy + sr * cp * sy,
        cr * cp * sy - sr * sp * cy,
    ]
    return np.stack(parts, axis=-1)
