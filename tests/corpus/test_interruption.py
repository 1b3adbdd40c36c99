"""Killed at any moment, on a full disk, or twice at once: the old corpus or the new one, never half of one."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from pfmhr.corpus import BuildConfig, PoseCorpus, build_corpus, writing
from pfmhr.errors import InputError
from pfmhr.files import exclusive
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot

KILL_LOOP = """
    import json, os, random, signal, sys, time
    from pathlib import Path
    import numpy as np
    from pfmhr.corpus import BuildConfig, PoseCorpus, add_to_corpus, build_corpus
    from pfmhr.motion import Motion
    from pfmhr.robots import Robot

    out, kills = Path(sys.argv[1]), int(sys.argv[2])
    robot, config = Robot.load("g1"), BuildConfig(shard_rows=100)
    generator = np.random.default_rng(0)
    wiggle = 0.05 * np.sin(np.arange(30) / 5)[:, None]

    def clip(number):
        poses = robot.default_pose + wiggle * generator.normal(size=29)
        return Motion.from_arrays(robot, poses, 30, name=f"clip-{number}")

    base, more = [clip(n) for n in range(30)], [clip(n) for n in range(30, 150)]
    build_corpus(out / "reference", base, robot, config)
    start = time.perf_counter()
    reference = add_to_corpus(out / "reference", more, robot, config).manifest
    duration = time.perf_counter() - start
    old = build_corpus(out / "corpus", base, robot, config).manifest
    random.seed(0)
    said, killed, seen = [], 0, set()
    for attempt in range(kills):
        child = os.fork()
        if child == 0:
            add_to_corpus(out / "corpus", more, robot, config, workers=1)
            os._exit(0)
        time.sleep(random.uniform(0, 0.25 * duration))
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
        corpus = PoseCorpus.open(out / "corpus")
        assert corpus.verify() == []
        assert len(corpus) in (old.poses, reference.poses), len(corpus)
        seen.add(len(corpus))
    final = add_to_corpus(out / "corpus", more, robot, config, say=said.append)
    assert final.manifest == reference
    assert final.verify() == []
    leftovers = [p.name for p in (out / "corpus").iterdir() if p.suffix == ".tmp" or p.name == ".partial"]
    print(json.dumps({"killed": killed, "said": said, "leftovers": leftovers, "seen": sorted(seen)}))
"""


def run_kill_loop(folder: Path, kills: int) -> dict:
    command = [sys.executable, "-c", textwrap.dedent(KILL_LOOP), str(folder), str(kills)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_killed_at_any_moment_the_corpus_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    result = run_kill_loop(tmp_path, kills=25)
    assert result["killed"] >= 3
    assert result["leftovers"] == []


@pytest.mark.slow
def test_killed_two_hundred_times(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / str(number)).mkdir()
        result = run_kill_loop(tmp_path / str(number), kills=25)
        assert result["killed"] >= 3
        assert result["leftovers"] == []


def test_an_interrupted_run_says_what_it_found_and_goes_on(tmp_path: Path, g1: Robot) -> None:
    clips = [embedded_motion("walk", g1, seed=seed) for seed in range(4)]
    config = BuildConfig(shard_rows=1)
    whole = build_corpus(tmp_path / "whole", clips, g1, config).manifest

    class InterruptionError(Exception):
        pass

    def stop_after_two(done: int, total: int) -> None:
        if done == 2:
            raise InterruptionError

    with pytest.raises(InterruptionError):
        build_corpus(tmp_path / "corpus", clips, g1, config, progress=stop_after_two)
    with pytest.raises(InputError):
        PoseCorpus.open(tmp_path / "corpus")
    said: list[str] = []
    resumed = build_corpus(tmp_path / "corpus", clips, g1, config, say=said.append)
    assert resumed.manifest == whole
    assert "unfinished run" in said[0] and "behind 2 finished stretch(es)" in said[0]


def test_poses_of_another_command_are_cleared_away(tmp_path: Path, g1: Robot) -> None:
    clips = [embedded_motion("walk", g1, seed=seed) for seed in range(3)]
    config = BuildConfig(shard_rows=1)
    with pytest.raises(ZeroDivisionError):
        build_corpus(tmp_path / "corpus", clips, g1, config, progress=lambda done, total: 1 // (2 - done))
    said: list[str] = []
    corpus = build_corpus(tmp_path / "corpus", clips[2:], g1, config, say=said.append)
    assert "starting over" in said[0]
    assert np.array_equal(np.load(tmp_path / "corpus" / "poses.npy"), corpus.poses)
    assert len(corpus) == clips[2].num_frames


def test_a_build_does_not_go_on_behind_the_poses_of_an_array(
    tmp_path: Path, g1: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both were stopped in the same folder: the records of the one are not of the poses of the other."""
    clips = [embedded_motion("walk", g1, seed=seed) for seed in range(3)]
    config = BuildConfig(shard_rows=1)
    with pytest.raises(ZeroDivisionError):
        build_corpus(tmp_path / "corpus", clips, g1, config, progress=lambda done, total: 1 // (2 - done))
    zeros = np.zeros((clips[0].num_frames, 29))

    def fail(*_: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as stopped, pytest.raises(RuntimeError):
        stopped.setattr(writing, "save", fail)
        PoseCorpus.from_array(tmp_path / "corpus", zeros, robot=g1)
    corpus = build_corpus(tmp_path / "corpus", clips, g1, config)
    assert corpus.verify() == [] and np.array_equal(corpus.poses[: len(zeros)], clips[0].joint_pos)


def in_child(work: object) -> int:
    """Run ``work()`` in a forked child and return its exit code: 7 for an InputError named disk_full."""
    child = os.fork()
    if child == 0:
        try:
            work()  # type: ignore[operator]
        except InputError as error:
            os._exit(7 if error.code == "disk_full" else 8)
        except BaseException:
            os._exit(9)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_full_disk_gives_a_clear_error_and_no_half_corpus(tmp_path: Path, g1: Robot) -> None:
    clips = [embedded_motion(name, g1) for name in ("walk", "squat")]

    def with_little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
        build_corpus(tmp_path / "corpus", clips, g1)

    assert in_child(with_little_room) == 7
    assert not list((tmp_path / "corpus").glob("*.npy*"))
    assert not (tmp_path / "corpus" / "manifest.json").exists()
    assert len(build_corpus(tmp_path / "corpus", clips, g1)) == sum(clip.num_frames for clip in clips)


def test_two_writers_at_once_are_refused(tmp_path: Path, g1: Robot) -> None:
    with exclusive(tmp_path / "corpus"), pytest.raises(InputError) as error:
        build_corpus(tmp_path / "corpus", [embedded_motion("walk", g1)], g1)
    assert error.value.code == "locked"
