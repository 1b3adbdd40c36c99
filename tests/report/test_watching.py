"""Episodes on the page: what was tracked, what was lost, and by whom it is judged."""

from __future__ import annotations

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
from pfmhr.viewer.colours import BLUE, RED, css
from tests.tracking.clips import still
from tests.viewer.recorded import decoded

NAMES = ["score", "percentile of the reference", "reward factor"]


@pytest.fixture(scope="module")
def prior() -> PosePrior:
    return PosePrior.load("g1-small")


@pytest.fixture(scope="module")
def player(walk_run: Path, prior: PosePrior) -> Player:
    return run_player(walk_run, prior, seconds=4.0)


def labels(player: Player) -> list[str]:
    """What is said above each robot at the start."""
    return [m["props"]["text"] for _, m in decoded(player.recording).messages if m["type"] == "LabelMessage"]


def ends(path: str) -> float:
    """Where a curve ends, as a share of the timeline."""
    return float(path.split("L")[-1].split()[0]) / 1000.0


def test_a_run_beside_its_reference(player: Player, walk_run: Path) -> None:
    episode = record_episode(TrackerRun.load(walk_run), seconds=4.0)
    assert episode.lost  # it has learned nothing
    assert player.recording.seconds == pytest.approx(len(episode.rollout) / episode.rate)
    assert player.caption.startswith(f"<b>x, 48 samples: tracked {episode.tracked:.1f} of 4.0 s, then lost (")
    assert labels(player) == ["reference", "policy"]
    content = decoded(player.recording)
    assert list(content.track("/robot1/label", "text").values()) == [f"policy (lost after {episode.tracked:.1f} s)"]
    assert content.track("/robot0/label", "text") == {}
    gaps = [
        content.track("/robot1/0", "batched_positions")[time] - content.track("/robot0/0", "batched_positions")[time]
        for time in sorted(content.track("/robot0/0", "batched_positions"))
    ]
    assert np.linalg.norm(gaps[0].reshape(-1, 3), axis=1) == pytest.approx(np.full(len(gaps[0]) // 3, 1.2), abs=0.01)
    apart = episode.rollout[-1, :3] - episode.reference[-1, :3]  # both start at one place
    assert (gaps[-1] - gaps[0]).reshape(-1, 3).mean(axis=0) == pytest.approx(apart, abs=0.15)


def test_both_are_scored_at_every_step(player: Player) -> None:
    assert [curves.name for curves in player.curves] == NAMES
    frames = round(player.recording.seconds * 30.0)
    for curves in player.curves:
        assert len(curves.lines) == 2
        for line in curves.lines:
            assert line.path.count("M") + line.path.count("L") == frames - 1
            assert ends(line.path) == pytest.approx((frames - 1) / frames, abs=1e-3)
    assert player.curves[0].lines[0].colour == css(np.array(BLUE)) != player.curves[0].lines[1].colour


def test_the_same_run_is_the_same_bytes(player: Player, walk_run: Path, prior: PosePrior, tmp_path: Path) -> None:
    again = run_player(walk_run, prior, seconds=4.0)
    for name, each in (("first", player), ("second", again)):
        write_page(tmp_path / name, "title", "lead", [Section("Watch", [each])])
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()
    assert "<b>" not in (tmp_path / "first").read_text()


def test_an_episode_lost_at_its_first_step_is_one_frame_without_curves(hopeless_run: Path, prior: PosePrior) -> None:
    player = run_player(hopeless_run, prior)
    assert player.recording.seconds == 0.0 and player.curves == ()
    assert labels(player) == ["reference", "policy (lost after 0.0 s)"]
    assert "“leap” of its 2 clips: tracked 0.0 of 1.0 s, then lost (" in player.caption


def test_a_prior_of_another_robot_cannot_judge(walk_run: Path, toy_prior: Path) -> None:
    with pytest.raises(InputError) as caught:
        run_player(walk_run, PosePrior.load(toy_prior))
    assert caught.value.code == "wrong_robot"
    assert (
        "expected robot 'g1'" in str(caught.value)
        and "(5 joints)" in str(caught.value)
        and "--prior" in str(caught.value)
    )


def test_clips_have_their_names_and_curves_the_colour_of_their_clip(g1: Robot, prior: PosePrior) -> None:
    walk = embedded_motion("walk", g1)
    player = clips_player(prior, g1, {"whole": walk, "cut": walk.frames(0, 2), "again": walk}, 1 / 50, "three")
    assert labels(player) == ["whole", "cut", "again"] and player.caption == "three"
    whole, cut, again = player.curves[0].lines
    assert (whole.colour, again.colour) == (css(np.array(BLUE)), css(np.array(RED)))
    assert cut.colour not in (whole.colour, again.colour) and cut.path.count("L") == 0  # a single step
    assert ends(whole.path) == ends(again.path) > 0.9


def test_a_reference_that_stands_still_has_no_scores(g1: Robot, prior: PosePrior) -> None:
    player = clips_player(prior, g1, {"still": still(g1), "walk": embedded_motion("walk", g1)}, 1 / 30, "two")
    assert player.curves == () and labels(player) == ["still", "walk"]
