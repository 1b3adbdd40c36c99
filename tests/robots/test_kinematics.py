"""Where bodies look."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.robots.kinematics import heading


@pytest.mark.parametrize("pitch", [-0.7, 0.0, 1.2])
@pytest.mark.parametrize("yaw", [-3.0, 0.0, 0.8])
def test_a_heading_is_where_the_body_looks_however_it_nods(yaw: float, pitch: float) -> None:
    quat = Rotation.from_euler("ZY", [yaw, pitch]).as_quat(scalar_first=True)
    assert heading(quat.astype(np.float32)) == pytest.approx(yaw, abs=1e-6)
