"""A journal of what is done: one line of JSON per item, so that a run killed at any moment can go on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.files import disk_errors, write_atomically
from pfmhr.foreign import MAX_FILE_BYTES, read_file

_KIND = "pfmhr journal"


class Journal:
    """Results by key, in a file that only grows. A last line that was cut is forgotten, and its item done again."""

    def __init__(self, path: Path, purpose: str) -> None:
        """Open or begin a journal.

        Args:
            purpose: what the run is, such as its settings in one line; a journal of another one is refused.
        """
        self._path, self._results = path, dict[str, Any]()
        header = {"kind": _KIND, "purpose": purpose}
        try:
            lines = read_file(path, MAX_FILE_BYTES).split(b"\n")
        except FileNotFoundError:
            self._begin([header])
            return
        found = _parsed(lines[0])
        if found is None or found.get("kind") != _KIND:
            raise InputError("not a journal of ours", where=path, fix="Choose another folder.", code="exists")
        if found.get("purpose") != purpose:
            raise InputError(
                "this folder was begun with other settings",
                where=path,
                expected=purpose,
                got=found.get("purpose"),
                fix="Choose another folder.",
                code="exists",
            )
        records = [record for line in lines[1:] if (record := _parsed(line)) is not None and "key" in record]
        self._results = {record["key"]: record.get("result") for record in records}
        whole = len(records) == len(lines) - 2 and not lines[-1]
        if not whole:
            self._begin([header, *({"key": key, "result": result} for key, result in self._results.items())])

    def __contains__(self, key: str) -> bool:
        return key in self._results

    def __getitem__(self, key: str) -> Any:
        return self._results[key]

    def __len__(self) -> int:
        return len(self._results)

    def record(self, key: str, result: Any) -> None:
        """Write down that an item is done; on disk when this returns."""
        self._results[key] = result
        line = json.dumps({"key": key, "result": result}, ensure_ascii=False) + "\n"
        with disk_errors(self._path), open(self._path, "ab") as handle:
            handle.write(line.encode())
            handle.flush()
            os.fsync(handle.fileno())

    def forget(self, key: str) -> None:
        """Let an item be done again, in this run or the next."""
        self._results.pop(key, None)

    def _begin(self, lines: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        write_atomically(self._path, lambda handle: handle.write(text.encode()))


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
