"""Frame rates are stated or refused, never guessed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.robots import Robot

Write = Callable[..., Path]


@pytest.fixture
def write_csv(tmp_path: Path, walk: Motion, raw: Any) -> Write:
    """Writes the walk as csv at a path below the test's folder, with a motions.toml at the top if given."""

    def write(name: str = "clip.csv", settings: str | None = None) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw.unitree_csv(walk))
        if settings is not None:
            (tmp_path / "motions.toml").write_text(settings)
        return path

    return write


def test_a_csv_without_a_frame_rate_is_refused(g1: Robot, write_csv: Write) -> None:
    path = write_csv()
    with pytest.raises(InputError) as caught:
        Motion.read(path, g1)
    assert caught.value.code == "no_fps"
    assert str(path) in str(caught.value)
    assert "--fps" in str(caught.value)
    assert "motions.toml" in str(caught.value)


def test_the_callers_frame_rate_is_taken(g1: Robot, write_csv: Write) -> None:
    read = Motion.read(write_csv(), g1, fps=25)
    assert read.fps == 25
    assert read.notes == ()


@pytest.mark.parametrize(
    ("name", "fps"),
    [
        ("clip_60hz.csv", 60),
        ("clip_120fps.csv", 120),
        ("gangnam 50Hz.csv", 50),
        ("clip-60_hz_left.csv", 60),
        ("lafan1_g1/walk.csv", 30),
        ("LAFAN1/a/b/walk.csv", 30),
        ("g1_moves/dance/walk.csv", 60),
        ("lafan1_g1/walk_60hz.csv", 60),
        ("lafan1_g1/walk_1000hz.csv", 1000),
        ("walk_59.94fps.csv", 59.94),
    ],
)
def test_the_frame_rate_in_a_name_is_taken_with_a_note(g1: Robot, write_csv: Write, name: str, fps: float) -> None:
    read = Motion.read(write_csv(name), g1)
    assert read.fps == fps
    assert any(f"{fps:g} Hz taken from the" in note for note in read.notes)


@pytest.mark.parametrize("name", ["clip_9hz.csv", "60hzx.csv", "a1.60hz.csv", "clip60.csv", "my_lafan/clip.csv"])
def test_what_only_resembles_a_frame_rate_is_not_taken(g1: Robot, write_csv: Write, name: str) -> None:
    with pytest.raises(InputError) as caught:
        Motion.read(write_csv(name), g1)
    assert caught.value.code == "no_fps"


@pytest.mark.parametrize("name", ["walk_120hz_to_30hz.csv", "60fps-50hz/walk.csv"])
def test_a_name_of_two_frame_rates_is_refused_unless_the_caller_says_which(
    g1: Robot, write_csv: Write, name: str
) -> None:
    path = write_csv(name)
    with pytest.raises(InputError, match=r"several frame rates.* Hz and .* Hz.*--fps") as caught:
        Motion.read(path, g1)
    assert caught.value.code == "bad_fps" and Motion.read(path, g1, fps=30).fps == 30


@pytest.mark.parametrize("name", ["clip.csv", "deep/down/clip.csv"])
@pytest.mark.parametrize(("settings", "fps"), [("fps = 50", 50), ("fps = 29.97\n", 29.97)])
def test_a_motions_toml_above_the_file_states_the_rate(
    g1: Robot, write_csv: Write, name: str, settings: str, fps: float
) -> None:
    read = Motion.read(write_csv(name, settings), g1)
    assert read.fps == fps
    assert "motions.toml" in read.notes[0]


def test_the_nearest_motions_toml_counts(g1: Robot, write_csv: Write) -> None:
    path = write_csv("deep/clip.csv", "fps = 50")
    (path.parent / "motions.toml").write_text("fps = 25")
    assert Motion.read(path, g1).fps == 25


def test_the_caller_outranks_the_file_name_and_the_folder(g1: Robot, write_csv: Write) -> None:
    assert Motion.read(write_csv("clip_60hz.csv", "fps = 50"), g1, fps=30).fps == 30
    assert Motion.read(write_csv("clip_60hz.csv", "fps = 50"), g1).fps == 60


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("fps = ", "not valid TOML"),
        ("rate = 30", "fps = <Hz>"),
        ("fps = 0", "got 0"),
        ("fps = true", "got True"),
        ("fps = '30'", "got 30"),
    ],
)
def test_a_motions_toml_without_a_rate_is_refused_by_its_own_name(
    g1: Robot, write_csv: Write, tmp_path: Path, settings: str, words: str
) -> None:
    with pytest.raises(InputError) as caught:
        Motion.read(write_csv(settings=settings), g1)
    assert caught.value.code == "bad_settings"
    assert str(tmp_path / "motions.toml") in str(caught.value)
    assert words in str(caught.value)


def test_checks_may_assume_the_usual_rate_and_say_so(g1: Robot, write_csv: Write) -> None:
    (read,) = read_motions(write_csv(), ReadOptions(g1, assume_fps=True))
    assert read.fps == 30
    assert read.notes == ("frame rate not in the file: 30 Hz assumed",)


@pytest.mark.parametrize("maker", ["gmr", "mimickit", "asap", "qpos", "bones_seed"])
def test_a_rate_that_contradicts_the_files_own_is_refused(
    g1: Robot, walk: Motion, raw: Any, tmp_path: Path, maker: str
) -> None:
    path = tmp_path / "clip.data"
    path.write_bytes(getattr(raw, maker)(walk))
    own = 120 if maker == "bones_seed" else 30
    with pytest.raises(InputError) as caught:
        Motion.read(path, g1, fps=50)
    assert caught.value.code == "fps_conflict"
    assert str(path) in str(caught.value)
    assert f"expected 50 Hz, got {own} Hz in the file" in str(caught.value)
    assert "--to-fps" in str(caught.value)
    assert Motion.read(path, g1, fps=own).fps == own


def test_rounding_of_a_stored_rate_is_no_conflict(g1: Robot, make_walk: Any, raw: Any, read_content: Any) -> None:
    (read,) = read_content(raw.gmr(make_walk(fps=29.97)), fps=30)
    assert read.fps == 29.97


@pytest.mark.parametrize("fps", [0, -30, float("nan"), float("inf")])
def test_an_impossible_rate_is_refused(g1: Robot, write_csv: Write, fps: float) -> None:
    with pytest.raises(InputError) as caught:
        Motion.read(write_csv(), g1, fps=fps)
    assert caught.value.code == "bad_fps"


@pytest.mark.parametrize("fps", [0, -1.0, float("nan"), [30, 60]])
def test_an_impossible_rate_in_the_file_is_refused(raw: Any, read_content: Any, fps: Any) -> None:
    with pytest.raises(InputError) as caught:
        read_content(raw.pickled({"fps": fps, "loop_mode": 0, "frames": [[0.0] * 35] * 2}))
    assert caught.value.code == "bad_fps"


def test_a_rate_that_would_unfold_to_gigabytes_is_refused_at_once(raw: Any, read_content: Any) -> None:
    """Lists that share their rows: a few bytes in a pickle, 100 to the power of 30 numbers once unfolded."""
    rate: Any = 30.0
    for _ in range(30):
        rate = [rate] * 100
    with pytest.raises(InputError) as caught:
        read_content(raw.pickled({"fps": rate, "loop_mode": 0, "frames": [[0.0] * 35] * 2}))
    assert caught.value.code == "bad_shape" and len(str(caught.value)) < 300
