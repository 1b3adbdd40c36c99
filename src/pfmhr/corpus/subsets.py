"""Nested, balanced subsets: the paper's 15 M ⊂ 30 M ⊂ 60 M, for any sizes.

Each category's poses have one random order, fixed by the seed. A subset takes a prefix of every
order, the same length from each category until one runs out. Prefixes nest, so subsets of one seed
nest, and the small ones are balanced.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.corpus.corpus import PoseCorpus
from pfmhr.corpus.manifest import Manifest, Shard, Source
from pfmhr.corpus.shards import SHARD_ROWS, append_rows
from pfmhr.corpus.writing import write_once
from pfmhr.errors import InputError, unknown_name


def quotas(available: dict[str, int], size: int) -> dict[str, int]:
    """How many poses to take from each category: equal shares, what one lacks spread over the others.

    Every quota grows with ``size``, which is what makes subsets nest.
    """
    # The highest level that can be taken from every category that has as much, then one more here and there.
    heights = range(max(available.values(), default=0) + 1)
    level = bisect_right(heights, size, key=lambda height: sum(min(count, height) for count in available.values())) - 1
    quota = {name: min(count, level) for name, count in available.items()}
    unexhausted = sorted(name for name, count in available.items() if count > level)
    for name in unexhausted[: size - sum(quota.values())]:
        quota[name] += 1
    return quota


def make_subset(
    corpus: PoseCorpus,
    directory: Path,
    size: int,
    seed: int = 0,
    stratify: bool = True,
    categories: Sequence[str] | None = None,
) -> PoseCorpus:
    """Write a subset of ``size`` poses as a corpus of its own, rows in the order of the original.

    Args:
        stratify: balance over categories; otherwise every pose is equally likely.
        categories: take poses from these only.
    """
    manifest = corpus.manifest
    available = _available(manifest, categories, stratify)
    total = sum(available.values())
    if not 1 <= size <= total:
        raise InputError(
            "no subset of that size", where=corpus.path, expected=f"1 to {total:,}", got=f"{size:,}", code="bad_size"
        )
    settings = {
        "subset_of": manifest.fingerprint,
        "additions": list(manifest.additions),
        "size": size,
        "seed": seed,
        "stratify": stratify,
        "categories": sorted(categories) if categories else None,
    }
    mark = f"subset-{zlib.crc32(repr(settings).encode()):08x}-{manifest.fingerprint[:16]}"
    empty = Manifest(manifest.robot, manifest.joint_names, mark, settings)

    def write() -> Manifest:
        chosen = _choose(manifest, available, size, seed, stratify, categories)
        return _copy(corpus, chosen, directory, empty)

    return write_once(directory, empty, write)


def _available(manifest: Manifest, categories: Sequence[str] | None, stratify: bool) -> dict[str, int]:
    counts = manifest.categories
    for name in categories or ():
        if name not in counts:
            raise unknown_name("category", name, sorted(counts))
    kept = {name: count for name, count in counts.items() if not categories or name in categories}
    return kept if stratify else {"": sum(kept.values())}


def _choose(
    manifest: Manifest,
    available: dict[str, int],
    size: int,
    seed: int,
    stratify: bool,
    categories: Sequence[str] | None,
) -> NDArray[np.bool_]:
    """A mask over all rows."""
    chosen = np.zeros(manifest.poses, dtype=bool)
    for group, quota in quotas(available, size).items():
        members = [
            source
            for source in manifest.sources
            if (source.category == group if stratify else not categories or source.category in categories)
        ]
        rows = np.concatenate([np.arange(source.start, source.start + source.rows) for source in members])
        chosen[rows[_first_in_random_order(len(rows), quota, seed, group)]] = True
    return chosen


def _first_in_random_order(count: int, quota: int, seed: int, group: str) -> NDArray[np.bool_]:
    """Which of ``count`` rows are among the first ``quota`` in the order drawn for this seed and group."""
    keys = np.random.Philox(key=[seed & (2**64 - 1), zlib.crc32(group.encode())]).random_raw(count)
    if quota >= count:
        return np.ones(count, dtype=bool)
    # 64-bit keys of fewer than 2^32 rows practically never tie, and a tie would only swap two rows.
    threshold = np.partition(keys, quota)[quota]
    return keys < threshold


def _copy(corpus: PoseCorpus, chosen: NDArray[np.bool_], directory: Path, empty: Manifest) -> Manifest:
    rows = np.flatnonzero(chosen)
    shards: list[Shard] = []
    for start in range(0, len(rows), SHARD_ROWS):
        shards.append(append_rows(directory, start, [corpus.rows(rows[start : start + SHARD_ROWS])]))
    sources: list[Source] = []
    position = 0
    for source in corpus.sources:
        taken = int(chosen[source.start : source.start + source.rows].sum())
        if taken:
            whole = taken == source.rows  # a part of a clip is no copy of it
            sources.append(replace(source, start=position, rows=taken, digest=source.digest if whole else ""))
            position += taken
    return replace(empty, shards=tuple(shards), sources=tuple(sources))
