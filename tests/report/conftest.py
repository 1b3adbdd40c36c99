"""Runs that took a second to train, priors of no robot we know, and the page of everything in results/."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.results.records import from_json
from pfmhr.results.summary import Cells, Row, Summary, Verdict
from pfmhr.robots import Robot
from pfmhr.tracking.runs import train_tracker
from tests.score.priors import random_prior
from tests.tracking.clips import still
from tests.tracking.learning import TINY

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture(autouse=True, scope="session")
def one_thread() -> None:
    torch.set_num_threads(1)  # two test workers share two cores


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    """Commands choose torch's threads; what they leave behind is no business of other tests."""
    yield
    torch.set_num_threads(1)


def trained(directory: Path, robot: Robot, *clips: Motion) -> Path:
    train_tracker(directory, robot, clips, replace(TINY, samples=48), threads=1)
    return directory


@pytest.fixture(scope="session")
def walk_run(g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tracker of the walk that has learned nothing, in a directory with a name to be careful with."""
    return trained(tmp_path_factory.mktemp("runs") / "<b>x", g1, embedded_motion("walk", g1))


@pytest.fixture(scope="session")
def hopeless_run(g1: Robot, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two clips, the first of which is lost at its first step: it leaps by three metres."""
    clip = still(g1, seconds=1.0, name="leap")
    root = clip.root_pos.copy()
    root[1:, 0] += 3.0
    clips = [replace(clip, root_pos=root), embedded_motion("squat", g1)]
    return trained(tmp_path_factory.mktemp("runs") / "two", g1, *clips)


@pytest.fixture(scope="session")
def toy_prior(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prior of a robot of five joints."""
    directory = tmp_path_factory.mktemp("priors") / "toy"
    random_prior(dtype=torch.float32).save(directory)
    return directory


def tracking_row(**changes: Any) -> dict[str, Any]:
    """A row of `pfmhr track compare`, as the first version stored it."""
    return {
        "name": "g1_walk, ADD, residual",
        "motions": ["g1_walk"],
        "reward": "add",
        "modulator": "none",
        "actions": "residual",
        "seeds": 2,
        "converged": 2,
        "samples_to_80": [1.25, 0.05],
        "grid": 0.12,
        "success": [0.987, 0.01],
        "success_strict": [0.9, 0.02],
        "position_error": [0.0211, 0.0012],
        "rotation_error": [0.1004, 0.002],
        "body_error": [0.03, 0.001],
        "minutes": [26.4, 1.0],
    } | changes


def experiment_row(skill: str = "walk", method: str = "pfm", **changes: Any) -> Row:
    """A row of `pfmhr experiment report`."""
    content = {
        "skill": skill,
        "actions": "residual",
        "method": method,
        "seeds": 3,
        "converged": 3,
        "samples_to_80": [1.0, 1.1, 1.2],
        "mean": 1.1,
        "deviation": 0.0816,
        "budget": 2.0,
        "success": 0.95,
        "position_error": 0.02,
        "rotation_error": 0.1,
        "minutes": 12.0,
        "deviations": {"success": 0.01, "position_error": 0.002},
    }
    return from_json(Row, content | changes, Path("report.json"))


def summary(*rows: Row, verdicts: tuple[Verdict, ...] = ()) -> Summary:
    """What `pfmhr experiment report` stores."""
    return Summary(
        name="single_motion",
        plain="add",
        cells=Cells(finished=5, all=6),
        rows=rows,
        verdicts=verdicts,
        command="pfmhr experiment report experiments/single_motion.toml",
    )
