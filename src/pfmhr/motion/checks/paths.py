"""Checking many files: in parallel, in a stable order, with bounded memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TypeVar

from pfmhr.errors import InputError
from pfmhr.motion.checks.copies import Copies, digest
from pfmhr.motion.checks.motion import CheckConfig, check_motion
from pfmhr.motion.checks.report import Fault, FileReport
from pfmhr.motion.motion import Motion
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.motion.source import MOTION_SUFFIXES

Item = TypeVar("Item")
Result = TypeVar("Result")
Progress = Callable[[int, int], object]
"""Called with (files done, files in all)."""


def find_motion_files(paths: Iterable[str | Path], suffixes: tuple[str, ...] = MOTION_SUFFIXES) -> list[Path]:
    """The motion files among ``paths``, folders searched all the way down, sorted within each folder.

    Files named are taken as they are; folders are searched for those that end in one of ``suffixes``.
    """
    found: list[Path] = []
    for given in map(Path, paths):
        try:
            there, is_folder = given.exists(), given.is_dir()
        except PermissionError as error:
            raise _unreadable(error) from error
        if not there:
            raise InputError("no such file or folder", where=given, code="not_found")
        if is_folder:
            inside = sorted(_walk(given, suffixes))
            if not inside:
                kinds = ", ".join(suffixes)
                raise InputError("no motion files in this folder", where=given, expected=kinds, code="empty_folder")
            found += inside
        else:
            found.append(given)
    if not found:
        raise InputError("nothing to read", fix="Name motion files or folders.", code="empty")
    return list(dict.fromkeys(found))


def _walk(folder: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Linked folders are followed, each once."""
    seen: set[str] = set()

    def refuse(error: OSError) -> None:
        raise _unreadable(error)

    for directory, subdirectories, names in os.walk(folder, followlinks=True, onerror=refuse):
        real = os.path.realpath(directory)
        if real in seen:
            subdirectories.clear()
            continue
        seen.add(real)
        subdirectories[:] = [name for name in subdirectories if not name.startswith(".") and name != "metadata"]
        for name in names:
            if name.lower().endswith(suffixes) and not _is_table(name):
                yield Path(directory) / name


def _unreadable(error: OSError) -> InputError:
    return InputError(f"cannot look into it: {error.strerror}", where=error.filename, code="unreadable")


def _is_table(name: str) -> bool:
    """BONES-SEED ships its metadata as csv beside the motions."""
    return "metadata" in name.lower() and name.lower().endswith(".csv")


def in_order(items: Iterable[Item], work: Callable[[Item], Result], workers: int) -> Iterator[Result]:
    """``map(work, items)`` on threads, results in order, at most two items per worker in flight.

    Threads, not processes: pyarrow and numpy release the interpreter lock, nothing is copied
    between processes, and Ctrl-C works.
    """
    with ThreadPoolExecutor(workers) as pool:
        waiting: deque[Future[Result]] = deque()
        try:
            for item in items:
                waiting.append(pool.submit(work, item))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()


def available_cores() -> int:
    """Cores this process may use, which can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def check_paths(
    paths: Iterable[str | Path],
    options: ReadOptions,
    config: CheckConfig | None = None,
    progress: Progress | None = None,
) -> list[FileReport]:
    """Check files and folders; one report per clip, in order. Copies are looked for among all of them."""
    files = find_motion_files(paths)
    copies = Copies(options.robot)
    reports: list[FileReport] = []

    def work(path: Path) -> list[tuple[Motion | None, str, FileReport]]:
        return inspect_file(path, options, config)

    for done, results in enumerate(in_order(files, work, available_cores()), start=1):
        for motion, fingerprint, report in results:
            extra = copies.faults(motion, fingerprint, report.label) if motion is not None else []
            reports.append(_with_faults(report, extra))
        if progress:
            progress(done, len(files))
    return reports


def inspect_file(
    path: Path, options: ReadOptions, config: CheckConfig | None
) -> list[tuple[Motion | None, str, FileReport]]:
    """Read and check one file: per clip the motion (None if unreadable), its fingerprint, its report."""
    try:
        motions = read_motions(path, options)
    except InputError as error:
        fault = Fault(error.code, str(error).removeprefix(f"{path}: "))
        return [(None, "", FileReport(str(path), "", 0, 0.0, (fault,)))]
    results: list[tuple[Motion | None, str, FileReport]] = []
    for motion in motions:
        faults = check_motion(motion, options.robot, config)
        report = FileReport(str(path), motion.name, motion.num_frames, motion.fps, faults, motion.notes)
        results.append((motion, digest(motion.joint_pos), report))
    return results


def _with_faults(report: FileReport, extra: list[Fault]) -> FileReport:
    if not extra:
        return report
    return FileReport(report.path, report.clip, report.frames, report.fps, (*report.faults, *extra), report.notes)
