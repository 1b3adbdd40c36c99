"""The sections of a report, each made from what was given, or left out."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from numpy.typing import NDArray

from pfmhr.prior import PosePrior
from pfmhr.report import figures
from pfmhr.report.experiments import NOT_COMPARABLE, experiment_section
from pfmhr.report.material import Material
from pfmhr.report.page import Command, Heading, Part, Section, Table, Text, drawn, plain
from pfmhr.results import paper
from pfmhr.results.columns import STUDIES, Line, StudyResult, as_cells, beside, heads
from pfmhr.results.comparing import Compared, RunCurve, compare
from pfmhr.results.figures import draw_run_curves
from pfmhr.results.wording import figure, paper_figure, reached
from pfmhr.robots import Robot
from pfmhr.studies import plots


def prior_section(prior: PosePrior, robot: Robot, poses: Mapping[str, NDArray], folder: Path) -> Section:
    """What the prior knows: correlations and modes around some poses ``(J,)``."""
    first = next(iter(poses))
    parts: list[Part] = [
        Text(
            "Around any pose the prior knows which joints move together: the derivative of its denoiser is, up to a "
            "factor, the covariance of clean poses given a noisy one. A change of the joints is scored by how far "
            "this map keeps it."
        ),
        drawn(
            folder,
            "correlations",
            lambda path: figures.correlation_figure(path, prior, robot, poses),
            "Correlations between joints in the neighbourhood of single poses. They are not one matrix: what moves "
            "together depends on the pose.",
        ),
        drawn(
            folder,
            "modes",
            lambda path: figures.modes_figure(path, prior, robot, poses[first]),
            f"The largest co-variation modes around “{first}”: the robot moved either way along each until one joint "
            f"has turned by {figures.MODE_STEP} rad, and the two joints that move most.",
            dark_parts=True,
        ),
    ]
    return Section("What the prior knows", parts)


def tracking_section(material: Material, folder: Path) -> Section | None:
    """Tracking runs and stored comparisons beside the paper's tables."""
    compared = list(material.comparisons)
    if material.trackers:
        command = shlex.join(["pfmhr", "track", "compare", *map(str, material.trackers)])
        compared.append(replace(compare(material.trackers), command=command))
    if not compared:
        return None
    section = Section("Tracking", [Text(NOT_COMPARABLE)])
    for number, comparison in enumerate(compared):
        section.parts += [_tracking_table(comparison.rows), Command(comparison.command)]
        section.parts += _learning_curves(comparison.curves, folder, number)
    return section


TRACKING = (
    "run",
    "seeds",
    "samples to 80 %, M",
    "paper, M",
    "success %",
    "pooled %",
    "at 0.5 m %",
    "E_pos, mm",
    "paper, mm",
    "E_rot, rad",
    "paper, rad",
    "minutes",
)


def _tracking_table(rows: Sequence[Compared]) -> Table:
    return Table(TRACKING, [_tracking_line(row) for row in rows], theirs=("paper, M", "paper, mm", "paper, rad"))


def _tracking_line(row: Compared) -> list[str]:
    skill = paper.skill_in(row.motions[0]) if len(row.motions) == 1 and row.reward == "add" else None

    def stated(table: dict[str, dict[str, paper.Number]], digits: int, unit: float = 1.0) -> str:
        known = table.get(skill or "", {})
        return paper_figure(known, row.modulator, digits, unit) if row.modulator in known else ""

    return [
        row.name,
        str(row.seeds),
        reached(row),
        stated(paper.SAMPLES, 1),
        figure(row, "success", 1, 100.0),
        figure(row, "success_pooled", 1, 100.0),
        figure(row, "success_strict", 1, 100.0),
        figure(row, "position_error", 1, 1000.0),
        stated(paper.POSITION, 0, 1000.0),
        figure(row, "rotation_error", 3),
        stated(paper.ROTATION, 3),
        figure(row, "minutes", 1),
    ]


def _learning_curves(lines: Sequence[RunCurve], folder: Path, number: int) -> list[Part]:
    """One figure per set of clips: curves of different skills in one picture hide each other."""
    parts: list[Part] = []
    for place, skill in enumerate(dict.fromkeys(line.name.split(",")[0] for line in lines)):
        chosen = [line for line in lines if line.name.split(",")[0] == skill]
        parts.append(
            drawn(
                folder,
                f"training-{number}-{place}-{plain(skill)}",
                partial(draw_run_curves, chosen),
                f"{skill}: share of the reference tracked by the mean policy during training. Lines are means over "
                "seeds, bands go from the lowest to the highest seed, the dotted line is the 80 % at which the "
                "paper counts a policy as converged.",
            )
        )
    return parts


