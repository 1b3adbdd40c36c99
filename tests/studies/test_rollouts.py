"""What a prior says of a tracker's own transitions."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.robots import Robot
from pfmhr.studies.rollouts import SOON, lost_soon, roll_out, rollout_study
from pfmhr.tracking import AgentConfig, EnvironmentConfig, TrackerConfig
from pfmhr.tracking.runs import TrackerRun, train_tracker

STEPS = 20


@pytest.fixture(scope="module")
def run(g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tracker of eight robots that has learned nothing."""
    directory = tmp_path_factory.mktemp("rollouts") / "run"
    config = TrackerConfig(
        environment=EnvironmentConfig(8, episode_seconds=0.5),
        agent=AgentConfig(steps=4, hidden=(8,)),
        samples=32,
        evaluation_episodes=1,
    )
    train_tracker(directory, g1, [embedded_motion("walk", g1)], config, threads=1)
    return directory


def test_lost_soon_looks_ahead_within_the_episode() -> None:
    """In the first environment an episode is lost at step 12, after one that ended well at 3; none in the second."""
    failed, done = torch.zeros(2, 20, 2, dtype=torch.bool)
    failed[12, 0] = done[12, 0] = done[3, 0] = True
    expected = [12 - SOON <= step <= 12 for step in range(20)]
    assert lost_soon(failed, done)[:, 0].tolist() == expected and not lost_soon(failed, done)[:, 1].any()
    done[9, 0] = True  # what was lost at 12 began at 10
    assert lost_soon(failed, done)[:, 0].nonzero().squeeze(1).tolist() == [10, 11, 12]


def test_a_policy_without_noise_is_rolled_out_as_it_acts(run: Path) -> None:
    tracker = TrackerRun.load(run)
    assert tracker.exploration.shape == (29,) and float(tracker.exploration.mean()) == pytest.approx(0.25, abs=0.02)
    still = roll_out(tracker, tracker.policy, torch.zeros(29), STEPS)
    again = roll_out(tracker, tracker.policy, torch.zeros(29), STEPS)
    noisy = roll_out(tracker, tracker.policy, tracker.exploration, STEPS)
    assert len(still.before) == 8 * (STEPS - SOON) and torch.equal(still.after, again.after)
    assert not torch.equal(still.after, noisy.after)
    # No transition crosses a reset: one control step is far shorter than the way to another moment of the clip.
    assert float((still.after - still.before).abs().max()) < 1.0


def test_the_study_says_what_is_cut_and_where(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["study", "rollouts", str(run), "-o", str(tmp_path), "--steps", str(STEPS), "--times", "0.75", "0.9"]
    assert main([*command, "--p-good", "0.5", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [(row["t_eval"], row["phase"]) for row in told["rows"]] == [
        (0.75, "beginning"), (0.75, "now"), (0.9, "beginning"), (0.9, "now"),
    ]  # fmt: skip
    for row in told["rows"]:
        assert 0.6 <= row["multiplier"] <= 1.0 and 0.0 <= row["tells_lost"] <= 1.0
        assert row["share_good"] + row["share_bad"] <= 1.0 and row["share_good"] < 1.0
    shares = told["joints"]["beginning, 0.75"]
    assert sum(shares["cut"]) == pytest.approx(1.0, abs=0.01) == sum(shares["reference"])
    kept = json.loads((tmp_path / "rollouts.json").read_text())
    assert kept["rows"] == told["rows"] and kept["p_good"] == 0.5 and "commit" in kept
    assert main(command) == 0 and "tells lost" in capsys.readouterr().out


def test_a_run_is_looked_at_at_several_moments(run: Path, g1: Robot, tmp_path: Path) -> None:
    """The same run with twice the samples is another moment of it; its own copy, or another seed, is not."""
    config = TrackerRun.load(run).config
    shutil.copytree(run, tmp_path / "longer")
    train_tracker(tmp_path / "longer", g1, [embedded_motion("walk", g1)], replace(config, samples=64), threads=1)
    early, late = TrackerRun.load(run), TrackerRun.load(tmp_path / "longer")
    found = rollout_study([late, early], PosePrior.load("g1-small"), (0.75,), steps=STEPS)
    assert [row["phase"] for row in found["rows"]] == ["beginning", "32 samples", "64 samples"] and found[
        "samples"
    ] == 64
    alone = rollout_study([late], PosePrior.load("g1-small"), (0.75,), steps=STEPS)
    assert found["rows"][0] == alone["rows"][0]
    for other in (early, replace(early, config=replace(config, seed=5), samples=1)):
        with pytest.raises(InputError, match="not another moment of the same run"):
            rollout_study([early, other], PosePrior.load("g1-small"), (0.75,), steps=STEPS)
    with pytest.raises(InputError, match="no run"):
        rollout_study([], PosePrior.load("g1-small"))


def test_joints_that_are_held_count_as_still(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["study", "rollouts", str(run), "-o", str(tmp_path), "--steps", str(STEPS), "--times", "0.75"]
    assert main([*command, "--p-good", "0.5", "--hold", "wrist", "elbow", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    held = ["wrist" in name or "elbow" in name for name in told["joint_names"]]
    assert sum(held) == 8
    for shares in told["joints"].values():
        for part in ("cut", "not_cut", "reference"):
            moved = [share for share, still in zip(shares[part], held, strict=True) if still]
            assert moved == [0.0] * 8 and sum(shares[part]) == pytest.approx(1.0, abs=0.01)
    assert main([*command, "--hold", "wrench"]) == 2
    assert "wrench" in capsys.readouterr().err


def test_too_few_steps_are_refused(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "rollouts", str(run), "--steps", str(SOON)]) == 2
    assert "too few steps" in capsys.readouterr().err
