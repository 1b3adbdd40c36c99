"""A corpus: its manifest and poses, in one file or, as the first format has them, in two."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.manifest import Manifest, Shard, Source, save
from pfmhr.corpus.shards import FLAT, append_rows
from tests.fuzz.arrays import NPY, Npy
from tests.fuzz.documents import JSON_TREE, TEXT, to_json
from tests.fuzz.drafts import Change, Stage, at, develop, then
from tests.fuzz.kinds import Kind
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.typed import ill_typed

FILE = "manifest.json"
ROWS = (5, 3)


def make_kind(name: str, scratch: Path) -> Kind:
    flat, split = scratch / "flat", scratch / "split"
    for folder in (flat, split):
        folder.mkdir()
    tables = [np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) / 10 for rows in ROWS]
    shards = tuple(append_rows(flat, start, [table]) for start, table in zip((0, ROWS[0]), tables, strict=True))
    old = tuple(_save_shard(split / f"shard-{number:05d}.npy", table) for number, table in enumerate(tables))
    sources = (
        Source("a.csv", "walk", 0, 5, 30.0, "0" * 16),
        Source("b.csv", "run", 5, 3, 30.0, "1" * 16, notes=("x",)),
    )
    for folder, stretches in ((flat, shards), (split, old)):
        save(Manifest("leg", ("hip", "knee", "ankle"), "f" * 64, {"from": "array"}, stretches, sources), folder)
    first = json.loads((split / FILE).read_text()) | {"version": 1}
    (split / FILE).write_text(json.dumps(first))
    drafts = (
        _Draft.of(flat, {FLAT: np.concatenate(tables)}),
        _Draft.of(split, {shard.file: table for shard, table in zip(old, tables, strict=True)}),
    )
    return Kind(partial(_make, drafts), _read, (FILE, *(name for draft in drafts for name in draft.files)))


def _save_shard(path: Path, table: np.ndarray) -> Shard:
    np.save(path, table)
    return Shard(path.name, len(table), hashlib.sha256(path.read_bytes()).hexdigest())


@dataclass(frozen=True)
class _Draft:
    """A valid corpus of one format."""

    manifest: bytes
    files: dict[str, bytes]
    arrays: dict[str, Any]

    @staticmethod
    def of(folder: Path, arrays: dict[str, Any]) -> _Draft:
        return _Draft((folder / FILE).read_bytes(), {name: (folder / name).read_bytes() for name in arrays}, arrays)


def _make(drafts: tuple[_Draft, ...], random: Random) -> tuple[Files, tuple[str, ...]]:
    draft = random.choice(drafts)
    manifest, files, arrays = draft.manifest, draft.files, draft.arrays

    def shard_change(change: Change) -> Change:
        def changed(random: Random, draft: dict[str, Any]) -> dict[str, Any]:
            name = random.choice(list(files))
            # As long as the manifest says, mostly, so that more than its length is looked at.
            made = change(random, {name: Npy.of(arrays[name])})[name].encode()
            whole = files[name]
            return {**draft, name: made[: len(whole)].ljust(len(whole), b"\0") if random.random() < 0.7 else made}

        changed.__name__ = change.__name__
        return changed

    stages = (
        Stage(5, at(FILE, JSON_TREE), then(FILE, to_json)),
        Stage(1, at(FILE, TEXT)),
        Stage(3, tuple(map(shard_change, NPY))),
        Stage(0.4, at(FILE, BYTES)),
        Stage(0.4, at(next(iter(files)), BYTES)),
        Stage(0.2, PLACES),
    )
    return develop(random, {FILE: json.loads(manifest), **files}, stages)


def _read(folder: Path) -> str | None:
    corpus = PoseCorpus.open(folder)
    wrong = ill_typed(corpus.manifest, Manifest, "manifest")
    if wrong is not None:
        return wrong
    rows = corpus.rows(range(min(len(corpus), 20)))
    if rows.dtype != np.float32 or rows.shape != (min(len(corpus), 20), len(corpus.joint_names)):
        return f"rows {rows.shape} {rows.dtype}"
    if any(ill_typed(shard, Shard, "shard") for shard in corpus.manifest.shards):
        return "shards"
    total = sum(corpus.manifest.categories.values())
    corpus.verify()
    return None if isinstance(total, int) else f"{total} poses"
