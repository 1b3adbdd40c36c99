"""What every writer of a corpus needs: the folder to itself, and no leftovers in it."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pfmhr.corpus.corpus import PoseCorpus
from pfmhr.corpus.manifest import FILE_NAME, Manifest, save
from pfmhr.corpus.shards import FLAT, append_rows, cut_rows, open_poses
from pfmhr.errors import InputError
from pfmhr.files import disk_errors, exclusive
from pfmhr.resuming import LOCK, require_own, require_same

PARTIAL = ".partial"
"""Marks a folder as ours while a corpus is being written into it, and holds the records of finished stretches."""


def write_once(directory: Path, empty: Manifest, write: Callable[[], Manifest]) -> PoseCorpus:
    """The corpus that ``write`` puts into a directory of its own; the same one is not made twice."""
    refuse_others(directory)
    with exclusive(directory):
        if (directory / FILE_NAME).exists():
            existing = PoseCorpus.open(directory)
            before, now = existing.manifest.fingerprint, empty.fingerprint
            require_same(before, now, "another corpus is", where=directory, got=repr(existing))
            return existing
        claim(directory)
        for record in (directory / PARTIAL).iterdir():
            record.unlink()  # of a build whose shards are cleared away now: it must not go on behind ours
        remove_unlisted(directory, empty)
        manifest = write()
        save(manifest, directory)
        tidy(directory, manifest)
    return PoseCorpus.open(directory)


def claim(directory: Path) -> None:
    """Make a folder without a manifest ours to write to."""
    refuse_others(directory)
    with disk_errors(directory):
        (directory / PARTIAL).mkdir(exist_ok=True)


@contextmanager
def made_for(directory: Path) -> Iterator[None]:
    """A folder that is new stays only if something is put into it."""
    new = not directory.exists()
    try:
        yield
    except InputError:
        # Where it could not even be made, the error that says so is the one to hear.
        if new and directory.is_dir() and {entry.name for entry in directory.iterdir()} <= {LOCK}:
            shutil.rmtree(directory)
        raise


def refuse_others(directory: Path) -> None:
    """Make sure that a folder is one to write to: a corpus, new, empty, or left by an interrupted run.

    Writers clear away poses that no manifest lists; in somebody else's folder those could be theirs.
    """
    require_own(directory, {PARTIAL, FILE_NAME}, "a new or empty one, or a corpus", fix="Choose another folder.")


def tidy(directory: Path, manifest: Manifest) -> None:
    """Clear away what a finished run, or one killed right after finishing, no longer needs."""
    shutil.rmtree(directory / PARTIAL, ignore_errors=True)
    remove_unlisted(directory, manifest)


def remove_unlisted(directory: Path, manifest: Manifest) -> int:
    """Delete poses and temporary files that the manifest does not list; returns from how many files."""
    listed = {shard.file for shard in manifest.shards}
    extra = [path for path in directory.glob("shard-*.npy*") if path.name not in listed]
    for path in extra:
        path.unlink()
    flat = sum(shard.rows for shard in manifest.shards if shard.file == FLAT)
    return len(extra) + cut_rows(directory, flat, len(manifest.joint_names))


def flattened(directory: Path, manifest: Manifest) -> Manifest:
    """The corpus with its poses in one flat file; a file per shard, as format 1 has, is copied and then goes."""
    if all(shard.file == FLAT for shard in manifest.shards):
        return manifest
    shards, start = [], 0
    for array in open_poses(directory, manifest):
        shards.append(append_rows(directory, start, [array]))
        start += len(array)
    manifest = replace(manifest, shards=tuple(shards))
    save(manifest, directory)
    remove_unlisted(directory, manifest)
    return manifest
