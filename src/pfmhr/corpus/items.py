"""What goes into a corpus: motions in memory, files, folders, each with a label and a category."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pfmhr.corpus.categories import (
    UNKNOWN,
    Metadata,
    find_metadata,
    folder_category,
    named_as_mirror,
    read_metadata,
    stem,
)
from pfmhr.corpus.shards import SHARD_ROWS
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.checks import CheckConfig, find_motion_files
from pfmhr.motion.checks.copies import digest
from pfmhr.motion.frame_rate import require_rate
from pfmhr.robots import Robot


@dataclass(frozen=True)
class BuildConfig:
    """How a corpus is built. Nothing is repaired unless asked for here, and the manifest says what was."""

    fps: float | None = None
    """Frame rate of csv files that state none, for checks of speed only; default: 30 is assumed, with a note."""
    category_from: Literal["folder", "metadata"] | Path = "folder"
    """Where categories come from: the folder of a file, the metadata table found below the input, or a table."""
    unmirrored: bool = False
    """Leave out mirrored copies: files named …_M or marked is_mirror in the metadata."""
    fill_missing: bool = False
    """Take files that lack joints, with the default pose for those."""
    clip_limits: bool = False
    """Move joints that are outside their limits onto them instead of rejecting the clip."""
    drop_jumps: bool = False
    """Drop the two poses at each single-frame jump instead of rejecting the clip."""
    checks: CheckConfig = field(default_factory=CheckConfig)
    max_file_mb: int = 256
    """Larger files are rejected, to bound memory."""
    shard_rows: int = SHARD_ROWS
    """Poses are stored in stretches, each closed at the first clip that brings it to this many."""

    def __post_init__(self) -> None:
        if self.fps is not None:
            require_rate(self.fps)
        for name in ("max_file_mb", "shard_rows"):
            if getattr(self, name) < 1:
                got = getattr(self, name)
                raise InputError(f"no such {name}", expected="at least 1", got=got, code="bad_config")

    def as_json(self) -> dict[str, Any]:
        """The settings as they stand in a manifest."""
        return {**asdict(self), "category_from": str(self.category_from)}


@dataclass(frozen=True)
class Item:
    """One motion or one file to read."""

    content: Motion | Path
    label: str
    category: str
    identity: str
    """Changes when the content does: size and time for a file, fingerprint for a motion."""


def collect(things: Iterable[Motion | str | Path], config: BuildConfig) -> tuple[list[Item], dict[str, int]]:
    """All items in a stable order, and how many files were left out on request."""
    given = [thing if isinstance(thing, Motion) else Path(thing) for thing in things]
    paths = [thing for thing in given if isinstance(thing, Path)]
    metadata = _metadata(config, paths)
    items: list[Item] = []
    skipped = 0
    for thing in given:
        if isinstance(thing, Motion):
            items.append(Item(thing, thing.name, thing.name.split("-", 1)[0], digest(thing.joint_pos)))
            continue
        root = thing if thing.is_dir() else thing.parent
        for file in find_motion_files([thing]):
            if config.unmirrored and (named_as_mirror(file) or (metadata and stem(file) in metadata.mirrored)):
                skipped += 1
                continue
            items.append(_file_item(file, root, metadata))
    return items, ({"mirrored": skipped} if skipped else {})


def fingerprint(items: list[Item], robot: Robot, config: BuildConfig) -> str:
    """Identifies a build: the same settings over the same inputs."""
    checksum = hashlib.sha256()
    checksum.update(json.dumps([config.as_json(), robot.joint_names], sort_keys=True).encode())
    for item in items:
        checksum.update(f"\0{item.label}\0{item.category}\0{item.identity}".encode(errors="backslashreplace"))
    return checksum.hexdigest()


def _metadata(config: BuildConfig, paths: list[Path]) -> Metadata | None:
    if config.category_from == "folder":
        return None
    table = find_metadata(paths) if config.category_from == "metadata" else Path(config.category_from)
    return read_metadata(table)


def _file_item(file: Path, root: Path, metadata: Metadata | None) -> Item:
    category = metadata.category.get(stem(file), UNKNOWN) if metadata else folder_category(file, root)
    try:
        status = file.stat()
        identity = f"{status.st_size}:{status.st_mtime_ns}"
    except OSError:  # a broken link or a file that vanished: reading it will say so
        identity = "unreadable"
    # Paths are kept relative to the folder that was given: a manifest should not name its machine.
    label = str(Path(root.absolute().name) / file.relative_to(root))
    return Item(file, label, category, identity)
