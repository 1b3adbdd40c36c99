"""Videos of an episode: what is in them, and what is said about it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.sim import Box
from pfmhr.tracking import AgentConfig, EnvironmentConfig, TrackerConfig
from pfmhr.tracking.env.library import MotionLibrary
from pfmhr.tracking.runs import TrackerRun, train_tracker
from pfmhr.tracking.watch import play
from pfmhr.tracking.watch.episode import Episode, record_episode
from pfmhr.tracking.watch.play import film

SIZE = (240, 180)


@pytest.fixture(scope="module")
def run(g1: Robot, walking: Motion, tmp_path_factory: pytest.TempPathFactory) -> TrackerRun:
    """A tracker that has hardly learned: it falls within a second or two."""
    directory = tmp_path_factory.mktemp("play") / "run"
    config = TrackerConfig(
        environment=EnvironmentConfig(8, 0.3),
        agent=AgentConfig(steps=8, hidden=(32,)),
        samples=128,
        evaluate_every=2,
        evaluation_episodes=2,
    )
    train_tracker(directory, g1, [walking], config, threads=1)
    return TrackerRun.load(directory)


@pytest.fixture(scope="module")
def short(run: TrackerRun) -> Episode:
    return record_episode(run, seconds=0.5)


@pytest.fixture(params=["mujoco", "matplotlib"])
def drawn_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "matplotlib":
        monkeypatch.setattr(play, "working_backend", lambda: "")
    elif not play.working_backend():
        pytest.skip("neither EGL nor OSMesa works here")
    yield request.param


def pictures(path: Path) -> np.ndarray:
    """(frames, height, width, 3) in [0, 255]."""
    with Image.open(path) as image:
        return np.array([np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)], dtype=int)


def blue(frames: np.ndarray) -> np.ndarray:
    return frames[..., 2] - frames[..., 0] > 60


def test_a_gif_shows_every_moment_with_the_reference_in_blue(short: Episode, tmp_path: Path, drawn_by: str) -> None:
    path = tmp_path / "walk.gif"
    assert drawn_by in film(short, path, fps=10, size=SIZE).lower()
    frames = pictures(path)
    assert frames.shape == (5, 180, 240, 3)
    figures = frames[:, 40:]  # below the words, of which the clock changes always
    assert all((first != second).any() for first, second in pairwise(figures))
    assert blue(figures[0])[:, :120].sum() > 500
    assert blue(figures[0])[:, 120:].sum() < 50  # the reference stands on the left; a lamp of the other is blue
    rows = np.flatnonzero(blue(figures[0]).any(axis=1))
    assert 70 < rows.max() - rows.min() < 130  # upright, half of the picture high
    with Image.open(path) as image:
        assert sum(frame.info["duration"] for frame in ImageSequence.Iterator(image)) == 500


def test_the_camera_goes_with_the_robots(short: Episode, tmp_path: Path, drawn_by: str) -> None:
    away = np.zeros_like(short.reference)
    away[:, 0] = 20.0  # a whole number of tiles away everything looks the same
    moved = replace(short, reference=short.reference + away, rollout=short.rollout + away)
    for name, episode in (("here", short), ("there", moved)):
        film(episode, tmp_path / f"{name}.gif", fps=2, size=SIZE)
    here, there = (blue(pictures(tmp_path / f"{name}.gif")[0]) for name in ("here", "there"))
    assert (here & there).sum() > 0.95 * here.sum()


def test_boxes_are_drawn(short: Episode, tmp_path: Path, drawn_by: str) -> None:
    boxed = replace(short, boxes=(Box((0.2, 0.5, 0.15), (1.2, 0.0, 0.15), yaw=0.3),))
    brown = []
    for name, episode in (("without", short), ("with", boxed)):
        film(episode, tmp_path / f"{name}.gif", fps=2, size=SIZE)
        picture = pictures(tmp_path / f"{name}.gif")[0]
        brown.append(int((picture[..., 0] - picture[..., 2] > 20).sum()))
    assert brown[0] < 50 and brown[1] > 1000


def test_the_time_tracked_is_that_of_an_evaluation_from_the_beginning(run: TrackerRun) -> None:
    episode = record_episode(run, seconds=4.0)
    evaluation = run.evaluator(1, horizon=4.0, threads=1).run(run.policy, "beginning")
    assert episode.possible == 4.0
    assert episode.tracked == pytest.approx(4.0 * evaluation.success)
    assert episode.lost
    assert len(episode.rollout) == round(30 * episode.tracked) + 1  # the step that lost it began, too
    assert np.allclose(episode.rollout[0], episode.reference[0], atol=1e-6)


def test_a_lost_episode_ends_in_a_second_of_red_words_and_the_line_says_why(
    run: TrackerRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "lost.gif"
    arguments = ["--output", str(path), "--seconds", "4", "--fps", "5", "--width", "320", "--height", "240"]
    assert main(["track", "play", str(run.directory), *arguments]) == 0
    episode = record_episode(run, seconds=4.0)
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith(f"{path}: tracked {episode.tracked:.2f} of 4.00 s, then lost: {episode.lost}")
    frames = pictures(path)
    red = (frames[..., 0] - np.maximum(frames[..., 1], frames[..., 2]) > 100).sum(axis=(1, 2))
    assert red[0] == 0 and red[-1] > 50
    with Image.open(path) as image:
        image.seek(len(frames) - 1)
        assert image.info["duration"] == 1000


def test_an_mp4_holds_every_frame(short: Episode, tmp_path: Path) -> None:
    import imageio_ffmpeg as ffmpeg

    film(short, tmp_path / "walk.mp4", fps=10, size=(130, 98))
    count, seconds = ffmpeg.count_frames_and_secs(str(tmp_path / "walk.mp4"))
    assert (count, seconds) == (5, pytest.approx(0.5))
    assert [file.name for file in tmp_path.iterdir()] == ["walk.mp4"]


def test_a_clip_that_does_not_loop_is_played_to_its_end(run: TrackerRun, walking: Motion) -> None:
    second = (walking.frames(0, 51),)
    once = replace(run, motions=second, library=MotionLibrary(run.robot, second, run.library.rate))
    episode = record_episode(once, start=0.8, seconds=10.0)
    assert (episode.possible, len(episode.rollout), episode.lost) == (pytest.approx(0.2), 6, "")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--clip", "1"], "no clip 1"),
        (["--start", "2.2"], "no such moment"),
        (["--start", "nan"], "no such moment"),
        (["--seconds", "0"], "too short to play"),
        (["--seconds", "inf"], "too short to play"),
        (["--fps", "0"], "impossible frame rate"),
        (["--width", "33"], "impossible video size"),
        (["--output", "walk.avi"], "unknown kind of video"),
    ],
)
def test_what_cannot_be_played_is_refused(
    run: TrackerRun, options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["track", "play", str(run.directory), *options]) == 2
    assert words in capsys.readouterr().err
    assert not list(run.directory.glob("play.*"))


def test_without_ffmpeg_mp4_is_refused_and_gif_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'pfm-hr\[tracking\]'"):
        play.check_film(tmp_path / "walk.mp4", 30, SIZE)
    assert play.default_film(tmp_path) == tmp_path / "play.gif"
