"""Other frame rates by interpolation: the movement and its duration stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.cycle import repeats
from pfmhr.motion.embedded import embedded_motion
from pfmhr.motion.resampling import require_kept_duration, sample
from pfmhr.robots import Robot


def turning(g1: Robot, frames: int, fps: float, angle: float) -> Motion:
    """Joints, root and heading at constant rates: k, 2k m, and k · angle about z in frame k."""
    count = np.arange(frames)
    half = count * angle / 2
    quaternion = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
    root = np.stack([2.0 * count, 0 * count, 0 * count + 0.8], axis=1)
    return Motion.from_arrays(g1, np.tile(count[:, None], 29), fps, root, quaternion)


def test_joints_and_root_are_linear_between_frames(g1: Robot) -> None:
    # Frames at 0, 0.1, 0.2 s hold 0, 1, 2. At 25 Hz: 0, 0.04, 0.08, 0.12, 0.16, 0.2 s.
    resampled = turning(g1, 3, 10, 0.2).resample(25)
    assert resampled.joint_pos[:, 0] == pytest.approx([0, 0.4, 0.8, 1.2, 1.6, 2.0], abs=1e-6)
    assert resampled.root_pos[:, 0] == pytest.approx([0, 0.8, 1.6, 2.4, 3.2, 4.0], abs=1e-6)
    assert resampled.root_pos[:, 2] == pytest.approx(0.8)


def test_a_quarter_turn_is_an_eighth_turn_half_way(g1: Robot) -> None:
    # 90° about z is (cos 45°, 0, 0, sin 45°); half-way 45°: (cos 22.5°, 0, 0, sin 22.5°).
    resampled = turning(g1, 2, 30, np.pi / 2).resample(60)
    assert resampled.root_quat[1] == pytest.approx([0.9238795, 0, 0, 0.3826834], abs=1e-6)
    assert resampled.root_quat[2] == pytest.approx([0.7071068, 0, 0, 0.7071068], abs=1e-6)


def test_the_turn_takes_the_short_way_whatever_the_sign(g1: Robot) -> None:
    motion = turning(g1, 2, 30, np.pi / 2)
    flipped = replace(motion, root_quat=motion.root_quat * np.array([[1.0], [-1.0]]))
    half_way = flipped.resample(60).root_quat[1]
    assert np.abs(half_way @ [0.9238795, 0, 0, 0.3826834]) == pytest.approx(1.0, abs=1e-6)


@given(frames=st.integers(2, 40), old=st.sampled_from([24, 30, 50, 60, 120]), new=st.floats(5, 240))
def test_the_duration_is_kept_to_within_a_frame(g1: Robot, frames: int, old: float, new: float) -> None:
    motion = turning(g1, frames, old, 0.1)
    resampled = motion.resample(new)
    assert resampled.fps == new
    assert motion.duration - 1 / new < resampled.duration + 1e-6
    assert resampled.duration <= motion.duration + 1e-6
    # Position is 2 m per frame: what is sampled is where the movement was at that time, never relabelled frames.
    assert resampled.root_pos[:, 0] == pytest.approx(2.0 * old * np.arange(resampled.num_frames) / new, abs=2e-3)


@pytest.mark.parametrize(("old", "new", "count"), [(30, 60, 19), (60, 30, 5), (30, 50, 16), (50, 30, 6), (30, 120, 37)])
def test_ten_frames_at_another_rate(g1: Robot, old: float, new: float, count: int) -> None:
    assert turning(g1, 10, old, 0.1).resample(new).num_frames == count


@pytest.mark.parametrize(("old", "new"), [(30, 60), (30, 120), (29.97, 59.94), (0.1, 0.3)])
def test_the_last_frame_is_kept_where_the_rates_fit(make_walk: Callable[..., Motion], old: float, new: float) -> None:
    motion = make_walk(frames=91, fps=old)
    resampled = motion.resample(new)
    assert resampled.joint_pos[-1] == pytest.approx(motion.joint_pos[-1], abs=1e-5)
    assert resampled.root_pos[-1] == pytest.approx(motion.root_pos[-1], abs=1e-4)
    assert resampled.root_quat[-1] == pytest.approx(motion.root_quat[-1], abs=1e-5)


def test_there_and_back_again_stays_close(walk: Motion) -> None:
    # Linear interpolation errs by at most a h²/8 each way: 0.4 rad · (2π 1.1 Hz)² · (1/30 s)² / 8 = 0.0027 rad.
    back = walk.resample(50).resample(30)
    frames = back.num_frames
    assert frames >= walk.num_frames - 1
    error = np.abs(back.joint_pos - walk.joint_pos[:frames]).max()
    assert 1e-5 < error < 2 * 0.0027
    assert np.abs(back.root_quat - walk.root_quat[:frames]).max() < 1e-3


def test_a_clip_of_two_frames(g1: Robot) -> None:
    motion = turning(g1, 2, 30, 0.1)
    assert motion.resample(60).joint_pos[:, 0] == pytest.approx([0, 0.5, 1])
    assert motion.resample(20).joint_pos[:, 0] == pytest.approx([0])


def test_one_frame_takes_any_rate(walk: Motion) -> None:
    pose = walk.frames(3, 4).resample(77)
    assert pose.fps == 77
    assert np.array_equal(pose.joint_pos, walk.joint_pos[3:4])


def test_the_same_rate_changes_nothing(walk: Motion) -> None:
    assert np.array_equal(walk.resample(30).joint_pos, walk.joint_pos)


def test_names_and_source_and_that_it_repeats_are_kept(g1: Robot) -> None:
    walk = replace(embedded_motion("walk", g1), name="walk", source="walk.csv")
    for fps in (50, 30, 15):
        resampled = walk.resample(fps)
        assert (resampled.loop, resampled.name, resampled.source) == (True, "walk", "walk.csv")
        assert repeats(resampled) and resampled.joint_names == walk.joint_names


def test_what_is_no_cycle_becomes_none_by_another_rate(walk: Motion) -> None:
    """At 2 Hz its steps are as long as the way back to its first frame."""
    apart = walk.joint_pos + np.linspace(0.0, 0.5, walk.num_frames, dtype=np.float32)[:, None]
    claimed = replace(walk, joint_pos=apart, loop=True)
    assert not repeats(claimed)
    assert not any(repeats(claimed.resample(fps)) for fps in (29.0, 10.0, 5.0, 2.0))


def test_times_outside_the_clip_hold_its_ends(g1: Robot) -> None:
    held = sample(turning(g1, 3, 10, 0.1), np.array([-1.0, 0.05, 9.0]), 10)
    assert held.joint_pos[:, 0] == pytest.approx([0, 0.5, 2])


@pytest.mark.parametrize("fps", [0, -1, float("nan"), float("inf")])
def test_an_impossible_rate_is_refused(walk: Motion, fps: float) -> None:
    with pytest.raises(InputError) as caught:
        walk.resample(fps)
    assert caught.value.code == "bad_fps"


def test_a_root_without_orientation_is_an_input_error(walk: Motion) -> None:
    with pytest.raises(InputError):
        replace(walk, root_quat=np.zeros((90, 4))).resample(50)


@pytest.mark.parametrize(("frames", "fps", "allowed"), [(2, 10.0, "10000"), (1, 30.0, "10000"), (4001, 1.0, "932.068")])
def test_a_rate_that_no_file_could_hold_is_refused(g1: Robot, frames: int, fps: float, allowed: str) -> None:
    """512 MB hold 3,728,270 frames of 36 numbers of four bytes: over 4,000 s that is 932 Hz."""
    motion = turning(g1, frames, fps, 0.0)
    for rate in (1e12, 1.01 * float(allowed)):
        with pytest.raises(InputError, match=f"at most {allowed} Hz") as caught:
            motion.resample(rate)
        assert caught.value.code == "bad_fps"


def test_a_clip_keeps_its_own_rate_however_high(g1: Robot) -> None:
    motion = turning(g1, 3, 20_000.0, 0.1)
    assert motion.resample(20_000.0) is motion and motion.resample(15_000.0).num_frames == 2


def test_a_rate_that_keeps_the_duration_leaves_two_frames(g1: Robot) -> None:
    """Two seconds: at 0.5 Hz the first frame and the last."""
    motion = turning(g1, 61, 30.0, 0.01)
    require_kept_duration(motion, 0.5)
    assert motion.resample(0.5).num_frames == 2
    with pytest.raises(InputError, match=r"expected 0\.5 to 10000 Hz for 2\.00 s, got 0\.49 Hz") as caught:
        require_kept_duration(motion, 0.49)
    assert caught.value.code == "bad_fps"
    require_kept_duration(motion.frames(0, 1), 0.001)


def test_a_cycle_needs_three_frames_within_its_period(g1: Robot) -> None:
    walk = embedded_motion("walk", g1)
    period = walk.num_frames / walk.fps
    require_kept_duration(walk, 2.51 / period)
    assert walk.resample(2.51 / period).num_frames == 3
    for rate in (2.49 / period, 0.001):
        with pytest.raises(InputError, match="too low a frame rate"):
            require_kept_duration(walk, rate)
