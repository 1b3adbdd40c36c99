"""csv motions: Unitree's with and without a header, BONES-SEED's; cells, layout and packing change."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from random import Random

from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.robots import Robot
from tests.conftest import RawFiles
from tests.fuzz.drafts import Change, Stage, develop
from tests.fuzz.kinds import Kind
from tests.fuzz.kinds.motions import FRAMES, read
from tests.fuzz.packing import GZIP
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.trees import TEXTS

Table = list[list[str]]
FILE = "clip.csv"
CELLS = (
    *("", " ", "nan", "NaN", "-inf", "inf", "Infinity", "1e999", "-1e999", "1e300", "-1e39", "1e-400"),
    *("9" * 400, "0." + "1" * 400),
    *("0x1p3", "1_000", "1,5", "1;5", "'1'", '"1"', '"', "1 2", "--1", "+1", ".", "e5", "1e", "1.2.3", "٣"),
    *("−1", "1j", "True", "None"),
    *("#1", "1#", "=1+1", "1e5", "100000", "-1", "0", "180", "1e9", "1\0", "\x1b[2J", "nan(1)", "1d5", "1\r", "１"),
)  # fmt: skip
NAMES = (
    "",
    "x",
    "root_translateX",
    "left_knee_joint_dof",
    "left_knee_joint",
    "Frame",
    "1",
    "qw",
    "left_knee",
    "\x1b[31m",
    "w",
    "time",
)


def make_kind(name: str, scratch: Path) -> Kind:
    robot = Robot.load("g1")
    walk = embedded_motion("walk", robot).frames(0, FRAMES)
    return Kind(partial(_make, _tables(walk)), partial(read, robot, FILE), (FILE,))


def _tables(walk: Motion) -> list[Table]:
    header = ["x", "y", "z", "qx", "qy", "qz", "qw", *walk.joint_names]
    files = (RawFiles.unitree_csv(walk), RawFiles.unitree_csv(walk, header=header), RawFiles.bones_seed(walk))
    return [[line.split(",") for line in file.decode().splitlines()] for file in files]


def _make(tables: list[Table], random: Random) -> tuple[Files, tuple[str, ...]]:
    table = [list(row) for row in random.choice(tables)]
    stages = (
        Stage(4, CELLS_AND_COLUMNS, _to_text),
        Stage(2.5, LAYOUT),
        Stage(1, GZIP),
        Stage(0.5, BYTES, lambda data: {FILE: data}),
        Stage(0.2, PLACES),
    )
    return develop(random, table, stages)


def _to_text(table: Table) -> bytes:
    return ("\n".join(",".join(row) for row in table) + "\n").encode("utf-8", "surrogatepass")


def odd_cell(random: Random, table: Table) -> Table:
    if table and (row := random.choice(table)):
        row[random.randrange(len(row))] = random.choice(CELLS)
    return table


def odd_column(random: Random, table: Table) -> Table:
    column, odd = random.randrange(36), random.choice(CELLS)
    for row in table[1:]:
        row[column : column + 1] = [odd]
    return table


def odd_name(random: Random, table: Table) -> Table:
    if table and table[0]:
        table[0][random.randrange(len(table[0]))] = random.choice((*NAMES, *TEXTS, *table[0]))
    return table


def lost_column(random: Random, table: Table) -> Table:
    start, count = random.randrange(37), random.choice((1, 1, 6, 7, 30))
    return [row[:start] + row[start + count :] for row in table]


def more_columns(random: Random, table: Table) -> Table:
    start, cells = random.randrange(38), [random.choice(("0", "1.5", "x", ""))] * random.choice((1, 1, 2, 36, 2000))
    return [row[:start] + cells + row[start:] for row in table]


def ragged_row(random: Random, table: Table) -> Table:
    if table:
        row = random.choice(table)
        row[:] = random.choice((row[:-1], [*row, "0"], [], [""], row * 2, row[:1]))
    return table


def lost_rows(random: Random, table: Table) -> Table:
    return random.choice((table[:1], table[1:], table[:-1], table[::-1], table[1:2], []))


def more_rows(random: Random, table: Table) -> Table:
    return table + table[-1:] * random.choice((1, 100, 500)) if table else table


def another_header(random: Random, table: Table) -> Table:
    width = len(table[0]) if table else 36
    return [[random.choice((*NAMES, f"joint{place}")) for place in range(width)], *table]


def turned(random: Random, table: Table) -> Table:
    return [list(column) for column in zip(*table, strict=False)]


CELLS_AND_COLUMNS: tuple[Change, ...] = (
    *(odd_cell, odd_cell, odd_cell, odd_column, odd_name, lost_column, more_columns, ragged_row, lost_rows, more_rows),
    *(another_header, turned),
)


def other_separator(random: Random, text: bytes) -> bytes:
    return text.replace(b",", random.choice((b";", b"\t", b", ", b" , ", b" ", b",,", b"\x1f", b"|")))


def other_line_ends(random: Random, text: bytes) -> bytes:
    return text.replace(
        b"\n", random.choice((b"\r\n", b"\r", b"\n\n", b"\n \n", b"\0\n", b"\x0b", b"\xe2\x80\xa8", b" \r\n"))
    )


def other_ending(random: Random, text: bytes) -> bytes:
    return text.rstrip(b"\n") + random.choice(
        (b"", b"\n\n", b" ", b"\0\0", b"\n#", b"\n,", b",", b"\r\r\n", b"\n" * 3000, b"\n\x1a")
    )


def other_encoding(random: Random, text: bytes) -> bytes:
    plain = text.decode("utf-8", "replace")
    encoded = (
        plain.encode("utf-16"),
        plain.encode("utf-16-le"),
        b"\xef\xbb\xbf" + text,
        b"\xff\xfe" + text,
        plain.encode("utf-32"),
    )
    return random.choice((*encoded, text.replace(b"0", b"\xff", 1), b"\xef\xbb\xbf\xef\xbb\xbf" + text))


def other_start(random: Random, text: bytes) -> bytes:
    starts = (
        b"\n",
        b"#",
        b" ",
        b'"',
        b"sep=,\n",
        b"<html>",
        b"(dp0\n",
        b"\x1a",
        b"0,",
        b"\n\n\n",
        b"//\n",
        b"x" * 70_000,
        b"%YAML\n",
    )
    return random.choice(starts) + text


def quoted(random: Random, text: bytes) -> bytes:
    return random.choice(
        (b'"' + text.replace(b",", b'","'), text.replace(b"\n", b'\n"', 1), text.replace(b"0", b'"0"', 5))
    )


def decimal_commas(random: Random, text: bytes) -> bytes:
    return text.replace(b".", b",")


def one_long_line(random: Random, text: bytes) -> bytes:
    return text.replace(b"\n", b",") + b"0," * random.choice((1, 10_000))


LAYOUT: tuple[Change, ...] = (
    *(
        other_separator,
        other_line_ends,
        other_ending,
        other_encoding,
        other_start,
        quoted,
        decimal_commas,
        one_long_line,
    ),
)
