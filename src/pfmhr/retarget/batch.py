"""Many files at once: what is done with each, and what is told of all."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pfmhr
from pfmhr.errors import InputError
from pfmhr.files import exclusive, make_folder, write_atomically
from pfmhr.foreign import as_dataclass, read_file
from pfmhr.motion.checks import check_motion, find_motion_files
from pfmhr.motion.formats import Format
from pfmhr.motion.frame_rate import FOLDER_FILE
from pfmhr.motion.source import clip_name
from pfmhr.parallel import Engine, Journal, Outcome, map_in_order, map_resumed
from pfmhr.retarget.body import Body
from pfmhr.retarget.maps import SkeletonMap, load_map
from pfmhr.retarget.quality import Figures, total
from pfmhr.retarget.retargeting import RetargetConfig, retarget
from pfmhr.retarget.sources import SUFFIXES, read_human
from pfmhr.robots import Robot

JOURNAL = "retarget.jsonl"
"""In a folder of results: what is done, so that the same command goes on."""
ENDINGS: dict[str, str] = {"pfmhr": ".npz", "unitree_csv": ".csv", "mimickit": ".pkl", "mjlab": ".npz"}
"""Of files, by format."""


@dataclass(frozen=True)
class Task:
    """One file to read and where its results go."""

    source: Path
    target: Path
    label: str
    """What it is called in reports: its place below the folder that was named."""


@dataclass(frozen=True)
class Record:
    """What became of one file, as the journal keeps it."""

    label: str
    outputs: tuple[str, ...]
    """Files written; none if no stretch of it was good and long enough."""
    kept: int
    """Frames in them."""
    figures: Figures
    faults: tuple[str, ...]
    """Codes of what ``pfmhr check`` says of them."""
    notes: tuple[str, ...]
    seconds: float
    """Processor time it took."""


@dataclass(frozen=True)
class RetargetFile:
    """The work for one file. It goes to other processes, and loads the robot once in each."""

    robot: str
    config: RetargetConfig
    format: Format = "pfmhr"
    map: str | None = None
    source_fps: float | None = None

    @cached_property
    def body(self) -> Body:
        """The robot."""
        return Body.of(Robot.load(self.robot))

    @cached_property
    def skeleton(self) -> SkeletonMap | None:
        """The map that was named."""
        return None if self.map is None else load_map(self.map)

    def __call__(self, task: Task) -> dict[str, Any]:
        """Read, retarget and write one file; the record as plain data."""
        begin = time.process_time()
        source = read_human(task.source, self.skeleton, self.config.fps, self.source_fps)
        try:
            result = retarget(source.human, self.body, self.config, source.skeleton)
        except InputError as error:
            raise error.at(task.source) from error
        motions = result.pieces()
        robot = self.body.linkage.robot
        outputs, faults = [], Counter[str]()
        make_folder(task.target.parent)
        for number, motion in enumerate(motions, start=1):
            path = task.target if len(motions) == 1 else _numbered(task.target, number)
            motion.write(path, robot, self.format)
            outputs.append(str(path))
            faults.update({fault.code for fault in check_motion(motion, robot)})
        record = Record(
            task.label,
            tuple(outputs),
            sum(motion.num_frames for motion in motions),
            result.figures,
            tuple(faults),
            result.motion.notes,
            round(time.process_time() - begin, 3),
        )
        return asdict(record)


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{clip_name(path)}_{number}{path.suffix}")


@dataclass(frozen=True)
class Failure:
    """A file that could not be used, and why."""

    label: str
    code: str
    reason: str


@dataclass
class Report:
    """What became of all files."""

    records: list[Record] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    copies: dict[str, str] = field(default_factory=dict)
    """Files that are left out because they are, byte for byte, another: label → that one's label."""

    def summary(self) -> dict[str, Any]:
        """The report in a few numbers."""
        seconds = sum(record.seconds for record in self.records)
        frames = sum(record.figures.frames for record in self.records)
        faults = Counter(code for record in self.records for code in record.faults)
        return {
            "files": len(self.records) + len(self.failures) + len(self.copies),
            "done": len(self.records),
            "failed": len(self.failures),
            "copies": len(self.copies),
            "kept": sum(record.kept for record in self.records),
            **total([record.figures for record in self.records]),
            "faults": dict(faults.most_common()),
            "reasons": dict(Counter(failure.code for failure in self.failures).most_common()),
            "processor_seconds": round(seconds, 1),
            "frames_per_processor_second": round(frames / max(seconds, 1e-9), 1),
        }


