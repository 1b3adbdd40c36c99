"""The tables of file formats are those of files that are really written."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr import Calibration, Motion, PoseCorpus, PoseGeometryScore, PosePrior, Robot
from pfmhr.corpus.manifest import Rejected, Shard, Source
from pfmhr.distance import PoseDistanceField
from pfmhr.distance.network import DistanceNetworkConfig, joint_parents
from pfmhr.motion.embedded import embedded_motion
from pfmhr.provenance import provenance
from pfmhr.reward.calibration import Reference
from pfmhr.tracking.runs import train_tracker
from tests.docs.snippets import DOCS
from tests.tracking.learning import TINY

PAGE = (DOCS / "file-formats.md").read_text()
RESULTS = DOCS.parent / "results"


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def keys(title: str) -> set[str]:
    """What stands in the first column of a section's table."""
    rows = re.findall(r"^\| (`[^|]+`) \|", section(title), flags=re.MULTILINE)
    return {key for row in rows for key in re.findall(r"`(\w+)`", row)}


def described(title: str, key: str) -> set[str]:
    """Names in the second column of one key's row."""
    row = re.search(rf"^\| [^|]*`{key}`[^|]* \|([^|]*)\|", section(title), flags=re.MULTILINE)
    assert row is not None
    return set(re.findall(r"`(\w+)`", row[1]))


def fields(kind: Any) -> set[str]:
    return set(kind.__dataclass_fields__)


@pytest.fixture(scope="module")
def walking(g1: Robot) -> Motion:
    return embedded_motion("walk", g1)


def test_motion(walking: Motion, tmp_path: Path) -> None:
    walking.write(tmp_path / "walk.npz")
    with np.load(tmp_path / "walk.npz", allow_pickle=False) as content:
        assert set(content.files) == keys("Motion")
        assert content["joint_pos"].dtype == np.float32 and content["fps"].dtype == np.float64


def test_corpus(walking: Motion, g1: Robot, tmp_path: Path) -> None:
    PoseCorpus.build(tmp_path / "corpus", [walking], g1)
    manifest = json.loads((tmp_path / "corpus" / "manifest.json").read_text())
    assert set(manifest) == keys("Corpus")
    assert f"`{manifest['format']}`, {manifest['version']} " in section("Corpus")
    assert {path.name for path in (tmp_path / "corpus").iterdir()} == {".lock", "manifest.json", "poses.npy"}
    for key, kind in (("shards", Shard), ("sources", Source), ("rejected", Rejected)):
        assert described("Corpus", key) == fields(kind)


def test_prior(tmp_path: Path) -> None:
    PosePrior.load("g1-small").save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert set(config) == keys("Prior") and set(config["normalisation"]) == described("Prior", "normalisation")
    assert f"`{config['format']}`, {config['version']} " in section("Prior")
    assert {path.name for path in tmp_path.iterdir()} == {"model.safetensors", "config.json", "README.md"}


def test_distance_field(g1: Robot, tmp_path: Path) -> None:
    PoseDistanceField.new(g1, joint_parents(g1), DistanceNetworkConfig()).save(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    assert set(config) == keys("Distance field")
    assert f"`{config['format']}`, {config['version']} " in section("Distance field")


def test_calibration(walking: Motion, tmp_path: Path) -> None:
    Calibration.fit(PoseGeometryScore(PosePrior.load("g1-small")), [walking], 1 / 30).save(tmp_path / "c.npz")
    with np.load(tmp_path / "c.npz", allow_pickle=False) as content:
        assert set(content.files) == {"header", "channel0_motion0"}
        header = json.loads(bytes(content["header"]))
    assert set(header) == keys("Calibration") and described("Calibration", "references") == fields(Reference)
    assert f"`{header['format']}`, {header['version']} " in section("Calibration")


def test_runs_of_trackers(walking: Motion, g1: Robot, tmp_path: Path) -> None:
    train_tracker(tmp_path / "run", g1, [walking], replace(TINY, horizons=(0.2, 0.3)), threads=1)
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert set(result) == keys("Runs of trackers")
    assert {"random", "beginning"} == set(result["final"])
    assert described("Runs of trackers", "final") - {"random", "beginning"} <= set(result["final"]["random"])
    named = {
        "run.json",
        "metrics.jsonl",
        "tensorboard",
        "motions",
        "checkpoint.safetensors",
        "result.json",
        "episodes.npz",
    }
    assert {path.name for path in (tmp_path / "run").iterdir()} == named | {".lock"}


def test_results() -> None:
    assert set(provenance()) == keys("Results")
    always = keys("Results") - {"mujoco", "torch", "rsl_rl_lib"}
    for path in RESULTS.glob("*.json"):
        content = json.loads(path.read_text())
        parts = content.values() if path.stem == "g1_small" else [content]
        assert all(always <= set(part) for part in parts), path.name
