"""Which poses are for training and which are held out: decided per source, never per pose.

Neighbouring frames are nearly the same pose. Were they on both sides of the split, a held-out loss
would measure memory.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfmhr.corpus.corpus import PoseCorpus
from pfmhr.corpus.manifest import Source
from pfmhr.errors import InputError


@dataclass(frozen=True, eq=False)
class RowSet:
    """Some rows of a corpus as ranges: a few numbers per source, however many poses."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]

    @staticmethod
    def of(ranges: Sequence[tuple[int, int]]) -> RowSet:
        """From (first row, count) pairs."""
        table = np.array(ranges, dtype=np.int64).reshape(-1, 2)
        return RowSet(table[:, 0], table[:, 1])

    def __len__(self) -> int:
        return int(self.lengths.sum())

    def rows(self, index: ArrayLike) -> NDArray[np.int64]:
        """Corpus rows of positions 0 … len − 1 within the set."""
        positions = np.asarray(index, dtype=np.int64)
        ends = np.cumsum(self.lengths)
        place = np.searchsorted(ends, positions, side="right")
        return self.starts[place] + positions - (ends - self.lengths)[place]

    def spread(self, most: int) -> NDArray[np.int64]:
        """At most ``most`` rows, evenly spread over the set."""
        return self.rows(np.unique(np.linspace(0, len(self) - 1, min(most, len(self))).astype(np.int64)))


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and held-out rows of one corpus."""

    train: RowSet
    held_out: RowSet


HeldOut = Collection[Sequence[Any]]
"""Path and clip of each source that was held out and, of one that was cut, the first of its poses that was."""


def split_by_source(corpus: PoseCorpus, fraction: float, seed: int, held_out: HeldOut = ()) -> Split:
    """Hold out about ``fraction`` of the sources, chosen by a hash of their names.

    A corpus of one source, as made from an array, is cut near its end instead. A source keeps its side when the
    corpus grows, but for one that was held out because at least one has to be, and one that was cut: a prior that is
    extended names those of its first training as ``held_out``, and they stay as they were.
    """
    if not 0.0 < fraction < 1.0:
        raise InputError("the held-out share must lie between 0 and 1", got=fraction, code="bad_config")
    if len(corpus) < 2:
        raise InputError("too few poses to hold any out", where=corpus.path, got=len(corpus), code="too_short")
    known = {(path, clip): cut[0] if cut else 0 for path, clip, *cut in held_out}
    before = [known.get((source.path, source.clip)) for source in corpus.sources]
    if len(before) == 1 and not before[0]:
        kept = max(1, min(len(corpus) - 1, round(len(corpus) * (1.0 - fraction))))
        return Split(RowSet.of([(0, kept)]), RowSet.of([(kept, len(corpus) - kept)]))
    ranks = [_rank(source, seed) for source in corpus.sources]
    some = any(cut is not None for cut in before)
    threshold = fraction if some else max(fraction, min(ranks) + 1e-12)  # at least one source is held out …
    if max(ranks) < threshold:
        threshold = max(ranks)  # … and at least one is not
    sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for source, rank, was in zip(corpus.sources, ranks, before, strict=True):
        kept = was if was is not None else 0 if rank < threshold else source.rows
        sides[0].append((source.start, min(kept, source.rows)))
        sides[1].append((source.start + kept, max(0, source.rows - kept)))
    return Split(*(RowSet.of([each for each in side if each[1]]) for side in sides))


def held_out_sources(corpus: PoseCorpus, split: Split) -> list[list[Any]]:
    """What :func:`split_by_source` needs of these sides to keep them when the corpus grows."""
    starts = [source.start for source in corpus.sources]
    names = []
    for row in split.held_out.starts.tolist():
        source = corpus.sources[bisect_right(starts, row) - 1]
        cut = [row - source.start] if row > source.start else []
        names.append([source.path, source.clip, *cut])
    return names


def _rank(source: Source, seed: int) -> float:
    return zlib.crc32(f"{seed}\0{source.path}\0{source.clip}".encode(errors="backslashreplace")) / 2**32
