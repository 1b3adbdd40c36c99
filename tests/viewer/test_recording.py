"""A recording holds MuJoCo's places of every shape in every frame, to the millimetre, and needs nothing else."""

from __future__ import annotations

import re

import mujoco
import numpy as np
import pytest

from pfmhr.robots import Robot
from pfmhr.sim import Box
from pfmhr.viewer.colours import BLUE
from pfmhr.viewer.figure import Figure
from pfmhr.viewer.lineup import APART, Part
from pfmhr.viewer.recording import SCENE, Recording, record
from pfmhr.viewer.takes import Take
from tests.viewer.recorded import Recorded, decoded

FRAMES, SHORT = 20, 8


@pytest.fixture(scope="module")
def takes(g1: Robot, walk) -> tuple[Take, Take]:
    positions = np.concatenate([walk.root_pos, walk.root_quat, walk.joint_pos], axis=1)[:FRAMES].astype(np.float64)
    box = Box((0.2, 0.5, 0.15), (1.0, 0.5, 0.15), yaw=0.4)
    first = Take("long", positions, 25.0, g1.joint_names, boxes=(box,))
    return first, Take("short", positions[:SHORT], 25.0, g1.joint_names)


@pytest.fixture(scope="module")
def recording(g1: Robot, takes: tuple[Take, Take]) -> Recording:
    return record(g1, [Part(takes[0], BLUE), Part(takes[1], end="lost after 0.3 s")])


@pytest.fixture(scope="module")
def content(recording: Recording) -> Recorded:
    return decoded(recording)


def places(content: Recorded, robot: int, piece: int) -> dict[float, np.ndarray]:
    """Where the copies of a piece are, ``(n, 3)``, by the time they got there."""
    found = content.track(f"/robot{robot}/{piece}", "batched_positions")
    return {time: values.reshape(-1, 3) for time, values in found.items()}


def test_frames_follow_each_other_at_the_rate_of_the_clip(recording: Recording, content: Recorded) -> None:
    assert (recording.seconds, content.seconds) == pytest.approx((FRAMES / 25.0,) * 2)
    assert sorted(places(content, 0, 0)) == pytest.approx([frame / 25.0 for frame in range(FRAMES)], abs=1e-6)
    assert max(places(content, 1, 0)) == pytest.approx((FRAMES - 1) / 25.0, abs=1e-6)  # the floor goes on under it


def test_every_shape_is_where_mujoco_has_it(g1: Robot, takes: tuple[Take, Take], content: Recorded) -> None:
    """One shift for all shapes of a frame, the same as for the box in the robot's way."""
    model = g1.compile()
    data = mujoco.MjData(model)
    pieces = Figure(g1).pieces
    round_ones = next(number for number, piece in enumerate(pieces) if not piece.offset.any())
    seen = places(content, 0, round_ones)
    for frame, time in enumerate(sorted(seen)):
        data.qpos[:] = takes[0].positions[frame]
        mujoco.mj_kinematics(model, data)
        shift = seen[time] - data.geom_xpos[pieces[round_ones].geom]
        assert np.ptp(shift, axis=0) == pytest.approx(np.zeros(3), abs=1.1e-3)
        assert shift[:, 2] == pytest.approx(np.zeros(len(shift)), abs=0.6e-3)


def test_robots_stand_apart_and_the_shorter_one_waits(content: Recorded) -> None:
    here, there = (places(content, robot, 0) for robot in (0, 1))
    for time in sorted(here)[:SHORT]:
        gap = np.linalg.norm(there[time] - here[time], axis=1)
        assert gap == pytest.approx(np.full(len(gap), APART), abs=3e-3)
    times = sorted(there)
    posture = {time: there[time] - there[time].mean(axis=0) for time in times}
    assert posture[times[-1]] == pytest.approx(posture[times[SHORT - 1]], abs=2e-3)
    assert np.abs(posture[times[SHORT - 1]] - posture[times[0]]).max() > 0.02


def test_names_say_how_it_ended_once_it_has(content: Recorded) -> None:
    assert content.track("/robot1/label", "text") == {round((SHORT - 1) / 25.0, 6): "short (lost after 0.3 s)"}
    assert content.track("/robot0/label", "text") == {}
    labels = {m["name"]: m["props"]["text"] for _, m in content.messages if m["type"] == "LabelMessage"}
    assert labels == {"/robot0/label": "long", "/robot1/label": "short"}


def test_what_stands_in_the_way_is_there(content: Recorded) -> None:
    assert [name for name in content.nodes() if "box" in name] == ["/robot0/box0"]


def test_the_same_takes_are_the_same_bytes(g1: Robot, takes: tuple[Take, Take], recording: Recording) -> None:
    assert record(g1, [Part(takes[0], BLUE), Part(takes[1], end="lost after 0.3 s")]) == recording


def test_the_client_is_one_page_for_all_and_asks_for_nothing(
    g1: Robot, takes: tuple[Take, Take], recording: Recording
) -> None:
    other = record(g1, [Part(takes[1])])
    assert other.client == recording.client and other.scene != recording.scene
    assert recording.client.count(SCENE) == 1 and re.fullmatch(r"[A-Za-z0-9+/=]+", recording.scene)
    assert not re.findall(r"""(?:src|href)=["'](?!data:)""", recording.client)


def test_a_single_frame_is_a_picture_without_a_timeline(g1: Robot, takes: tuple[Take, Take]) -> None:
    one = Take("one", takes[0].positions[:1], 25.0, g1.joint_names)
    recording = record(g1, [Part(one)])
    assert recording.seconds == decoded(recording).seconds == 0.0
    assert list(places(decoded(recording), 0, 0)) == [0.0]