def make_tasks(sources: Sequence[Path], out: Path, format: Format) -> list[Task]:
    """One task per file; results keep their place below the folder that was named."""
    tasks = []
    for given in sources:
        root = given if given.is_dir() else given.parent
        for path in find_motion_files([given], SUFFIXES):
            place = path.relative_to(root)
            target = (out / place).with_name(clip_name(path) + ENDINGS[format])
            tasks.append(Task(path, target, str(place)))
    taken: dict[Path, Task] = {}
    for task in tasks:
        other = taken.setdefault(task.target, task)
        if other is not task:
            got, fix = f"{other.source} and {task.source}", "Put them into folders of their own, or name one folder."
            raise InputError("two files would be written to one place", where=task.target, got=got, fix=fix)
    return tasks


def retarget_files(
    work: RetargetFile,
    tasks: Sequence[Task],
    out: Path,
    engine: Engine = "local",
    workers: int | None = None,
    attempts: int = 2,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Report:
    """Retarget files into a folder. The same call goes on after any interruption."""
    purpose = _purpose(work)  # what is wrong with the robot or the map is told before anything starts
    with exclusive(out):
        journal = Journal(out / JOURNAL, purpose)
        report = Report(copies=find_copies(tasks))
        tasks = [task for task in tasks if task.label not in report.copies]
        keys = [_key(task) for task in tasks]
        for key in keys:
            if key in journal and not all(os.path.exists(path) for path in journal[key]["outputs"]):
                journal.forget(key)
        outcomes = map_resumed(work, tasks, keys, journal, engine, workers, attempts)
        for done, (task, outcome) in enumerate(zip(tasks, outcomes, strict=True), start=1):
            _take(report, task, outcome)
            progress(done, len(tasks))
        if work.format == "unitree_csv" and work.config.fps is not None:
            text = f"fps = {work.config.fps:g}\n".encode()
            write_atomically(out / FOLDER_FILE, lambda handle: handle.write(text))
    return report


def retarget_one(work: RetargetFile, task: Task) -> Report:
    """One file, in a process of its own as well."""
    report = Report()
    for outcome in map_in_order(work, [task], workers=1):
        _take(report, task, outcome)
    return report


def _take(report: Report, task: Task, outcome: Outcome[dict[str, Any]]) -> None:
    if outcome.failed:
        reason = outcome.error.removeprefix(f"{task.source}: ")
        report.failures.append(Failure(task.label, outcome.code, reason))
    else:
        report.records.append(as_dataclass(Record, outcome.result, "a record", "bad_run"))


def find_copies(tasks: Sequence[Task]) -> dict[str, str]:
    """Files that are byte for byte another one before them: label → that one's label."""
    by_size: dict[int, list[Task]] = defaultdict(list)
    for task in tasks:
        by_size[os.path.getsize(task.source)].append(task)
    first: dict[str, str] = {}
    copies: dict[str, str] = {}
    for alike in by_size.values():
        if len(alike) < 2:
            continue
        for task in alike:
            try:
                mark = hashlib.sha256(read_file(task.source)).hexdigest()
            except (InputError, FileNotFoundError):
                continue  # it is told when it is read
            if (original := first.setdefault(mark, task.label)) != task.label:
                copies[task.label] = original
    return copies


def _purpose(work: RetargetFile) -> str:
    """All that results depend on besides the files."""
    robot = work.body.linkage.robot
    about = {
        "version": pfmhr.__version__,
        "robot": hashlib.sha256(robot.path.read_bytes()).hexdigest()[:16],
        "skeleton": None if work.skeleton is None else asdict(work.skeleton),
        "config": asdict(work.config),
        "format": work.format,
        "source_fps": work.source_fps,
    }
    return json.dumps(about, sort_keys=True)


def _key(task: Task) -> str:
    about = os.stat(task.source)
    return f"{task.label} {about.st_size} {about.st_mtime_ns}"
