"""A corpus: its manifest and two shards."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.manifest import Manifest, Shard, Source, save
from pfmhr.corpus.shards import write_shard
from tests.fuzz.arrays import NPY, Npy
from tests.fuzz.documents import JSON_TREE, TEXT, to_json
from tests.fuzz.drafts import Change, Stage, at, develop, then
from tests.fuzz.kinds import Kind
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.typed import ill_typed

FILE = "manifest.json"
ROWS = (5, 3)


def make_kind(name: str, scratch: Path) -> Kind:
    tables = [np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) / 10 for rows in ROWS]
    shards = tuple(write_shard(scratch, number, [table]) for number, table in enumerate(tables))
    sources = (
        Source("a.csv", "walk", 0, 5, 30.0, "0" * 16),
        Source("b.csv", "run", 5, 3, 30.0, "1" * 16, notes=("x",)),
    )
    save(Manifest("leg", ("hip", "knee", "ankle"), "f" * 64, {"from": "array"}, shards, sources), scratch)
    files = {shard.file: (scratch / shard.file).read_bytes() for shard in shards}
    arrays = {shard.file: table for shard, table in zip(shards, tables, strict=True)}
    return Kind(partial(_make, (scratch / FILE).read_bytes(), files, arrays), _read, (FILE, *files))


def _make(
    manifest: bytes, files: dict[str, bytes], arrays: dict[str, Any], random: Random
) -> tuple[Files, tuple[str, ...]]:
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
        Stage(0.4, at("shard-00000.npy", BYTES)),
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
