"""``pfmhr check``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, remark, say
from pfmhr.cli.options import tell_assumed
from pfmhr.motion.checks import CheckConfig, FileReport, check_paths
from pfmhr.motion.frame_rate import require_rate
from pfmhr.motion.reading import ASSUMED, ReadOptions
from pfmhr.robots import Robot

MOST_NOTES = 5
"""So many notes on sound clips are said."""


def check(
    paths: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="PATH...")],
    /,
    robot: str = "g1",
    fps: float | None = None,
    fill_missing: bool = False,
    checks: Annotated[CheckConfig, tyro.conf.arg(name="")] = CheckConfig(),  # noqa: B008
    all: bool = False,
    json: bool = False,
) -> int:
    """Check motion files: is each what it claims to be?

    Finds unreadable and foreign files, NaN, wrong widths, joints outside their limits, degrees for
    radians, a wrong joint order, bad quaternions, jumps, frozen stretches, impossible frame rates,
    copies and mirror images. Nothing is changed. Exits with 1 when something must be fixed.

    Examples:
        pfmhr check walk.csv --fps 30
        pfmhr check data/ --json > report.json

    Args:
        paths: files and folders, searched all the way down.
        robot: a robot's name or the path of its MJCF.
        fps: frame rate of csv files that state none; default: 30 is assumed, with a note.
        fill_missing: accept files that lack joints.
        all: list sound files too.
        json: print one JSON object.
    """
    if fps is not None:
        require_rate(fps)
    options = ReadOptions(Robot.load(robot), csv_fps=fps, fill_missing=fill_missing, assume_fps=True)
    with progress_bar("checking") as progress:
        reports = check_paths(paths, options, checks, progress)
    bad = sum(not report.ok for report in reports)
    if json:
        counts = Counter(fault.code for report in reports for fault in report.faults)
        summary = {"clips": len(reports), "must_be_fixed": bad, "faults": dict(counts.most_common())}
        print_json({"summary": summary, "clips": [report.as_json() for report in reports]})
    else:
        listed = [report for report in reports if all or report.faults]
        if listed:
            rows = [row for report in listed for row in _rows(report)]
            print_table("", ["clip", "frames", "Hz", "", "what was found"], rows)
        if not all:
            _tell_notes([report for report in reports if not report.faults])
        tell_assumed(report.notes for report in reports)
        warned = sum(report.ok and bool(report.faults) for report in reports)
        say(f"{len(reports)} clip(s): {len(reports) - bad - warned} sound, {warned} with warnings, {bad} to be fixed")
    return 1 if bad else 0


def _rows(report: FileReport) -> list[list[str]]:
    head = [report.label, str(report.frames), f"{report.fps:g}"]
    lines = [[fault.severity.value, fault.message] for fault in report.faults] or [["ok", ""]]
    lines += [["note", note] for note in report.notes]
    return [(head if number == 0 else ["", "", ""]) + line for number, line in enumerate(lines)]


def _tell_notes(reports: list[FileReport]) -> None:
    """Say what was decided in reading the clips that are not listed, each note once."""
    notes = Counter(note for report in reports for note in report.notes if note != ASSUMED)
    for note, clips in notes.most_common(MOST_NOTES):
        remark(f"{clips} clip(s): {note}")
    if len(notes) > MOST_NOTES:
        remark(f"and {len(notes) - MOST_NOTES} more notes: --all lists them")
