"""The same command goes on; another one is refused before anything is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from pfmhr.errors import InputError
from pfmhr.resuming import differences, require_own, require_same


def test_every_setting_that_differs_is_named() -> None:
    before = {"seed": 0, "agent": {"discount": 0.99, "hidden": [256, 128]}, "gone": 1}
    now = {"seed": 0, "agent": {"discount": 0.95, "hidden": [256, 64]}, "new": 2}
    assert list(differences(before, now)) == [
        *("agent.discount 0.99 → 0.95", "agent.hidden.1 128 → 64", "new None → 2", "gone 1 → None")
    ]
    assert list(differences(before, before)) == []


def test_what_was_asked_for_before_goes_on_and_something_else_is_refused(tmp_path: Path) -> None:
    require_same({"seed": 0}, {"seed": 0}, "another run is", where=tmp_path)
    with pytest.raises(InputError) as refused:
        require_same({"seed": 0}, {"seed": 1}, "another run is", where=tmp_path)
    told = f"{tmp_path}: another run is already here (got seed 0 → 1). Name another directory."
    assert (str(refused.value), refused.value.code) == (told, "exists")


@pytest.mark.parametrize("names", [(), (".lock",), ("log", ".lock"), ("run.json", "stranger"), ("run.json.tmp",)])
def test_a_new_directory_and_our_own_are_accepted(names: tuple[str, ...], tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()
    require_own(tmp_path, {"run.json"}, "a run", allowed={"log"}, fix="Choose another.")
    require_own(tmp_path / "absent", {"run.json"}, "a run", fix="Choose another.")


def test_a_directory_of_strangers_is_refused(tmp_path: Path) -> None:
    for name in ("log", "thesis.tex"):
        (tmp_path / name).touch()
    with pytest.raises(InputError) as refused:
        require_own(tmp_path, {"run.json"}, "a run", allowed={"log"}, fix="Choose another.")
    told = f"{tmp_path}: the directory holds other files (expected a run, got thesis.tex). Choose another."
    assert (str(refused.value), refused.value.code) == (told, "not_empty")
