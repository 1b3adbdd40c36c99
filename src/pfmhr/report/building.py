"""A whole report from whatever is given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from numpy.typing import NDArray

import pfmhr
from pfmhr.errors import InputError
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.report.material import Material, gather
from pfmhr.report.page import Figure, Section, Text, write_page
from pfmhr.report.sections import (
    experiment_sections,
    left_out_section,
    prior_section,
    speed_section,
    studies_section,
    tracking_section,
)
from pfmhr.report.watching import run_player
from pfmhr.robots import Robot

MOST_PLAYERS = 6
"""Episodes on one page: each is a few hundred kilobytes."""

Say = Callable[[str], object]


def build_report(
    paths: Sequence[Path],
    out: Path,
    prior: str = "g1-small",
    title: str = "PFM-HR: what was measured",
    before: Sequence[Section] = (),
    say: Say = lambda _: None,
) -> list[Path]:
    """Write the page ``out`` and its figures beside it; returns everything written.

    Args:
        paths: tracking runs, priors, stored results, or folders of them.
        prior: directory or name of the prior that scores episodes and whose geometry is shown.
        before: sections that come first.
    """
    if out.is_dir():
        raise InputError("a page is a file", where=out, got="a folder", code="not_writable")
    material = gather(paths)
    for path in material.priors[1:]:
        material.left_out[path] = f"one prior is shown, {material.priors[0]}"
    for path, why in material.left_out.items():
        say(f"left out {path}: {why}")
    chosen = PosePrior.load(str(material.priors[0]) if material.priors else prior)
    folder = out.parent / f"{out.stem}-figures"
    sections = [*before, *_sections(material, chosen, folder, say)]
    lead = (
        f"Made by pfmhr {pfmhr.__version__}. Numbers of the paper stand in grey beside ours. "
        f"Figures also lie in {folder.name}/ as SVG and PDF."
    )
    write_page(out, title, lead, sections)
    drawings = [part for section in sections for part in section.parts if isinstance(part, Figure)]
    return [out, *(file for drawing in drawings for file in drawing.files)]


def _sections(material: Material, prior: PosePrior, folder: Path, say: Say) -> Iterator[Section]:
    watching = _watching(material, prior, say)  # first: a run that cannot be played should not wait for drawings
    robot = Robot.load("g1")
    if prior.joint_names == robot.joint_names:
        say("drawing what the prior knows")
        yield prior_section(prior, robot, _poses(robot), folder)
    else:
        say(f"what the prior knows is shown on clips of the {robot.name} only; this one is of {prior.robot}")
    yield from watching
    say("drawing tables and curves")
    made = (
        tracking_section(material, folder),
        *experiment_sections(material, folder),
        studies_section(material, folder),
        speed_section(material, folder),
        left_out_section(material),
    )
    yield from (section for section in made if section is not None)


def _watching(material: Material, prior: PosePrior, say: Say) -> list[Section]:
    if not material.trackers:
        return []
    section = Section(
        "Watch",
        [
            Text(
                "The reference in blue, what the policy makes of it in grey. Under them the Pose Geometry Score of "
                "both, its percentile among the reference's own scores, and the factor on the tracking reward."
            )
        ],
    )
    for directory in material.trackers[:MOST_PLAYERS]:
        say(f"recording {directory}")
        section.parts.append(run_player(directory, prior))
    more = len(material.trackers) - MOST_PLAYERS
    if more > 0:
        section.parts.append(Text(f"{more} more runs are in the table below only."))
    return [section]


def _poses(robot: Robot) -> dict[str, NDArray]:
    """Moments of the embedded motions: standing, in the middle of a step, and at the bottom of a squat."""
    walk, squat = embedded_motion("walk", robot), embedded_motion("squat", robot)
    lowest = int(squat.root_pos[:, 2].argmin())
    apart = abs(walk.joint_pos[:, 0] - walk.joint_pos[:, 6])
    return {
        "in the middle of a step": walk.joint_pos[int(apart.argmax())],
        "standing": squat.joint_pos[0],
        "squatting": squat.joint_pos[lowest],
    }
