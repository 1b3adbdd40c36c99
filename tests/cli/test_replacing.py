"""No command writes over what it reads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pfmhr.cli import main
from pfmhr.cli.options import refuse_replacing
from pfmhr.errors import InputError
from pfmhr.motion import Motion

Capture = pytest.CaptureFixture[str]

LINES = [
    ("score walk.csv --fps 30 -o .", "walk.csv"),
    ("score clips --fps 30 -o clips", "clips/step.csv"),
    ("score clips/step.csv --fps 30 --reference walk.csv --prior g1-small -o clips", "clips/step.csv"),
    ("score clips/step.csv --fps 30 --reference scores/step.csv -o scores", "scores/step.csv"),
    ("calibrate walk.npz -o walk.npz", "walk.npz"),
    ("calibrate walk.npz -o ./clips/../walk.npz", "walk.npz"),
    ("calibrate walk.npz -o link.npz", "link.npz"),
    ("calibrate walk.npz -o hard.npz", "hard.npz"),
    ("convert walk.npz walk.npz --to-fps 50", "walk.npz"),
    ("convert walk.npz.tmp walk.npz", "walk.npz.tmp"),
    ("study timestep --prior g1-small --data timestep.csv -o .", "timestep.csv"),
    ("bench score --data walk.csv --output walk.csv", "walk.csv"),
    ("bench corpus --data clips --output clips/step.csv", "clips/step.csv"),
    ("report results/a.json -o results/a.json", "results/a.json"),
    ("report results -o results/a.json", "results/a.json"),
    ("track compare run --output run/result.json", "run/result.json"),
    ("track export run -o run/run.json", "run/run.json"),
    ("track export run -o run/motions/0000.npz", "run/motions/0000.npz"),
    ("experiment report matrix.toml --output matrix.toml", "matrix.toml"),
]


@pytest.fixture
def home(tmp_path: Path, make_walk: Callable[..., Motion], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for folder in ("clips", "scores", "results", "run/motions"):
        Path(folder).mkdir(parents=True)
    walk = make_walk(frames=20)
    for name in ("walk.npz", "walk.csv", "clips/step.csv", "scores/step.csv", "timestep.csv", "run/motions/0000.npz"):
        walk.write(name)
    Path("walk.npz.tmp").write_bytes(Path("walk.npz").read_bytes())
    Path("link.npz").symlink_to("walk.npz")
    Path("hard.npz").hardlink_to("walk.npz")
    for name in ("results/a.json", "run/run.json", "run/result.json", "matrix.toml"):
        Path(name).write_text("{}")
    return tmp_path


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("line", "named"), LINES, ids=[line for line, _ in LINES])
def test_what_is_read_is_never_written(line: str, named: str, home: Path, capsys: Capture) -> None:
    before = contents(home)
    assert main(line.split()) == 2
    assert f"{named}: this would replace what is read" in capsys.readouterr().err.replace("clips/../", "")
    assert contents(home) == before


def test_what_is_not_read_may_be_replaced(home: Path) -> None:
    refuse_replacing([Path("walk.npz"), Path("new.npz"), Path(".")], ["walk.csv", None, "g1", "clips", Path("absent")])
    with pytest.raises(InputError) as caught:
        refuse_replacing([Path("new.npz"), Path("walk.npz")], [home / "walk.npz"])
    assert caught.value.code == "replaces_input"
