"""A study's result on disk and on screen: ours beside the paper's."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfmhr.files import make_folder, write_atomically, write_json
from pfmhr.provenance import provenance


def beside(
    rows: Sequence[Mapping[str, Any]], keys: Sequence[str], columns: Sequence[str], paper: Mapping[Any, Sequence[float]]
) -> list[dict[str, Any]]:
    """Each row with its key columns, then every figure followed by the paper's (None where it has none)."""
    table = []
    for row in rows:
        key = row[keys[0]] if len(keys) == 1 else tuple(row[name] for name in keys)
        theirs = paper.get(key, (None,) * len(columns))
        line = {name: row[name] for name in keys}
        for column, value in zip(columns, theirs, strict=True):
            line[column] = row[column]
            line[f"{column} (paper)"] = value
        table.append(line)
    return table


def cells(table: Sequence[Mapping[str, Any]], digits: int = 3) -> list[list[str]]:
    """The table as text."""

    def text(value: Any) -> str:
        if value is None:
            return "–"
        return f"{value:.{digits}f}" if isinstance(value, float) else str(value)

    return [[text(value) for value in line.values()] for line in table]


def write_study(folder: Path, name: str, result: dict[str, Any], table: Sequence[Mapping[str, Any]]) -> None:
    """``name.json`` (with command, versions and machine) and ``name.csv``."""
    make_folder(folder)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]))
    writer.writeheader()
    writer.writerows(table)
    write_atomically(folder / f"{name}.csv", lambda handle: handle.write(text.getvalue().encode()))
    write_json(folder / f"{name}.json", {**result, **provenance()})
