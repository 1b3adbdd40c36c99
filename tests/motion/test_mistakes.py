"""What users do wrong, and what they are told."""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import CheckConfig, check_motion, find_motion_files
from pfmhr.motion.checks.report import FileReport
from pfmhr.motion.embedded import embedded_motion
from pfmhr.motion.repair import trim
from pfmhr.motion.safe_pickle import load_plain
from pfmhr.robots import Robot

Said = pytest.CaptureFixture[str]


@pytest.fixture
def walk(g1: Robot) -> Motion:
    return embedded_motion("walk", g1)


def table(motion: Motion, quaternion: tuple[int, ...] = (1, 2, 3, 0)) -> np.ndarray:
    """As a csv has it; the quaternion's components, of wxyz, in the given order."""
    return np.concatenate([motion.root_pos, motion.root_quat[:, list(quaternion)], motion.joint_pos], axis=1)


def written(path: Path, values: np.ndarray, header: str = "", comma: str = ",") -> Path:
    lines = [comma.join(f"{value:.6f}" for value in row) for row in values]
    path.write_text("\n".join([header, *lines] if header else lines))
    return path


@pytest.mark.parametrize(
    ("order", "turn", "told"), [([3, 0, 1, 2], 0.7, "wxyz for xyzw"), ([1, 2, 3, 0], 2.2, "xyzw for wxyz")]
)
def test_a_quaternion_read_in_the_wrong_order_is_noticed_either_way(
    order: list[int], turn: float, told: str, g1: Robot, walk: Motion
) -> None:
    """The first: a file of wxyz read as xyzw, last component first. Headings in rad with which that lies down."""
    heading = np.array([np.cos(turn / 2), 0.0, 0.0, np.sin(turn / 2)], dtype=np.float32)
    turned = replace(walk, root_quat=np.tile(heading, (walk.num_frames, 1)))
    assert check_motion(turned, g1) == check_motion(walk, g1)
    (fault,) = [
        each
        for each in check_motion(replace(turned, root_quat=turned.root_quat[:, order]), g1)
        if each.code == "quaternion_order"
    ]
    assert told in fault.message


def test_a_header_says_in_which_order_its_quaternion_is(g1: Robot, walk: Motion, tmp_path: Path) -> None:
    joints = ",".join(g1.joint_names)
    first = written(tmp_path / "w.csv", table(walk, (0, 1, 2, 3)), f"px,py,pz,qw,qx,qy,qz,{joints}")
    last = written(tmp_path / "x.csv", table(walk), f"px,py,pz,qx,qy,qz,qw,{joints}")
    for path in (first, last):
        assert np.allclose(Motion.read(path, g1, fps=30).root_quat, walk.root_quat, atol=1e-5)


def test_a_csv_of_joints_alone_is_refused_for_what_it_is(g1: Robot, walk: Motion, tmp_path: Path) -> None:
    path = written(tmp_path / "joints.csv", walk.joint_pos, ",".join(g1.joint_names))
    for fill in (False, True):
        with pytest.raises(InputError, match="joints where the root should be") as caught:
            Motion.read(path, g1, fps=30, fill_missing=fill)
        assert caught.value.code == "bad_header"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace(",", ";"), "separated by semicolons"),
        (lambda text: text.replace(",", "\t"), "separated by tabs"),
        (lambda text: text.replace(",", ";").replace(".", ","), "separated by semicolons"),
        (lambda text: text.replace(".", ","), "Decimal commas"),
        (lambda text: "(dp0\nVfps\np1\nI30\ns.", "a pickle written as text"),
    ],
)
def test_another_dialect_is_named(
    change: Callable[[str], str], told: str, g1: Robot, walk: Motion, tmp_path: Path
) -> None:
    path = written(tmp_path / "walk.csv", table(walk))
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=told):
        Motion.read(path, g1, fps=30)


