"""Pages without a browser: what they would show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import viser

from pfmhr.errors import InputError
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.robots.kinematics import heading
from pfmhr.sim import Box
from pfmhr.tracking.watch.episode import Episode
from pfmhr.viewer.clip_page import ClipPage
from pfmhr.viewer.colours import BLUE, TEAL
from pfmhr.viewer.lineup import APART, Part
from pfmhr.viewer.modes import PoseDesk
from pfmhr.viewer.prior_page import PERIOD, SWING, PriorPage
from pfmhr.viewer.takes import Judge, Take, episode_takes


def shape(server: viser.ViserServer, robot: int = 0, piece: int = 0) -> viser.BatchedMeshHandle:
    found = server.scene.get_handle_by_name(f"/robot{robot}/{piece}")
    assert isinstance(found, viser.BatchedMeshHandle)
    return found


def place(server: viser.ViserServer, robot: int = 0) -> np.ndarray:
    """(n, 3): where the copies of a robot's first piece are."""
    return shape(server, robot).batched_positions.copy()


def test_playing_moves_the_robot_and_keeps_it_in_the_middle(
    server: viser.ViserServer, g1: Robot, takes: list[Take]
) -> None:
    page = ClipPage(server, g1, [Part(takes[0])], "")
    before = place(server)
    assert np.abs(before[:, :2].mean(axis=0)).max() < 0.1
    page.tick(0.5)
    assert (place(server) == before).all()  # not before it is asked to play
    page.player.playing = True
    page.tick(0.5)
    assert page.player.frame == 15
    assert np.abs(place(server) - before).max() > 0.02
    assert np.abs(place(server)[:, :2].mean(axis=0)).max() < 0.1  # the clip has gone 0.4 m


def test_joints_glow_where_there_is_a_score(server: viser.ViserServer, g1: Robot, takes: list[Take]) -> None:
    page = ClipPage(server, g1, [Part(takes[0])], "")
    cold = [shape(server, piece=piece).batched_colors.copy() for piece in range(3)]
    page.player.seek(12)
    page.show()
    warm = [shape(server, piece=piece).batched_colors for piece in range(3)]
    assert any((a != b).any() for a, b in zip(cold, warm, strict=True))


def test_two_clips_stand_side_by_side_and_the_shorter_waits_at_its_end(
    server: viser.ViserServer, g1: Robot, takes: list[Take]
) -> None:
    page = ClipPage(server, g1, [Part(takes[0]), Part(takes[1], TEAL)], "")
    assert page.player.frames == 60
    gap = (place(server, 1) - place(server, 0)).mean(axis=0)
    ahead = heading(takes[0].positions[0, 3:7])
    assert gap == pytest.approx([-APART * np.sin(ahead), APART * np.cos(ahead), 0.0], abs=0.02)
    page.player.seek(29)
    page.show()
    posture = place(server, 1) - place(server, 1).mean(axis=0)
    page.player.seek(59)
    page.show()
    after = place(server, 1) - place(server, 1).mean(axis=0)
    assert after == pytest.approx(posture, abs=1e-3)  # drawn to the millimetre


def test_a_clip_without_scores_can_be_played(server: viser.ViserServer, g1: Robot, takes: list[Take]) -> None:
    page = ClipPage(server, g1, [Part(replace(takes[0], scores=None))], "")
    page.player.playing = True
    page.tick(0.2)
    assert page.player.frame == 6


def test_an_episode_is_reference_and_scored_rollout(
    server: viser.ViserServer, g1: Robot, prior: PosePrior, takes: list[Take], walk
) -> None:
    reference = takes[0].positions
    box = Box((0.2, 0.3, 0.15), (1.0, 0.5, 0.15), yaw=0.4)
    episode = Episode(g1, (box,), reference, reference + 0.01, 30.0, 1.5, 2.0, "left_knee_link touched the floor")
    wanted, done = episode_takes(episode, Judge(prior, walk, 30.0))
    assert wanted.scores is None
    assert done.scores is not None and np.isfinite(done.scores.score[1:]).all()
    assert done.note == "Tracked 1.50 of 2.00 s, then lost: left_knee_link touched the floor."
    ClipPage(server, g1, [Part(wanted, BLUE), Part(done)], "")
    boxes = [server.scene.get_handle_by_name(f"/robot{robot}/box0") for robot in (0, 1)]
    apart = np.asarray(boxes[1].position) - np.asarray(boxes[0].position)
    assert np.linalg.norm(apart) == pytest.approx(APART)
    assert boxes[0].position[2] == pytest.approx(0.15)


def test_an_episode_lost_at_once_can_still_be_shown(
    server: viser.ViserServer, g1: Robot, prior: PosePrior, takes: list[Take], walk
) -> None:
    first = takes[0].positions[:1]
    episode = Episode(g1, (), first, first, 30.0, 0.0, 2.0, "the physics exploded")
    wanted, done = episode_takes(episode, Judge(prior, walk, 30.0))
    page = ClipPage(server, g1, [Part(wanted, BLUE), Part(done)], "")
    page.player.playing = True
    page.tick(1.0)
    assert page.player.frame == 0


def test_a_prior_swings_along_a_mode(server: viser.ViserServer, g1: Robot, prior: PosePrior) -> None:
    desk = PoseDesk(prior, g1, samples=4)
    page = PriorPage(server, desk, "")
    page.tick(PERIOD / 4)
    assert not desk.amplitudes.any()
    page.swinging = True
    page.tick(PERIOD / 4)
    assert desk.amplitudes[0] == pytest.approx(SWING)
    shown = server.scene.get_handle_by_name("/robot/0")
    assert np.abs(shown.batched_positions).max() < 1.5


def test_a_take_that_cannot_be_shown_is_refused_and_its_frame_named(
    server: viser.ViserServer, g1: Robot, takes: list[Take]
) -> None:
    broken = takes[0].positions.copy()
    broken[7, 12] = np.nan
    narrow = takes[0].positions[:, :-1]
    for wrong, said in (
        (replace(takes[0], positions=broken), "clip 'long': frame 7 is not finite"),
        (replace(takes[0], positions=narrow), r"clip 'long': not one row per frame \(expected \(T, 36\)"),
        (replace(takes[0], positions=takes[0].positions[:40]), "one score per frame is needed .expected 40, got .60"),
    ):
        with pytest.raises(InputError, match=said):
            ClipPage(server, g1, [Part(takes[0]), Part(wrong)], "")