# Studies of the score


@dataclass(frozen=True)
class _Shown:
    """How a study stands on the page."""

    title: str
    draw: Callable[[Path, Sequence[Line]], None]
    text: str


_STUDIES = {
    "timestep": _Shown(
        "At which flow time to score",
        plots.timestep_figure,
        "How far the percentile falls when a change is rotated, its joints shuffled or its signs flipped. The "
        "paper's peak is at 0.75; a prior of far fewer poses peaks later.",
    ),
    "noise": _Shown(
        "How many noise samples",
        plots.noise_figure,
        "Against the mean of 128 samples. One sample ranks almost as well, and gives nearly every transition the "
        "same reward. The paper's milliseconds are a GPU's.",
    ),
    "perturbation": _Shown(
        "What the score sees",
        plots.perturbation_figure,
        "Score kept, and percentile lost, by how badly the change of the joints was broken. Flipping 25 % and 75 % "
        "of the signs must cost the same, since the score of a change and of its opposite are one number; the "
        "paper's two rows differ.",
    ),
}


def studies_section(material: Material, folder: Path) -> Section | None:
    """The paper's three tables about the score, ours beside them, and which score sees what."""
    section = Section("The score, measured")
    for name, shown in _STUDIES.items():
        for number, result in enumerate(material.studies.get(name, ())):
            section.parts += _study(name, shown, result, folder, number)
    for number, result in enumerate(material.studies.get("plausibility", ())):
        section.parts += _plausibility(result, folder, number)
    return section if section.parts else None


def _study(name: str, shown: _Shown, result: StudyResult, folder: Path, number: int) -> list[Part]:
    seen = "clips the prior never saw" if result.clips == "held-out" else "clips of the prior's corpus"
    columns = STUDIES[name]
    table = beside(result.rows, columns)
    named = [{**line, **{key: _named(line[key]) for key in columns.keys}} for line in table]
    titles = ["paper" if head.endswith("(paper)") else head for head in heads(table)] if table else list(columns.names)
    return [
        Heading(f"{shown.title}: {result.transitions:,} transitions of {seen}"),
        Table(titles, as_cells(named), theirs=("paper",)),
        drawn(folder, f"{name}-{number}", lambda path: shown.draw(path, result.rows), shown.text),
        Command(result.command, result.machine),
    ]


def _named(key: object) -> str:
    """What a row is about: "0.75", not "0.750"; "sign flip"."""
    return f"{key:g}" if isinstance(key, float) else str(key).replace("_", " ")


def _plausibility(result: StudyResult, folder: Path, number: int) -> list[Part]:
    return [
        Heading("Which score sees what"),
        drawn(
            folder,
            f"plausibility-{number}",
            lambda path: plots.plausibility_figure(path, result.rows),
            "The chance that a score puts a real transition above a broken one; 0.5 is blind. Scores of single "
            "poses see bad poses and are blind to bad changes; the Pose Geometry Score is the other way round.",
        ),
        Command(result.command, result.machine),
    ]


def speed_section(material: Material, folder: Path) -> Section | None:
    """Latency of the score."""
    benches = sorted(material.benches, key=lambda bench: (bench.preset, bench.batch))
    if not benches:
        return None
    about = "Times are multiples, within one run, of the bare matrix products that one pass cannot avoid."
    latencies = drawn(folder, "latency", lambda path: figures.latency_figure(path, benches), about)
    return Section("Speed", [latencies, *(Command(bench.command, bench.machine) for bench in benches)])


def experiment_sections(material: Material, folder: Path) -> list[Section]:
    """Matrices of runs: tables, verdicts, dots, and radar charts where there are three skills and three methods."""
    return [experiment_section(summary, folder, number) for number, summary in enumerate(material.experiments)]


def left_out_section(material: Material) -> Section | None:
    """What was found among the paths and is not on the page, and why."""
    rows = [(str(path), why) for path, why in material.left_out.items()]
    columns = ("found", "why it is not here")
    return Section("Left out", [Table(columns, rows, words=columns)]) if rows else None
