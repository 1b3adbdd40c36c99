"""Which poses are for training and which are held out: decided per source, never per pose.

Neighbouring frames are nearly the same pose. Were they on both sides of the split, a held-out loss
would measure memory.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass

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


def split_by_source(corpus: PoseCorpus, fraction: float, seed: int, held_out: Collection[Sequence[str]] = ()) -> Split:
    """Hold out about ``fraction`` of the sources, chosen by a hash of their names.

    A source keeps its side when the corpus grows, but for one that was held out because at least one has to be: a
    prior that is extended names those of its first training as ``held_out``, path and clip of each, and they stay
    so. A corpus of one source, as made from an array, is cut near its end instead.
    """
    if not 0.0 < fraction < 1.0:
        raise InputError("the held-out share must lie between 0 and 1", got=fraction, code="bad_config")
    if len(corpus) < 2:
        raise InputError("too few poses to hold any out", where=corpus.path, got=len(corpus), code="too_short")
    if len(corpus.sources) == 1:
        kept = max(1, min(len(corpus) - 1, round(len(corpus) * (1.0 - fraction))))
        return Split(RowSet.of([(0, kept)]), RowSet.of([(kept, len(corpus) - kept)]))
    ranks = [_rank(source, seed) for source in corpus.sources]
    known = {tuple(each) for each in held_out}
    before = [(source.path, source.clip) in known for source in corpus.sources]
    threshold = fraction if any(before) else max(fraction, min(ranks) + 1e-12)  # at least one source is held out …
    if max(ranks) < threshold:
        threshold = max(ranks)  # … and at least one is not
    sides: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
    for source, rank, was in zip(corpus.sources, ranks, before, strict=True):
        sides[was or rank < threshold].append((source.start, source.rows))
    return Split(RowSet.of(sides[0]), RowSet.of(sides[1]))


def _rank(source: Source, seed: int) -> float:
    return zlib.crc32(f"{seed}\0{source.path}\0{source.clip}".encode(errors="backslashreplace")) / 2**32
