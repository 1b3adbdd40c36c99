"""Small things about loading that were once wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.frame_rate import stated_nearby
from pfmhr.robots import Robot


def test_a_geared_servo_is_as_stiff_as_it_feels_at_the_joint(tmp_path: Path) -> None:
    mjcf = tmp_path / "geared.xml"
    mjcf.write_text(
        "<mujoco><worldbody><body><joint name='j' type='hinge'/><geom size='.1'/></body></worldbody><actuator>"
        "<position joint='j' kp='10' kv='1' gear='3' forcerange='-5 5'/></actuator></mujoco>"
    )
    robot = Robot.load(mjcf)
    assert (robot.stiffness[0], robot.damping[0], robot.effort[0]) == (90.0, 9.0, 15.0)


@pytest.mark.parametrize("nothing", ["", "."])
def test_no_file_is_no_robot(nothing: str) -> None:
    with pytest.raises(InputError, match="no such robot file"):
        Robot.load(nothing)


def test_a_rate_in_a_folders_name_beats_the_name_of_a_known_set(tmp_path: Path) -> None:
    found = stated_nearby(tmp_path / "lafan1_60hz" / "walk.csv")
    assert found is not None and found[0] == 60.0


@pytest.mark.parametrize("fps", [float("nan"), -30.0, 0.0])
def test_an_impossible_rate_is_refused_even_where_the_file_has_its_own(fps: float, tmp_path: Path, g1: Robot) -> None:
    Motion.from_arrays(g1, np.tile(g1.default_pose, (3, 1)), 30).write(tmp_path / "still.npz")
    with pytest.raises(InputError) as error:
        Motion.read(tmp_path / "still.npz", g1, fps=fps)
    assert error.value.code == "bad_fps"
