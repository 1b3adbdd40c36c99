"""The motion type itself: shapes, defaults, cuts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot


def test_arrays_become_float32_and_contiguous(g1: Robot) -> None:
    motion = Motion.from_arrays(g1, np.asfortranarray(np.zeros((3, 29))), 30)
    for values in (motion.joint_pos, motion.root_pos, motion.root_quat):
        assert values.dtype == np.float32
        assert values.flags.c_contiguous


def test_without_a_root_it_stands_upright_in_place(g1: Robot) -> None:
    motion = Motion.from_arrays(g1, np.zeros((2, 29)), 30)
    assert motion.root_pos == pytest.approx(np.tile([0, 0, 0.7862], (2, 1)))
    assert motion.root_quat.tolist() == [[1, 0, 0, 0]] * 2
    assert motion.robot == "g1"


def test_duration_is_from_the_first_frame_to_the_last(walk: Motion) -> None:
    assert walk.num_frames == 90
    assert walk.duration == pytest.approx(89 / 30)


@pytest.mark.parametrize(
    ("changed", "code", "words"),
    [
        ({"joint_pos": np.zeros(29)}, "bad_shape", r"expected \(frames, joints\), got \(29,\)"),
        ({"joint_pos": np.zeros((90, 28))}, "bad_shape", "expected 29 columns, got 28"),
        ({"root_pos": np.zeros((89, 3))}, "bad_shape", r"expected \(90, 3\), got \(89, 3\)"),
        ({"root_quat": np.zeros((90, 3))}, "bad_shape", r"expected \(90, 4\), got \(90, 3\)"),
        ({"fps": 0.0}, "bad_fps", "a positive number of Hz"),
        ({"fps": float("nan")}, "bad_fps", "a positive number of Hz"),
    ],
)
def test_parts_that_do_not_fit_are_refused(walk: Motion, changed: dict[str, Any], code: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        replace(walk, **changed)
    assert caught.value.code == code


def test_a_cut_keeps_its_frames_and_is_no_loop(walk: Motion) -> None:
    loop = replace(walk, loop=True)
    cut = loop.frames(10, 20)
    assert np.array_equal(cut.joint_pos, walk.joint_pos[10:20])
    assert np.array_equal(cut.root_pos, walk.root_pos[10:20])
    assert np.array_equal(cut.root_quat, walk.root_quat[10:20])
    assert not cut.loop
    assert loop.frames(0, 90).loop
