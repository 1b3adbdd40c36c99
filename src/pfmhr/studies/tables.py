"""A study's result on disk."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from pfmhr.files import make_folder, write_atomically, write_json
from pfmhr.provenance import provenance
from pfmhr.results.columns import Line


def write_study(folder: Path, name: str, result: Mapping[str, object], table: Sequence[Line]) -> None:
    """``name.json`` (with command, versions and machine) and ``name.csv``."""
    make_folder(folder)
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(table[0]))
    writer.writeheader()
    writer.writerows(table)
    write_atomically(folder / f"{name}.csv", lambda handle: handle.write(text.getvalue().encode()))
    write_json(folder / f"{name}.json", {**result, **provenance()})
