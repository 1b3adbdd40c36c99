"""A bounded search through every kind of file; ``python -m tests.fuzz.run`` goes on for as long as one likes."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.fuzz.kinds import MODULES, kind_of
from tests.fuzz.run import search

CASES, SEED = 150, 2026


def test_every_case_loads_as_promised_or_is_refused_in_one_clear_sentence() -> None:
    """All kinds in one test, for they share a process: what is valid loads, most of what was changed does not."""
    accounts = search(list(MODULES), SEED, 0, CASES)
    assert {name: account.found for name, account in accounts.items()} == {name: [] for name in MODULES}
    for account in accounts.values():
        assert account.loaded + account.refused == account.cases == CASES
        assert account.loaded >= account.unchanged > 0
        assert account.refused > CASES // 2
        assert len(account.changes) > 8


@pytest.mark.parametrize("name", ["csv", "experiment"])
def test_seed_and_number_make_the_same_case_again(name: str, tmp_path: Path) -> None:
    kind = kind_of(name, tmp_path)
    first, second, other = (kind.make(Random(f"{name} {SEED} {case}")) for case in (7, 7, 8))
    assert first == second != other
