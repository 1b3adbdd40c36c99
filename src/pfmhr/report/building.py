"""A whole report from whatever is given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pfmhr
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior
from pfmhr.report.material import Material, gather
from pfmhr.report.page import Section, Text, write_page
from pfmhr.report.sections import (
    experiment_sections,
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
    material = gather(paths)
    folder = out.parent / f"{out.stem}-figures"
    chosen = PosePrior.load(str(material.priors[0]) if material.priors else prior)
    sections = list(before)
    robot = Robot.load("g1")
    if chosen.joint_names == robot.joint_names:  # the poses shown are those of our own clips
        say("drawing what the prior knows")
        sections.append(prior_section(chosen, robot, _poses(robot), folder))
    sections += _watching(material, chosen, say)
    say("drawing tables and curves")
    for section in (
        tracking_section(material, folder),
        *experiment_sections(material, folder),
        studies_section(material, folder),
        speed_section(material, folder),
    ):
        if section is not None:
            sections.append(section)
    lead = (
        f"Made by pfmhr {pfmhr.__version__}. Numbers of the paper stand in grey beside ours. "
        f"Figures also lie in {folder.name}/ as SVG and PDF."
    )
    write_page(out, title, lead, sections)
    return [out, *sorted(folder.glob("*"))]


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
    return [section]


def _poses(robot: Robot) -> dict[str, object]:
    """Moments of the embedded motions: standing, in the middle of a step, and at the bottom of a squat."""
    walk, squat = embedded_motion("walk", robot), embedded_motion("squat", robot)
    lowest = int(squat.root_pos[:, 2].argmin())
    apart = abs(walk.joint_pos[:, 0] - walk.joint_pos[:, 6])
    return {
        "in the middle of a step": walk.joint_pos[int(apart.argmax())],
        "standing": squat.joint_pos[0],
        "squatting": squat.joint_pos[lowest],
    }
