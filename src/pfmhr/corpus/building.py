"""Building a corpus: read, check and store any number of files, in parallel, surviving any interruption.

Poses are appended to one file, a stretch at a time, each with a small record of what went into it under
``.partial/``. The manifest comes last. Killed at any moment, the folder holds the old corpus (or
none) plus finished stretches, and the same command goes on behind the last of them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfmhr.corpus import manifest as manifests
from pfmhr.corpus.corpus import PoseCorpus
from pfmhr.corpus.items import BuildConfig, Item, collect, fingerprint
from pfmhr.corpus.manifest import Manifest, Rejected, Shard, Source
from pfmhr.corpus.reading import Accepted, read_item
from pfmhr.corpus.shards import FLAT, append_rows, has_rows
from pfmhr.corpus.writing import PARTIAL, claim, flattened, made_for, refuse_others, remove_unlisted, tidy
from pfmhr.errors import InputError
from pfmhr.files import exclusive, write_atomically
from pfmhr.motion import Motion
from pfmhr.motion.checks.paths import Progress, available_cores, in_order
from pfmhr.resuming import require_same
from pfmhr.robots import Robot
from pfmhr.robots.file import RobotFile

Say = Callable[[str], object]


@dataclass
class _Progressing:
    """A build under way: what is stored, what is waiting for the next stretch."""

    directory: Path
    manifest: Manifest
    done: int = 0
    """Items behind us."""
    waiting: list[NDArray[np.float32]] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    rows: int = 0
    """Rows stored and waiting."""

    @property
    def waiting_rows(self) -> int:
        return self.rows - self.manifest.poses


@dataclass(frozen=True)
class _Job:
    """One call of this module: what to read, how, and whom to tell."""

    directory: Path
    items: list[Item]
    skipped: dict[str, int]
    robot: Robot
    config: BuildConfig
    mark: str
    say: Say
    progress: Progress | None
    workers: int


def _job(
    directory: Path,
    things: Iterable[Motion | str | Path],
    robot: Robot,
    config: BuildConfig | None,
    say: Say,
    progress: Progress | None,
    workers: int | None,
) -> _Job:
    config = config or BuildConfig()
    items, skipped = collect(things, config)
    if not items:
        raise InputError("nothing to read", where=directory, fix="Give motion files, folders or motions.", code="empty")
    mark = fingerprint(items, robot, config)
    return _Job(directory, items, skipped, robot, config, mark, say, progress, workers or available_cores())


def build_corpus(
    directory: Path,
    things: Iterable[Motion | str | Path],
    robot: Robot,
    config: BuildConfig | None = None,
    say: Say = lambda _: None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> PoseCorpus:
    """Build a corpus in ``directory``. The same call resumes an unfinished build and accepts a finished one.

    Args:
        things: motions, motion files, folders searched all the way down.
        say: receives one line per decision worth telling.
        progress: receives (items done, items in all).
        workers: threads that read; as many as there are cores unless said.

    Raises:
        InputError: the folder holds another corpus, nothing usable was found, or the disk is full.
    """
    job = _job(directory, things, robot, config, say, progress, workers)
    refuse_others(directory)
    with made_for(directory), exclusive(directory):
        if (directory / manifests.FILE_NAME).exists():
            existing = PoseCorpus.open(directory)
            what, got = "another corpus, of other files or settings, is", f"{len(existing):,} poses"
            fix = "Use `pfmhr corpus add` to extend it, or choose another folder."
            require_same(existing.manifest.fingerprint, job.mark, what, where=directory, got=got, fix=fix)
            tidy(directory, existing.manifest)
            job.say(f"already built: {len(existing):,} poses in {directory}")
            return existing
        file, settings = RobotFile.of(robot, directory), job.config.as_json()
        empty = Manifest(robot.name, robot.joint_names, job.mark, settings, skipped=job.skipped, robot_file=file)
        return _run(job, empty)


def add_to_corpus(
    directory: Path,
    things: Iterable[Motion | str | Path],
    robot: Robot,
    config: BuildConfig | None = None,
    say: Say = lambda _: None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> PoseCorpus:
    """Append to a corpus; arguments as for :func:`build_corpus`.

    Existing poses are never touched; clips that are already in it are left out.
    """
    job = _job(directory, things, robot, config, say, progress, workers)
    PoseCorpus.open(directory, robot)  # before the lock, which would make the folder
    with exclusive(directory):
        base = PoseCorpus.open(directory, robot).manifest
        if job.mark in (base.fingerprint, *base.additions):
            tidy(directory, base)
            job.say(f"already added: {base.poses:,} poses in {directory}")
            return PoseCorpus.open(directory)
        skipped = {why: base.skipped.get(why, 0) + job.skipped.get(why, 0) for why in {**base.skipped, **job.skipped}}
        base = flattened(directory, base)
        return _run(job, replace(base, additions=(*base.additions, job.mark), skipped=skipped))


def _run(job: _Job, start: Manifest) -> PoseCorpus:
    """Read everything that is not yet stored, on top of the corpus ``start`` describes."""
    state = _resume(job.directory, start, job.mark, job.say)
    known = {source.digest: source.path for source in state.manifest.sources if source.digest}

    def work(item: Item) -> list[Accepted | Rejected]:
        return read_item(item, job.robot, job.config)

    for results in in_order(job.items[state.done :], work, job.workers):
        for result in results:
            _take(state, result, known)
        state.done += 1
        if state.waiting_rows >= job.config.shard_rows:
            _close_stretch(state, job.mark)
        if job.progress:
            job.progress(state.done, len(job.items))
    return _finish(state, job.mark, start, job.say)


def _take(state: _Progressing, result: Accepted | Rejected, known: dict[str, str]) -> None:
    if isinstance(result, Rejected):
        state.rejected.append(result)
        return
    source = result.source
    if source.digest in known:
        reason = f"exactly the same poses as {known[source.digest]}"
        state.rejected.append(Rejected(source.path, "duplicate", reason, source.clip))
        return
    known[source.digest] = source.path
    state.sources.append(replace(source, start=state.rows))
    state.waiting.append(result.poses)
    state.rows += len(result.poses)


def _close_stretch(state: _Progressing, mark: str) -> None:
    """Store what is waiting, then record it: from here on a resumed build starts behind these items."""
    number = len(state.manifest.shards)
    shard = append_rows(state.directory, state.manifest.poses, state.waiting)
    record = {
        "fingerprint": mark,
        "done": state.done,
        "shard": asdict(shard),
        "sources": [asdict(source) for source in state.sources],
        "rejected": [asdict(rejected) for rejected in state.rejected],
    }
    path = _record_path(state.directory, number)
    write_atomically(path, lambda handle: handle.write(manifests.encode(record)))
    _absorb(state, shard)


def _absorb(state: _Progressing, shard: Shard | None) -> None:
    state.manifest = replace(
        state.manifest,
        shards=state.manifest.shards + ((shard,) if shard else ()),
        sources=(*state.manifest.sources, *state.sources),
        rejected=(*state.manifest.rejected, *state.rejected),
    )
    state.waiting, state.sources, state.rejected = [], [], []
    state.rows = state.manifest.poses


def _finish(state: _Progressing, mark: str, start: Manifest, say: Say) -> PoseCorpus:
    if state.waiting:
        _close_stretch(state, mark)
    _absorb(state, None)
    manifest = state.manifest
    rejected = manifest.rejected[len(start.rejected) :]
    added = len(manifest.sources) - len(start.sources)
    if not manifest.shards or (not added and any(_is_fault(each) for each in rejected)):
        shutil.rmtree(state.directory / PARTIAL, ignore_errors=True)
        reasons = "; ".join(f"{entry.path}: {entry.reason}" for entry in rejected[:3])
        raise InputError(
            f"no clip passed its checks, {len(rejected)} left out", where=state.directory, got=reasons,
            fix="See them all with `pfmhr check`.", code="nothing_usable",
        )  # fmt: skip
    manifests.save(manifest, state.directory)
    tidy(state.directory, manifest)
    say(
        f"{manifest.poses - start.poses:,} poses from {added:,} clips stored, "
        f"{len(rejected):,} clips left out; {manifest.poses:,} poses in {state.directory}"
    )
    return PoseCorpus.open(state.directory)


def _is_fault(rejected: Rejected) -> bool:
    """Whether a clip was left out for what is wrong with it, and not because it is there already."""
    return rejected.code != "duplicate"


def _resume(directory: Path, start: Manifest, mark: str, say: Say) -> _Progressing:
    """Take up the finished stretches of an interrupted run of the same command; clear away any other's."""
    partial = directory / PARTIAL
    interrupted = partial.exists()
    claim(directory)
    state = _Progressing(directory, start, rows=start.poses)
    while (record := _record(state, mark)) is not None:
        shard, content = record
        state.sources = [manifests.source_from_json(source) for source in content["sources"]]
        state.rejected = [Rejected(**rejected) for rejected in content["rejected"]]
        state.done = content["done"]
        _absorb(state, shard)
    kept = len(state.manifest.shards) - len(start.shards)
    leftovers = remove_unlisted(directory, state.manifest)
    if kept or leftovers or interrupted:
        what = "the corpus before it is untouched" if start.shards else "there was no corpus yet"
        found = f"an unfinished run was found; {what} ({start.poses:,} poses)"
        say(f"{found}; going on behind {kept} finished stretch(es)" if kept else f"{found}; starting over")
    if not kept:
        shutil.rmtree(partial, ignore_errors=True)
        claim(directory)
    return state


def _record(state: _Progressing, mark: str) -> tuple[Shard, dict] | None:
    """What the same command recorded of the next stretch, if its poses are there."""
    manifest = state.manifest
    path = _record_path(state.directory, len(manifest.shards))
    if not path.exists():
        return None
    content = manifests.decode(path)
    if content.get("fingerprint") != mark:
        return None
    shard = Shard(**content["shard"])
    there = has_rows(state.directory, manifest.poses + shard.rows, len(manifest.joint_names))
    return (shard, content) if shard.file == FLAT and there else None


def _record_path(directory: Path, number: int) -> Path:
    return directory / PARTIAL / f"{number:05d}.json"
