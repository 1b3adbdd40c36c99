"""What a corpus is made of: ``manifest.json``, written last and atomically, read by everything."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.foreign import as_dataclass, read_json, require_header
from pfmhr.robots.file import RobotFile

FILE_NAME = "manifest.json"
FORMAT = "pfmhr-corpus"
VERSION = 2
"""Of what is written; 1, with a file per shard, is read, too."""
MAX_MANIFEST_BYTES = 256 * 2**20
"""Some 800,000 sources."""


@dataclass(frozen=True)
class Shard:
    """A stretch of poses, (rows, J) float32: rows of the flat file behind those before it, or a file of its own."""

    file: str
    rows: int
    sha256: str


@dataclass(frozen=True)
class Source:
    """One clip that went in: rows ``start`` to ``start + rows`` of the corpus."""

    path: str
    category: str
    start: int
    rows: int
    fps: float
    digest: str
    """Fingerprint of the clip's poses as read, to find copies; empty where only some of them are here."""
    clip: str = ""
    notes: tuple[str, ...] = ()
    """What was decided while reading and repaired on request."""


@dataclass(frozen=True)
class Rejected:
    """One clip that was left out, and why."""

    path: str
    code: str
    reason: str
    clip: str = ""


@dataclass(frozen=True)
class Manifest:
    """The whole description of a corpus."""

    robot: str
    joint_names: tuple[str, ...]
    fingerprint: str
    """Of the command that built it: settings and inputs. The same command finds its own result by it."""
    settings: dict[str, Any]
    """Checks applied and repairs asked for."""
    shards: tuple[Shard, ...] = ()
    sources: tuple[Source, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    skipped: dict[str, int] = field(default_factory=dict)
    """Files left out on request rather than for a fault, such as mirrored copies: why → how many."""
    additions: tuple[str, ...] = ()
    """Fingerprints of later additions, in order."""
    robot_file: RobotFile | None = None
    """Of a robot that is not bundled, seen from the corpus's folder."""

    @property
    def poses(self) -> int:
        """How many poses there are."""
        return sum(shard.rows for shard in self.shards)

    @property
    def categories(self) -> dict[str, int]:
        """Poses per category."""
        counts: dict[str, int] = {}
        for source in self.sources:
            counts[source.category] = counts.get(source.category, 0) + source.rows
        return counts


def save(manifest: Manifest, directory: Path) -> None:
    """Write the manifest: the moment a corpus changes from the old one to the new one."""
    content = {"format": FORMAT, "version": VERSION, "poses": manifest.poses, **asdict(manifest)}
    if manifest.robot_file is None:
        del content["robot_file"]  # as before there were any
    write_atomically(directory / FILE_NAME, lambda handle: handle.write(encode(content)))


def load(directory: Path) -> Manifest:
    """Read and check a manifest."""
    path = Path(directory) / FILE_NAME
    content = require_header(decode(path), "a corpus manifest", FORMAT, (1, VERSION), where=path, code="bad_corpus")
    entries = {name: value for name, value in content.items() if name not in ("format", "version", "poses")}
    try:
        manifest = as_dataclass(Manifest, entries, "the corpus manifest", "bad_corpus")
    except InputError as error:
        raise error.at(path) from None
    if any("/" in shard.file or "\\" in shard.file for shard in manifest.shards):
        raise InputError("a shard lies outside the corpus", where=path, code="bad_corpus")
    _require_rows(manifest, path)
    return manifest


def _require_rows(manifest: Manifest, path: Path) -> None:
    """Refuse sources that lie outside the rows there are, or were recorded at no rate."""
    if any(shard.rows < 0 for shard in manifest.shards):
        raise InputError("a shard of less than no rows", where=path, code="bad_corpus")
    for source in manifest.sources:
        if source.start < 0 or source.rows < 0 or source.start + source.rows > manifest.poses:
            got = f"{source.path}: rows {source.start} to {source.start + source.rows} of {manifest.poses}"
            raise InputError("a source lies outside the corpus", where=path, got=got, code="bad_corpus")
        if not 0 <= source.fps < math.inf:  # 0 of an array, which has none
            got = f"{source.path}: {source.fps} Hz"
            raise InputError("a source of an impossible frame rate", where=path, got=got, code="bad_corpus")


def source_from_json(content: dict[str, Any]) -> Source:
    """A source as it stands in a manifest."""
    return Source(**{**content, "notes": tuple(content.get("notes", ()))})


def encode(content: dict[str, Any]) -> bytes:
    """JSON with one list entry per line: readable, and quick for hundreds of thousands of sources."""
    parts = []
    for key, value in content.items():
        if isinstance(value, (list, tuple)) and value and isinstance(value[0], dict):
            lines = ",\n  ".join(json.dumps(entry, ensure_ascii=False) for entry in value)
            text = f"[\n  {lines}\n ]"
        else:
            text = json.dumps(value, ensure_ascii=False)
        parts.append(f" {json.dumps(key)}: {text}")
    # Undecodable file names arrive as lone surrogates; keep them readable rather than fail.
    return ("{\n" + ",\n".join(parts) + "\n}\n").encode("utf-8", errors="backslashreplace")


def decode(path: Path) -> dict[str, Any]:
    """A JSON object from a file, or a clear error."""
    try:
        content = read_json(path, "bad_corpus", MAX_MANIFEST_BYTES)
    except FileNotFoundError:
        raise InputError(
            "no corpus here", where=path.parent, expected=f"a folder with {FILE_NAME}", code="not_found",
            fix="Make one with `pfmhr corpus build`.",
        ) from None  # fmt: skip
    if not isinstance(content, dict):
        raise InputError("not a JSON object", where=path, code="bad_corpus")
    return content