def test_a_frame_rate_that_nobody_stated_is_told_once(walk: Motion, tmp_path: Path, capsys: Said) -> None:
    for name in ("a", "b"):
        written(tmp_path / f"{name}.csv", table(walk) + (name == "b") * 1e-3)
    for words in (["check", str(tmp_path), "--all"], ["corpus", "build", str(tmp_path / "new"), str(tmp_path)]):
        main(words)
        assert "2 clip(s) state no frame rate; 30 Hz was assumed" in capsys.readouterr().err
        main([*words, "--fps", "50"])
        assert "assumed" not in capsys.readouterr().err


@pytest.mark.parametrize("to", [["o.npz", "--to-fps", "15"], ["o.pkl"], ["o.npz", "--to", "mjlab"]])
@pytest.mark.parametrize("column", [4, 9])
def test_a_broken_frame_is_named_and_nothing_written(
    column: int, to: list[str], walk: Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.chdir(tmp_path)
    values = table(walk)
    values[5, column] = np.nan
    written(tmp_path / "walk.csv", values)
    code = main(["convert", "walk.csv", *to, "--fps", "60"])
    said = capsys.readouterr().err
    assert "unexpected" not in said
    if column == 4 or "mjlab" in to:  # of a joint the rest can be written as it is
        assert code == 2 and "frame 5" in said and not Path(to[0]).exists()


DEEP = b"\x85" * 100_000


@pytest.mark.parametrize(
    ("program", "told"),
    [
        (b"\x80\x02})" + DEEP + b"K\x01s.", "keys"),
        (b"\x80\x02}()" + DEEP + b"K\x01u.", "keys"),
        (b"\x80\x02()" + DEEP + b"K\x01d.", "keys"),
        (b"\x80\x04\x8f()" + DEEP + b"\x90.", "a set"),
        (b"\x80\x02]K\x01K\x02s.", "keys"),
    ],
)
def test_a_key_that_would_crash_the_hash_is_refused(program: bytes, told: str) -> None:
    with pytest.raises(InputError, match=told):
        load_plain(program)


def test_ordered_dictionaries_come_back_in_their_order() -> None:
    from collections import OrderedDict

    content = OrderedDict([("b", 1), ("a", {2: "x", b"c": None})])
    for protocol in range(1, 6):
        found = load_plain(pickle.dumps(content, protocol))
        assert list(found.items()) == list(content.items())


def test_an_array_shared_by_many_rows_is_not_unfolded(g1: Robot, tmp_path: Path) -> None:
    """Half a megabyte that would be sixteen gigabytes."""
    path = tmp_path / "walk.pkl"
    path.write_bytes(pickle.dumps({"fps": 30, "loop_mode": 0, "frames": [np.zeros(65536)] * 32768}))
    with pytest.raises(InputError, match="'frames' is too large"):
        Motion.read(path, g1)


def test_linked_folders_are_followed_once(walk: Motion, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "links").mkdir()
    walk.write(tmp_path / "data" / "walk.npz")
    (tmp_path / "links" / "data").symlink_to(tmp_path / "data")
    (tmp_path / "data" / "round").symlink_to(tmp_path / "links")
    assert [path.name for path in find_motion_files([tmp_path / "links"])] == ["walk.npz"]


def test_a_folder_that_may_not_be_looked_into_is_told(
    walk: Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Root may look into everything, so the refusal is made up."""
    walk.write(tmp_path / "walk.npz")

    def closed(top: Any, onerror: Callable[[OSError], None], **_: Any) -> Any:
        onerror(PermissionError(13, "Permission denied", str(tmp_path / "closed")))
        return iter(())

    monkeypatch.setattr(os, "walk", closed)
    with pytest.raises(InputError, match="closed: cannot look into it: Permission denied") as caught:
        find_motion_files([tmp_path])
    assert caught.value.code == "unreadable"


def test_an_unset_variable_is_not_the_current_folder(capsys: Said) -> None:
    assert main(["check", ""]) == 2
    assert "an empty word" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["takes[old]", "[bold]", "[/b]"])
def test_names_are_shown_as_they_are(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said) -> None:
    monkeypatch.chdir(tmp_path)  # long paths are folded
    folder = Path(name.replace("/", "_"))
    folder.mkdir()
    (folder / "walk.csv").write_text(f"{name},1\n{name},2")
    assert main(["check", str(folder)]) == 1
    said = capsys.readouterr().out
    assert f"{folder.name}/walk.csv" in said and f"'{name}'" in said


def test_a_name_that_is_no_text_is_told_all_the_same(walk: Motion, tmp_path: Path, capfd: Any) -> None:
    path = tmp_path / os.fsdecode(b"gr\xfc.npz")
    with path.open("wb") as handle:
        walk.write(tmp_path / "walk.npz")
        handle.write((tmp_path / "walk.npz").read_bytes())
    before = sys.stdout.errors
    try:
        for words in (["check", str(path), "--all"], ["check", str(path), "--json"]):
            assert main(words) == 0
            assert "unexpected" not in capfd.readouterr().err
    finally:
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors=before)


@pytest.mark.parametrize(
    "words",
    [
        ["check", "clips", "--fps", "0"],
        ["check", "clips", "--jump-speed", "nan"],
        ["corpus", "build", "c", "clips", "--shard-rows", "0"],
    ],
)
def test_an_impossible_option_is_refused_before_any_file_is_read(
    words: list[str], walk: Motion, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clips").mkdir()
    walk.write(Path("clips/walk.npz"))
    assert main(words) == 2
    said = capsys.readouterr()
    assert "unexpected" not in said.err and "walk.npz" not in said.out and not Path("c").exists()


def test_an_addition_of_nothing_usable_is_refused_and_changes_nothing(
    g1: Robot, walk: Motion, tmp_path: Path, capsys: Said
) -> None:
    walk.write(tmp_path / "walk.npz")
    (tmp_path / "bad.csv").write_text("1,2\n3,4")
    corpus = tmp_path / "corpus"
    assert main(["corpus", "build", str(corpus), str(tmp_path / "walk.npz")]) == 0
    before = (corpus / "manifest.json").read_bytes()
    assert main(["corpus", "add", str(corpus), str(tmp_path / "bad.csv")]) == 2
    assert "no clip passed its checks, 1 left out" in capsys.readouterr().err
    assert (corpus / "manifest.json").read_bytes() == before
    (tmp_path / "again.npz").write_bytes((tmp_path / "walk.npz").read_bytes())
    assert main(["corpus", "add", str(corpus), str(tmp_path / "again.npz")]) == 0  # what is there already is no fault


def test_a_refused_corpus_leaves_nothing_behind(walk: Motion, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    walk.write(data / "walk.npz")
    (tmp_path / "bad.csv").write_text("1,2\n3,4")
    assert main(["corpus", "build", str(data), str(data)]) == 2
    assert [path.name for path in data.iterdir()] == ["walk.npz"]
    assert main(["corpus", "build", str(tmp_path / "new"), str(tmp_path / "bad.csv")]) == 2
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("stop", [np.inf, np.nan])
def test_a_trim_without_end_is_refused(stop: float, walk: Motion) -> None:
    with pytest.raises(InputError, match="cannot trim"):
        trim(walk, 0.1, stop)


@pytest.mark.parametrize(
    ("clip", "label"), [("", "a/walk_all.pkl"), ("walk_all", "a/walk_all.pkl"), ("walk", "a/walk_all.pkl:walk")]
)
def test_a_clip_is_told_from_its_file_by_its_whole_name(clip: str, label: str) -> None:
    assert FileReport("a/walk_all.pkl", clip, 1, 30.0, ()).label == label


def test_thresholds_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(InputError, match="no such fast_speed"):
        CheckConfig(fast_speed=-1.0)
