"""``pfmhr retarget``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, remark, say, write_result
from pfmhr.cli.options import at_least_one, refuse_replacing
from pfmhr.errors import InputError
from pfmhr.motion.formats import BY_SUFFIX
from pfmhr.provenance import provenance
from pfmhr.retarget.batch import Report, RetargetFile, Task, make_tasks, retarget_files, retarget_one
from pfmhr.retarget.retargeting import RetargetConfig

Kind = Literal["pfmhr", "unitree_csv", "mimickit", "mjlab"]


def retarget(
    sources: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="IN...")],
    /,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    robot: str = "g1",
    map: str | None = None,
    rest: str | None = None,
    fps: float = 30.0,
    source_fps: float | None = None,
    to: Kind | None = None,
    physical_time: bool = False,
    jobs: int | None = None,
    engine: Literal["local", "ray"] = "local",
    attempts: int = 2,
    output: Path | None = None,
    json: bool = False,
) -> int:
    """Put human motion on a robot: BVH, MimicKit's humanoid, SMPL poses, named joint positions.

    Which joint is which is told by their names; how a skeleton's joints are turned follows from a T-pose where there is
    one, and else from the motion. No joint leaves its limits. Frames that the robot cannot follow are left out: a file
    is cut there, and its good stretches are numbered. The same command goes on after any interruption.

    Exits with 1 when files could not be used.

    Examples:
        pfmhr retarget dance.bvh -o dance.npz
        pfmhr retarget cmu/ -o cmu_g1/ --jobs 2
        pfmhr retarget backflip.bvh -o backflip.pkl --fps 60 --physical-time
        pfmhr retarget mine/ -o mine_g1/ --map my_skeleton.toml --rest 0

    Args:
        sources: files and folders, searched all the way down.
        out: for one file the file to write, else a folder.
        robot: a robot's name or the path of its MJCF.
        map: cmu, lafan1, bandai_namco, mixamo, mimickit, smpl or a toml file; default: the one whose names fit.
        rest: where a T-pose is: auto (nowhere), first-frame, zero, or the number of a frame; default: the map's.
        fps: frame rate of the result.
        source_fps: frame rate of files that state none; default: such files are refused.
        to: format to write; default: by the name of the file, ours in a folder.
        physical_time: shorten time as lengths are, so that jumps fall at g.
        jobs: processes at once; default: one per core.
        engine: processes on this machine, or tasks of a Ray cluster.
        attempts: how often a file whose process dies is tried.
        output: also write figures of all files here, as JSON; default: nowhere.
        json: print one JSON object.
    """
    at_least_one(jobs=jobs, attempts=attempts)
    config = RetargetConfig(fps=fps, rest=_rest(rest), physical_time=physical_time)
    single = len(sources) == 1 and sources[0].is_file() and (out.suffix in BY_SUFFIX or out.is_file())
    format = to or (BY_SUFFIX.get(out.suffix) if single else None) or "pfmhr"
    work = RetargetFile(robot, config, format, map, source_fps)  # type: ignore[arg-type]
    refuse_replacing([out], [*sources, robot, map])
    if single:
        report = retarget_one(work, Task(sources[0], out, sources[0].name))
    else:
        if out.is_file():
            raise InputError("this is a file; several results need a folder", where=out)
        tasks = make_tasks(sources, out, format)  # type: ignore[arg-type]
        with progress_bar("retargeting") as progress:
            report = retarget_files(work, tasks, out, engine, jobs, attempts, progress)
    content = _content(report, out)
    write_result(output, _measured(report, output))
    if json:
        print_json(content)
    else:
        _show(report, out)
    return 1 if report.failures else 0


def _rest(text: str | None) -> str | int | None:
    return int(text) if text is not None and text.isdigit() else text


def _content(report: Report, out: Path) -> dict[str, Any]:
    return {
        "out": str(out),
        "summary": report.summary(),
        "files": [asdict(record) for record in report.records],
        "failed": [asdict(failure) for failure in report.failures],
        "copies": report.copies,
    }


def _measured(report: Report, output: Path | None) -> dict[str, Any]:
    """What stays worth knowing of many files: figures of all, and the files that most frames are left out of."""
    if output is None:
        return {}
    worst = sorted(report.records, key=lambda record: -record.figures.dropped)[:20]
    return {
        "summary": report.summary(),
        "failed": [asdict(failure) for failure in report.failures],
        "most_dropped": {record.label: record.figures.dropped for record in worst if record.figures.dropped},
        **provenance(),
    }


def _show(report: Report, out: Path) -> None:
    for copy, original in list(report.copies.items())[:10]:
        remark(f"{copy}: left out, the same bytes as {original}")
    if len(report.copies) > 10:
        remark(f"… and {len(report.copies) - 10} more copies; --json lists them")
    for failure in report.failures:
        remark(f"{failure.label}: {failure.reason}")
    shown = sorted(report.records, key=lambda record: -record.figures.dropped)[:20]
    rows = [
        [
            record.label,
            str(record.figures.frames),
            str(record.figures.dropped),
            f"{100 * record.figures.place_error:.1f}",
            f"{100 * record.figures.floor_depth:.1f}",
            f"{100 * record.figures.slip:.1f}",
            f"{100 * record.figures.overlaps:.0f} %",
            ", ".join(record.faults) or "sound",
        ]
        for record in shown
    ]
    if rows:
        columns = ["file", "frames", "dropped", "off/cm", "sunk/cm", "slip/cm", "overlapping", "check"]
        title = "" if len(shown) == len(report.records) else f"the {len(shown)} files with most frames dropped"
        print_table(title, columns, rows)
    summary = report.summary()
    said = f"{out}: {summary['done']} of {summary['files']} file(s) done, {summary['kept']:,} frames"
    if report.copies:
        said += f", {summary['copies']} copies left out"
    if report.failures:
        said += f", {summary['failed']} failed"
    if summary["done"]:
        said += f"; {summary['frames_per_processor_second']:,.0f} frames/s a core"
    say(said)
