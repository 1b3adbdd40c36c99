"""The table of formats, and one of a user's own, named as package.module:Class."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pfmhr.cli import main
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.formats.catalogue import BY_SUFFIX, FORMATS, WRITTEN, format_row
from pfmhr.robots import Robot

EXAMPLES = Path(__file__).parents[2] / "examples"
OWN = "own_format:Degrees"


@pytest.fixture(autouse=True)
def examples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


def test_the_table_says_what_is_written_and_under_which_names() -> None:
    assert WRITTEN == ("pfmhr", "mjlab", "unitree_csv", "mimickit")
    assert BY_SUFFIX == {".npz": "pfmhr", ".csv": "unitree_csv", ".pkl": "mimickit"}
    assert all(format_row(name) is row and row.name == name for name, row in FORMATS.items())


def test_the_example_writes_degrees_and_reads_them(walk: Motion, g1: Robot, tmp_path: Path) -> None:
    path = tmp_path / "walk.txt"
    walk.write(path, format=OWN)
    second = np.array(path.read_text().splitlines()[2].split(), dtype=float)
    assert second[7:] == pytest.approx(np.rad2deg(walk.joint_pos[1]), abs=1e-3)
    again = Motion.read(path, g1, fps=walk.fps, format=OWN)
    assert np.allclose(again.joint_pos, walk.joint_pos, atol=1e-6) and again.joint_names == walk.joint_names
    with pytest.raises(InputError, match="no frame rate"):
        Motion.read(path, g1, format=OWN)


def test_the_command_line_converts_from_it_and_to_it(walk: Motion, g1: Robot, tmp_path: Path) -> None:
    names = [str(tmp_path / name) for name in ("a.npz", "b.txt", "c.npz")]
    walk.write(names[0])
    assert main(["convert", *names[:2], "--to", OWN]) == 0
    assert main(["convert", *names[1:], "--format", OWN, "--fps", f"{walk.fps:g}"]) == 0
    assert np.allclose(Motion.read(names[2], g1).joint_pos, walk.joint_pos, atol=1e-6)


def test_what_it_cannot_read_says_where(g1: Robot, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_text("left right\n1 2 3\n")
    with pytest.raises(InputError, match=r"bad.txt: wrong number of columns \(expected 9, got 3\)"):
        Motion.read(tmp_path / "bad.txt", g1, fps=30, format=OWN)
    (tmp_path / "bad.txt").write_text("left right\nmany words here\n")
    with pytest.raises(InputError, match=r"bad.txt: damaged content"):
        Motion.read(tmp_path / "bad.txt", g1, fps=30, format=OWN)


def test_a_class_that_neither_reads_nor_writes_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walk: Motion, g1: Robot
) -> None:
    (tmp_path / "half.py").write_text("class Nothing: pass\nclass Out:\n    def write(self, *about): pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(InputError, match="half:Nothing: a format has a method read or write"):
        walk.write(tmp_path / "x", format="half:Nothing")
    walk.write(tmp_path / "x.npz")
    with pytest.raises(InputError, match="'half:Out' can be written but not read"):
        Motion.read(tmp_path / "x.npz", g1, format="half:Out")


def test_an_unknown_format_is_refused_with_those_there_are(walk: Motion, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"format 'mimikit'. Did you mean 'mimickit'\? .*package.module"):
        walk.write(tmp_path / "x.npz", format="mimikit")
