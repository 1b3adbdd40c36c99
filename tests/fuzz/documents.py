"""JSON and TOML, and what their texts can hold that no tree can."""

from __future__ import annotations

import json
import math
import re
from random import Random
from typing import Any

from tests.fuzz.drafts import Change
from tests.fuzz.trees import NUMBERS, Raw, odd_value, tree_changes

_MARK = "raw text "
_MARKED = re.compile(f'"{_MARK}([0-9]+)"')


def deep_json(random: Random) -> Raw:
    depth = random.choice((50, 200, 900, 1100, 5000, 100_000))
    start, end = random.choice((("[", "]"), ('{"a":', "}"), ("[", "")))
    return Raw(start * depth + ("1" if start != "[" else "") + end * depth)


def long_number(random: Random) -> Raw:
    return Raw(random.choice(("9" * 5000, "-" + "1" * 4000, "1e999", "1" + "0" * 400, "0." + "3" * 5000, "1e-999")))


def no_value(random: Random) -> Raw:
    return Raw(
        random.choice(("NaN", "-Infinity", "nan", "01", "+1", "0x10", "1_000", "'a'", "undefined", "1979-05-27"))
    )


JSON_TREE = tree_changes((deep_json, long_number, no_value))


def to_json(tree: Any) -> bytes:
    raws: list[str] = []

    def marked(value: Any) -> str:
        raws.append(value.text)
        return f"{_MARK}{len(raws) - 1}"

    text = json.dumps(tree, default=marked, indent=None)
    return _MARKED.sub(lambda found: raws[int(found[1])], text).encode("utf-8", "surrogatepass")


def twice_key(random: Random, text: bytes) -> bytes:
    keys = re.findall(rb'"([a-z_0-9]{1,30})": ', text[:5000])
    opening = random.choice([match.end() for match in re.finditer(rb"\{", text[:5000])] or [0])
    key = random.choice(keys or [b"version"])
    return text[:opening] + b'"' + key + b'": ' + to_json(odd_value(random)) + b", " + text[opening:]


def other_encoding(random: Random, text: bytes) -> bytes:
    plain = text.decode("utf-8", "replace")
    return random.choice(
        (
            b"\xef\xbb\xbf" + text, plain.encode("utf-16"), plain.encode("utf-32"), text.replace(b"a", b"\xff", 1),
            text.replace(b"e", b"\xc3\x28", 1), text.replace(b'"', b"'"), text.replace(b'"', b'"\x1b', 1),
        )
    )  # fmt: skip


def odd_layout(random: Random, text: bytes) -> bytes:
    return random.choice(
        (
            b" " * 100_000 + text, text + b"\0", text + text, b"/* */" + text, text.replace(b": ", b":\n\t\r", 3),
            text.replace(b",", b",,", 1), text.replace(b"}", b",}", 1), b"[" + text + b"]", b"[" * 200_000,
            text.replace(b"a", b"\\u0061"), text.replace(b'"', b'"\\ud800', 1),
        )
    )  # fmt: skip


TEXT: tuple[Change, ...] = (twice_key, twice_key, other_encoding, odd_layout)


def deep_toml(random: Random) -> Raw:
    depth = random.choice((50, 200, 1100, 20_000))
    return Raw(random.choice(("[" * depth + "]" * depth, "{a=" * depth + "1" + "}" * depth, "[" * depth)))


def toml_moment(random: Random) -> Raw:
    return Raw(random.choice(("1979-05-27", "1979-05-27T07:32:00Z", "07:32:00", "0xff", "1_000", "nan", "-inf", "+1")))


TOML_TREE = tree_changes((deep_toml, toml_moment, long_number))


def to_toml(tree: Any) -> bytes:
    if not isinstance(tree, dict):
        return _toml_value(tree).encode("utf-8", "surrogatepass")
    lines: list[str] = []
    _toml_table(tree, (), lines)
    return "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")


def _toml_table(table: dict[Any, Any], path: tuple[str, ...], lines: list[str]) -> None:
    if path:
        lines.append(f"[{'.'.join(path)}]")
    inner = {key: value for key, value in table.items() if isinstance(value, dict) and len(path) < 2}
    lines += [f"{_toml_key(key)} = {_toml_value(value)}" for key, value in table.items() if key not in inner]
    for key, value in inner.items():
        _toml_table(value, (*path, _toml_key(key)), lines)


def _toml_key(key: Any) -> str:
    return str(key) if re.fullmatch(r"[A-Za-z0-9_-]+", str(key)) else json.dumps(str(key))


def _toml_value(value: Any) -> str:
    if isinstance(value, Raw):
        return value.text
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml_key(key)} = {_toml_value(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return "''" if value is None else json.dumps(value)


def twice_table(random: Random, text: bytes) -> bytes:
    tables = re.findall(rb"(?m)^\[.*\]$", text) or [b"[skills]"]
    return text + random.choice(tables) + b"\nx = " + _toml_value(random.choice(NUMBERS)).encode() + b"\n"


def dotted_key(random: Random, text: bytes) -> bytes:
    line = random.choice(
        (
            b"methods.add.prior = 'x'",
            b"name.x = 1",
            b"a." * random.choice((90, 1000)) + b"b = 1",
            b"skills = []",
            b"[[methods]]",
            b"data = '''",
        )
    )
    return line + b"\n" + text


TOML_TEXT: tuple[Change, ...] = (twice_table, dotted_key, other_encoding, odd_layout)
