"""What a name stands for, and what cannot be shown."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import viser

from pfmhr.cli import main
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.tracking import AgentConfig, EnvironmentConfig, ModulatorConfig, TrackerConfig
from pfmhr.tracking.runs import TrackerRun, train_tracker
from pfmhr.viewer import opening
from pfmhr.viewer.clip_page import ClipPage
from pfmhr.viewer.opening import kind_of, open_motions, open_prior, open_run
from pfmhr.viewer.prior_page import PriorPage
from pfmhr.viewer.takes import Judge

TOY = """<mujoco><worldbody><body><freejoint/><geom size="0.1"/><body><joint name="hinge"/><geom size="0.1"/></body>
</body></worldbody></mujoco>"""


@pytest.fixture(scope="module")
def run(g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> TrackerRun:
    """A tracker that has hardly learned, with the prior in the loop."""
    directory = tmp_path_factory.mktemp("view") / "run"
    config = TrackerConfig(
        environment=EnvironmentConfig(8, 0.3),
        agent=AgentConfig(steps=8, hidden=(32,)),
        modulator=ModulatorConfig.of("pfm", "g1-small", alpha=1.0),
        samples=128,
        evaluate_every=2,
        evaluation_episodes=2,
    )
    train_tracker(directory, g1, [embedded_motion("walk", g1), embedded_motion("wave", g1)], config, threads=1)
    return TrackerRun.load(directory)


def test_names_are_told_apart_by_what_is_there(run: TrackerRun, prior: PosePrior, tmp_path: Path, walk: Motion) -> None:
    walk.write(tmp_path / "walk.npz")
    prior.save(tmp_path / "prior")
    (tmp_path / "prior" / "run.json").write_text(json.dumps({"kind": "prior"}))  # as its training leaves it
    assert kind_of("embedded:walk") == kind_of(str(tmp_path / "walk.npz")) == "motion"
    assert kind_of("g1-small") == kind_of(str(tmp_path / "prior")) == "prior"
    assert kind_of(str(run.directory)) == "run"


def test_a_run_is_judged_as_in_its_training(run: TrackerRun, server: viser.ViserServer) -> None:
    page = open_run(run, None, clip=1, start=0.5, seconds=0.5, shadows=False)(server)
    assert isinstance(page, ClipPage)
    assert 2 <= page.player.frames <= 16
    wanted, done = (part.take for part in page.parts)
    assert wanted.scores is None and done.scores is not None
    assert page.player.rate == 30.0


def test_a_run_with_one_distribution_for_all_is_judged_by_that(
    run: TrackerRun, server: viser.ViserServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Judge] = []
    monkeypatch.setattr(opening, "Judge", lambda *args, **how: made.append(Judge(*args, **how)) or made[-1])
    pooled = ModulatorConfig.of("shuffled", "g1-small", pooled=True)
    for modulator in (run.config.modulator, pooled):
        changed = replace(run, config=replace(run.config, modulator=modulator))
        open_run(changed, None, clip=1, start=0.5, seconds=0.5, shadows=False)
    alone, together = (judge._calibration for judge in made)
    assert [len(each.references) for each in (alone, together)] == [1, 2]
    assert [len(each.distributions[0]) for each in (alone, together)] == [1, 1]


def test_motions_and_priors_open(prior: PosePrior, g1: Robot, walk: Motion, server: viser.ViserServer) -> None:
    assert isinstance(open_motions([walk, walk], prior, "g1-small", g1, 30.0, False)(server), ClipPage)
    assert isinstance(open_prior(prior, g1, "g1-small", False)(server), PriorPage)


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """The one line a wrong command line gets."""

    def run(*words: object) -> str:
        assert main(["view", "--port", "0", *map(str, words)]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and "Traceback" not in error
        return error

    return run


def test_what_is_not_there_is_said(refused: Callable[..., str], tmp_path: Path) -> None:
    assert "absent.csv: no such motion, run or prior" in refused("absent.csv")
    assert "neither a tracking run nor a prior" in refused(tmp_path)
    assert "unknown embedded motion 'fly'" in refused("embedded:fly")
    assert "unknown prior 'g2'" in refused("embedded:walk", "--prior", "g2")


@pytest.mark.parametrize("names", [("embedded:walk", "g1-small"), ("embedded:walk",) * 3, ("g1-small", "g1-small")])
def test_only_one_kind_of_thing_is_shown(refused: Callable[..., str], names: tuple[str, ...]) -> None:
    assert "one or two motions, one tracking run, or one prior" in refused(*names)


def test_a_robot_with_other_joints_is_refused(refused: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "toy.xml").write_text(TOY)
    for target in ("embedded:walk", "g1-small"):
        assert "the prior is for other joints" in refused(target, "--robot", tmp_path / "toy.xml")


def test_a_run_says_which_clips_it_has(refused: Callable[..., str], run: TrackerRun) -> None:
    assert "Available: walk-000, wave-000" in refused(run.directory, "--clip", "dance")
    assert "no clip 7" in refused(run.directory, "--clip", "7")


def test_without_viser_the_extra_is_named(refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("pfmhr.viewer")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "viser", None)
    assert "the viewer needs viser. `pip install 'pfm-hr[viewer]'`." in refused()


def test_a_port_in_use_is_found_before_anything_is_read(refused: Callable[..., str], server: viser.ViserServer) -> None:
    assert "already in use" in refused("absent.csv", "--port", server.get_port())
