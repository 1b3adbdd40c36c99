"""gzip and zlib around a file: right, wrong, twice, and unpacking to more than may be."""

from __future__ import annotations

import functools
import gzip
import zlib
from random import Random

from tests.fuzz.arrays import LIMIT
from tests.fuzz.drafts import Change


@functools.cache
def _zeros(megabytes: int, gzipped: bool) -> bytes:
    data = b"\0" * (megabytes * 2**20)
    return gzip.compress(data, 1, mtime=0) if gzipped else zlib.compress(data, 1)


def gzipped(random: Random, data: bytes) -> bytes:
    return gzip.compress(data, 1, mtime=0)


def gzipped_in_parts(random: Random, data: bytes) -> bytes:
    place = random.randint(0, len(data))
    middle = random.choice((b"", b"\0" * 100, b"x"))
    return gzip.compress(data[:place], 1, mtime=0) + middle + gzip.compress(data[place:], 1, mtime=0)


def gzip_bomb(random: Random, data: bytes) -> bytes:
    megabytes = LIMIT // 2**20
    return random.choice(
        (_zeros(megabytes + 1, True), _zeros(1, True) * random.choice((2, 2 * megabytes)), gzip.compress(data) * 50)
    )


def gzip_cut(random: Random, data: bytes) -> bytes:
    packed = gzip.compress(data, 1, mtime=0)
    return packed[: random.randint(2, len(packed) - 1)]


def zlibbed(random: Random, data: bytes) -> bytes:
    return zlib.compress(data, random.choice((0, 1, 6, 9)))


def zlib_bomb(random: Random, data: bytes) -> bytes:
    return random.choice((_zeros(LIMIT // 2**20 + 1, False), _zeros(1, False), zlib.compress(zlib.compress(data))))


def zlib_cut(random: Random, data: bytes) -> bytes:
    packed = zlib.compress(data, 1)
    return packed[: random.randint(2, len(packed) - 1)]


def zlib_and_more(random: Random, data: bytes) -> bytes:
    return zlib.compress(data, 1) + random.choice((b"\0", b"more", zlib.compress(data)))


def many_parts(random: Random, data: bytes) -> bytes:
    return (
        gzip.compress(data, 1, mtime=0)
        + random.choice((b"", b"\0" * 9))
        + _nothing() * random.choice((9, 900, 110_000))
    )


@functools.cache
def _nothing() -> bytes:
    return gzip.compress(b"", mtime=0)


GZIP: tuple[Change, ...] = (gzipped, gzipped, gzipped_in_parts, gzip_bomb, gzip_cut, many_parts)
ZLIB: tuple[Change, ...] = (zlibbed, zlibbed, zlib_bomb, zlib_cut, zlib_and_more, gzipped)
