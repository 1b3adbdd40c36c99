"""Episodes on the page: what was tracked, what was lost, and by whom it is judged."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.report.page import Player, Section, write_page
from pfmhr.report.watching import clips_player, run_player
from pfmhr.robots import Robot
from pfmhr.tracking.runs import TrackerRun
from pfmhr.tracking.watch.episode import record_episode
from tests.report.test_player import decoded
from tests.tracking.clips import still


@pytest.fixture(scope="module")
def prior() -> PosePrior:
    return PosePrior.load("g1-small")


@pytest.fixture(scope="module")
def player(walk_run: Path, prior: PosePrior) -> Player:
    return run_player(walk_run, prior, seconds=4.0)


def test_a_run_beside_its_reference(player: Player, walk_run: Path) -> None:
    episode = record_episode(TrackerRun.load(walk_run), seconds=4.0)
    assert episode.lost  # it has learned nothing
    reference, policy = player.content["actors"]
    assert (reference["name"], policy["name"]) == ("reference", "policy")
    assert reference["frames"] == policy["frames"] == len(episode.rollout)
    assert policy["end"] == f"lost after {episode.tracked:.1f} s" and reference["end"] == ""
    assert player.caption.startswith(f"<b>x, 48 samples: tracked {episode.tracked:.1f} of 4.0 s, then lost (")
    origin = episode.reference[0, :2]  # both start there
    assert decoded(player.content, 1)[-1, 0, :2] == pytest.approx(episode.rollout[-1, :2] - origin, abs=2e-3)
    shifts = [np.array(actor["shift"]) for actor in (reference, policy)]
    assert np.linalg.norm(shifts[0] - shifts[1]) == pytest.approx(1.2)


def test_both_are_scored_at_every_step(player: Player) -> None:
    tracks = {track["name"]: track for track in player.content["tracks"]}
    assert list(tracks) == ["score", "percentile", "reward factor"]
    for track in tracks.values():
        frames = player.content["actors"][0]["frames"]
        for line in track["lines"]:
            assert len(line["times"]) == frames - 1
            assert line["times"][-1] == pytest.approx((frames - 1) / player.content["rate"], abs=1e-3)
    assert [line["colour"] for line in tracks["score"]["lines"]] == ["rgb(76, 132, 224)", "rgb(158, 160, 166)"]
    assert all(0 <= value <= 1 for line in tracks["percentile"]["lines"] for value in line["values"])
    assert all(0.6 <= value <= 1 for line in tracks["reward factor"]["lines"] for value in line["values"])


def test_the_same_run_is_the_same_bytes(player: Player, walk_run: Path, prior: PosePrior, tmp_path: Path) -> None:
    again = run_player(walk_run, prior, seconds=4.0)
    for name, each in (("first", player), ("second", again)):
        write_page(tmp_path / name, "title", "lead", [Section("Watch", [each])])
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert "<b>" not in (tmp_path / "first").read_text()


def test_an_episode_lost_at_its_first_step_is_one_frame_without_curves(hopeless_run: Path, prior: PosePrior) -> None:
    player = run_player(hopeless_run, prior)
    assert [actor["frames"] for actor in player.content["actors"]] == [1, 1]
    assert player.content["actors"][1]["end"] == "lost after 0.0 s" and player.content["tracks"] == []
    assert "“leap” of its 2 clips: tracked 0.0 of 1.0 s, then lost (" in player.caption


def test_a_prior_of_another_robot_cannot_judge(walk_run: Path, toy_prior: Path) -> None:
    with pytest.raises(InputError) as caught:
        run_player(walk_run, PosePrior.load(toy_prior))
    assert caught.value.code == "wrong_robot"
    assert "expected toy, 5 joints, got g1, 29 joints" in str(caught.value) and "--prior" in str(caught.value)


def test_clips_stand_beside_each_other_where_they_look(g1: Robot, prior: PosePrior) -> None:
    walk = embedded_motion("walk", g1)
    turned = replace(walk, root_quat=np.tile([math.sqrt(0.5), 0, 0, math.sqrt(0.5)], (walk.num_frames, 1)))
    player = clips_player(prior, g1, {"a": turned, "b": turned.frames(0, 30), "c": turned}, 1 / 30, "three")
    assert [actor["shift"] for actor in player.content["actors"]] == [
        pytest.approx([-side, 0, 0], abs=1e-6) for side in (-1.1, 0.0, 1.1)
    ]
    frames = [actor["frames"] for actor in player.content["actors"]]
    assert frames[0] == frames[2] > frames[1]
    assert len({line["colour"] for line in player.content["tracks"][0]["lines"]}) == 3


def test_curves_keep_the_colour_of_their_clip(g1: Robot, prior: PosePrior) -> None:
    walk = embedded_motion("walk", g1)
    player = clips_player(prior, g1, {"whole": walk, "cut": walk.frames(0, 2), "again": walk}, 1 / 50, "three")
    assert [line["colour"] for line in player.content["tracks"][0]["lines"]] == [
        f"rgb({', '.join(map(str, player.content['actors'][number]['rgb']))})" for number in (0, 2)
    ]


def test_a_reference_that_stands_still_has_no_scores(g1: Robot, prior: PosePrior) -> None:
    player = clips_player(prior, g1, {"still": still(g1), "walk": embedded_motion("walk", g1)}, 1 / 30, "two")
    assert player.content["tracks"] == [] and len(player.content["actors"]) == 2
