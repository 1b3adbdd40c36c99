"""How fast poses go into a corpus, and how fast they come out."""

from __future__ import annotations

import gzip
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pfmhr.corpus import BuildConfig, PoseCorpus, build_corpus
from pfmhr.corpus.shards import SHARD_ROWS
from pfmhr.errors import InputError
from pfmhr.motion.checks import find_motion_files
from pfmhr.motion.embedded import embedded_motions
from pfmhr.provenance import provenance
from pfmhr.robots import Robot

Say = Callable[[str], object]


def bench_corpus(data: Path | None, rows: int, repeats: int, say: Say) -> dict[str, Any]:
    """Measure building and random access; see ``pfmhr bench corpus``."""
    with tempfile.TemporaryDirectory(prefix="pfmhr-bench-") as name:
        folder = Path(name)
        robot = Robot.load("g1")
        files = _plain_csv(data, folder / "csv", robot, say)
        return {
            "build": _building(files, folder, robot, repeats, say),
            "many_files": _many_files(files, folder, robot, repeats, say),
            "random_access": _random_access(folder / "random", rows, robot, repeats, say),
            **provenance(),
        }


def _plain_csv(data: Path | None, folder: Path, robot: Robot, say: Say) -> list[Path]:
    folder.mkdir()
    if data is None:
        say("writing embedded motions as csv")
        for motion in embedded_motions(60, robot):
            motion.write(folder / f"{motion.name}.csv")
    else:
        say(f"copying {data} as plain csv")
        for file in find_motion_files([data]):
            if file.name.endswith((".csv", ".csv.gz")):
                content = file.read_bytes()
                plain = gzip.decompress(content) if file.suffix == ".gz" else content
                (folder / file.name.removesuffix(".gz")).write_bytes(plain)
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise InputError("no csv files to measure with", where=data, code="empty_folder")
    return files


def _best(work: Callable[[], object], repeats: int, prepare: Callable[[], object] = lambda: None) -> float:
    times = []
    for _ in range(repeats):
        prepare()
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def _building(files: list[Path], folder: Path, robot: Robot, repeats: int, say: Say) -> dict[str, Any]:
    say(f"{len(files)} files: np.loadtxt, then build")
    poses = 0

    def read() -> None:
        nonlocal poses
        poses = sum(len(np.loadtxt(file, delimiter=",")) for file in files)

    os.sync()  # the copies just written must not be flushed while a corpus is
    reading = _best(read, repeats)
    out = folder / "corpus"
    config = BuildConfig(fps=30)
    building = _best(
        lambda: build_corpus(out, files, robot, config), repeats, lambda: shutil.rmtree(out, ignore_errors=True)
    )
    corpus = PoseCorpus.open(out)
    return {
        "files": len(files),
        "megabytes": round(sum(file.stat().st_size for file in files) / 1e6, 1),
        "poses_read": poses,
        "poses_stored": len(corpus),
        "clips_rejected": len(corpus.manifest.rejected),
        "loadtxt_poses_per_second": round(poses / reading),
        "build_poses_per_second": round(poses / building),
        "ratio": round(reading / building, 2),
    }


def _many_files(files: list[Path], folder: Path, robot: Robot, repeats: int, say: Say) -> dict[str, Any]:
    """Cost per pose for the same data in one and in eight times as many files' worth of work."""
    sample = files[: max(1, len(files) // 8)]
    say(f"{len(sample)} files, then {8 * len(sample)} files of the same size")
    many = [_changed(file, folder / "copies", number) for number in range(8) for file in sample]
    out, config = folder / "corpus", BuildConfig(fps=30)

    def rate(chosen: list[Path]) -> float:
        seconds = _best(
            lambda: build_corpus(out, chosen, robot, config), repeats, lambda: shutil.rmtree(out, ignore_errors=True)
        )
        return len(PoseCorpus.open(out)) / seconds

    few, lots = rate(sample), rate(many)
    return {
        "files": [len(sample), len(many)],
        "poses_per_second": [round(few), round(lots)],
        "cost_per_pose_ratio": round(few / lots, 3),
    }


def _changed(file: Path, folder: Path, number: int) -> Path:
    """A copy of a csv with one angle of its first frame changed: another clip of the same size."""
    folder.mkdir(exist_ok=True)
    first, rest = file.read_text().split("\n", 1)
    copy = folder / f"{number}_{file.name}"
    copy.write_text(first.rpartition(",")[0] + f",{1e-4 * (number + 1):.6f}\n{rest}")
    return copy


def _random_access(folder: Path, rows: int, robot: Robot, repeats: int, say: Say) -> dict[str, Any]:
    say(f"random access in {rows:,} poses ({rows * robot.num_joints * 4 / 1e9:.1f} GB)")
    corpus = _synthetic(folder, rows, robot)
    opening = _best(lambda: PoseCorpus.open(folder), repeats)
    corpus.poses[::32].sum()  # into the page cache
    size, steps = 65_536, 20

    def draw() -> None:
        for step in range(steps):
            corpus.batch(step, size, seed=0)

    seconds = _best(draw, repeats)
    return {
        "poses": len(corpus),
        "open_milliseconds": round(1000 * opening, 2),
        "batch_size": size,
        "rows_per_second": round(steps * size / seconds),
    }


def _synthetic(folder: Path, rows: int, robot: Robot) -> PoseCorpus:
    """A corpus of random poses written piece by piece, so that it may be larger than memory."""
    from pfmhr.corpus import manifest as manifests
    from pfmhr.corpus.manifest import Manifest, Source
    from pfmhr.corpus.shards import append_rows

    folder.mkdir()
    generator = np.random.default_rng(0)
    shards = []
    for start in range(0, rows, SHARD_ROWS):
        count = min(SHARD_ROWS, rows - start)
        block = generator.random((count, robot.num_joints), dtype=np.float32)
        shards.append(append_rows(folder, start, [block]))
    source = Source("random", "random", 0, rows, 0.0, "random")
    manifest = Manifest(robot.name, robot.joint_names, "random", {}, tuple(shards), (source,))
    manifests.save(manifest, folder)
    return PoseCorpus.open(folder)
