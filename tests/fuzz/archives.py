"""npz files, written by hand: archives that no library would make."""

from __future__ import annotations

import functools
import struct
import zlib
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from tests.fuzz.arrays import LIMIT, Arrays, Npy
from tests.fuzz.drafts import Change


@dataclass(frozen=True)
class Entry:
    """One member of a zip; ``lies`` stand in the place of what is true in its headers."""

    name: bytes
    data: bytes
    method: int = 0
    lies: dict[str, int] = field(default_factory=dict)
    payload: bytes | None = None
    """The packed bytes, where they are known."""


def entries_of(arrays: Arrays) -> list[Entry]:
    packed = 8 if len(arrays) % 2 else 0
    return [Entry(f"{name}.npy".encode(errors="replace"), npy.encode(), packed) for name, npy in arrays.items()]


def to_zip(entries: list[Entry]) -> bytes:
    body, directory = bytearray(), bytearray()
    for entry in entries:
        payload = entry.payload if entry.payload is not None else _packed(entry.data, entry.method)
        known = {"version": 20, "flags": 0, "method": entry.method, "crc": zlib.crc32(entry.data), "extra": 0,
                 "packed": len(payload), "size": len(entry.data), "offset": len(body), **entry.lies}  # fmt: skip
        middle = struct.pack(
            "<HHHHHIIIHH", known["version"], known["flags"], known["method"], 0, 33, known["crc"], known["packed"],
            known["size"], len(entry.name), known["extra"],
        )  # fmt: skip
        body += b"PK\x03\x04" + middle + entry.name + payload
        directory += b"PK\x01\x02" + struct.pack("<H", 20) + middle + struct.pack("<HHHII", 0, 0, 0, 0, known["offset"])
        directory += entry.name
    count = min(len(entries), 65_535)
    end = struct.pack("<HHHHIIH", 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + b"PK\x05\x06" + end)


def _packed(data: bytes, method: int) -> bytes:
    if method != 8:
        return data
    packer = zlib.compressobj(1, wbits=-15)
    return packer.compress(data) + packer.flush()


@functools.cache
def _bomb(megabytes: int) -> tuple[bytes, int, int]:
    """An array of zeros, packed: the bytes, how long it is, its checksum."""
    columns = 36
    rows = megabytes * 2**20 // columns
    data = Npy("'|i1'", "False", f"({rows}, {columns})", b"\0" * (rows * columns)).encode()
    return _packed(data, 8), len(data), zlib.crc32(data)


def bomb(random: Random, entries: list[Entry]) -> list[Entry]:
    """More than may be unpacked; sometimes it claims to be small."""
    payload, size, crc = _bomb(40)
    lies = {"size": size if random.random() < 0.5 else random.choice((128, LIMIT - 10_000)), "crc": crc}
    name = random.choice([entry.name for entry in entries] or [b"qpos.npy"])
    return [entry for entry in entries if entry.name != name] + [Entry(name, b"", 8, lies, payload)]


def lying_entry(random: Random, entries: list[Entry]) -> list[Entry]:
    lies = random.choice(
        (
            {"size": 0}, {"size": 2**32 - 1}, {"size": 2**32 - 2}, {"size": 100}, {"packed": 0},
            {"packed": 2**32 - 1}, {"crc": 0},
            {"flags": 1}, {"flags": 8}, {"flags": 0x800}, {"flags": 0x40}, {"flags": 0x20}, {"offset": 0},
            {"offset": 2**32 - 1},
            {"method": 8}, {"method": 9}, {"method": 12}, {"method": 14}, {"method": 93}, {"method": 0}, {"extra": 500},
            {"version": 63}, {"version": 1000},
        )
    )  # fmt: skip
    return _with(random, entries, lambda entry: replace(entry, lies={**entry.lies, **lies}))


def odd_member_name(random: Random, entries: list[Entry]) -> list[Entry]:
    names = (
        *(
            b"",
            b".npy",
            b"x",
            b"folder/",
            b"../up.npy",
            b"/etc/x.npy",
            b"\x1b[2J.npy",
            b"\xff\xfe.npy",
            b"a" * 60_000 + b".npy",
        ),
        *(b"joint_pos", b"joint_pos.npy\0.npy", b"JOINT_POS.npy", "é.npy".encode(), b"fps.npy.npy"),
    )
    return _with(random, entries, lambda entry: replace(entry, name=random.choice(names)))


def twice_member(random: Random, entries: list[Entry]) -> list[Entry]:
    if not entries:
        return entries
    return [*entries, random.choice(entries)]


def many_members(random: Random, entries: list[Entry]) -> list[Entry]:
    count = random.choice((100, 1000))
    one = Npy.of(1.0).encode()
    return [*entries, *(Entry(f"x{number}.npy".encode(), one) for number in range(count))]


def other_packing(random: Random, entries: list[Entry]) -> list[Entry]:
    return _with(
        random, entries, lambda entry: replace(entry, method=8 - entry.method if entry.method in (0, 8) else 0)
    )


def foreign_member(random: Random, entries: list[Entry]) -> list[Entry]:
    return _with(
        random, entries, lambda entry: replace(entry, data=random.choice((b"", b"text", b"\x80\x04N.", b"\x93NUMPY")))
    )


def _with(random: Random, entries: list[Entry], change: Any) -> list[Entry]:
    changed = list(entries)
    if changed:
        place = random.randrange(len(changed))
        changed[place] = change(changed[place])
    return changed


ARCHIVE: tuple[Change, ...] = (
    *(lying_entry, lying_entry, lying_entry, odd_member_name, twice_member, other_packing, foreign_member),
    *(bomb, many_members),
)
