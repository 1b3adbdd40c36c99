"""The sections of a report, each made from what was given, or left out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pfmhr.prior import PosePrior
from pfmhr.report import figures, paper
from pfmhr.report.experiments import NOT_COMPARABLE, experiment_section
from pfmhr.report.material import Material
from pfmhr.report.page import Command, Heading, Part, Section, Table, Text, drawn, plain
from pfmhr.robots import Robot
from pfmhr.studies import noise, perturbation, plausibility, plots, timestep
from pfmhr.studies.tables import beside, cells
from pfmhr.tracking.compare import curves, draw_curves, grouped


def prior_section(prior: PosePrior, robot: Robot, poses: Mapping[str, Any], folder: Path) -> Section:
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
    tables = [(list(each["rows"]), list(each["curves"]), each["command"]) for each in material.of("track compare")]
    if material.trackers:
        groups = grouped(material.trackers)
        command = shlex.join(["pfmhr", "track", "compare", *map(str, material.trackers)])
        tables.append(([group.row for group in groups], curves(groups), command))
    if not tables:
        return None
    section = Section("Tracking", [Text(NOT_COMPARABLE)])
    for number, (rows, lines, command) in enumerate(tables):
        section.parts += [_tracking_table(rows), Command(command)]
        section.parts += _learning_curves(lines, folder, number)
    return section


def _tracking_table(rows: Sequence[dict[str, Any]]) -> Table:
    columns = ["run", "seeds", "samples to 80 %, M", "paper, M", "success %", "at 0.5 m %"]
    columns += ["E_pos, mm", "paper, mm", "E_rot, rad", "paper, rad", "minutes"]
    lines = []
    for row in rows:
        skill = paper.skill_in(row["motions"][0]) if len(row["motions"]) == 1 and row["reward"] == "add" else None
        theirs = {name: table.get(skill or "", {}) for name, table in _TABLES.items()}
        method = row["modulator"]
        single = row["seeds"] == 1
        reached = "Failed" if row["samples_to_80"] is None else _both(row["samples_to_80"], 2, single=single)
        if 0 < row["converged"] < row["seeds"]:
            reached += f" ({row['converged']} of {row['seeds']})"
        lines.append(
            [
                row["name"],
                str(row["seeds"]),
                reached,
                _theirs(theirs["samples"], method, 1),
                _both(row["success"], 1, 100.0, single),
                _both(row["success_strict"], 1, 100.0, single),
                _both(row["position_error"], 1, 1000.0, single),
                _theirs(theirs["position"], method, 0, 1000.0),
                _both(row["rotation_error"], 3, single=single),
                _theirs(theirs["rotation"], method, 3),
                _both(row["minutes"], 1, single=single),
            ]
        )
    return Table(columns, lines, theirs=("paper, M", "paper, mm", "paper, rad"))


_TABLES = {"samples": paper.SAMPLES, "position": paper.POSITION, "rotation": paper.ROTATION}


def _both(value: Sequence[float] | None, digits: int, unit: float = 1.0, single: bool = False) -> str:
    """Mean and deviation; of a ``single`` seed only its value."""
    if value is None:
        return "–"
    mean, deviation = (f"{unit * each:.{digits}f}" for each in value)
    return mean if single else f"{mean} ± {deviation}"


def _theirs(table: Mapping[str, paper.Number], method: str, digits: int, unit: float = 1.0) -> str:
    if method not in table:
        return ""
    value = table[method]
    return "Failed" if value is None else _both(value, digits, unit)


def _learning_curves(lines: Sequence[dict[str, Any]], folder: Path, number: int) -> list[Part]:
    """One figure per set of clips: curves of different skills in one picture hide each other."""
    parts: list[Part] = []
    for place, skill in enumerate(dict.fromkeys(line["name"].split(",")[0] for line in lines)):
        chosen = [line for line in lines if line["name"].split(",")[0] == skill]
        parts.append(
            drawn(
                folder,
                f"training-{number}-{place}-{plain(skill)}",
                lambda path, chosen=chosen: draw_curves(chosen, path),
                f"{skill}: share of the reference tracked by the mean policy during training. Lines are means over "
                "seeds, bands go from the lowest to the highest seed, the dotted line is the 80 % at which the "
                "paper counts a policy as converged.",
            )
        )
    return parts


# Studies of the score

_STUDIES: dict[str, tuple[str, Any, tuple[str, ...], tuple[str, ...], Any, str]] = {
    "study timestep": (
        "At which flow time to score",
        plots.timestep_figure,
        ("t_eval",),
        ("angular", "permutation", "sign_flip", "average"),
        timestep.PAPER,
        "How far the percentile falls when a change is rotated, its joints shuffled or its signs flipped. The "
        "paper's peak is at 0.75; a prior of far fewer poses peaks later.",
    ),
    "study noise": (
        "How many noise samples",
        plots.noise_figure,
        ("samples",),
        ("rank_correlation", "percentile_mae", "region_agreement", "reward_mae", "milliseconds"),
        noise.PAPER,
        "Against the mean of 128 samples. One sample ranks almost as well, and gives nearly every transition the "
        "same reward. The paper's milliseconds are a GPU's.",
    ),
    "study perturbation": (
        "What the score sees",
        plots.perturbation_figure,
        ("perturbation", "severity"),
        ("normalised_score", "percentile_change", "multiplier_change", "region_agreement"),
        perturbation.PAPER,
        "Score kept, and percentile lost, by how badly the change of the joints was broken. Flipping 25 % and 75 % "
        "of the signs must cost the same, since the score of a change and of its opposite are one number; the "
        "paper's two rows differ.",
    ),
}


def studies_section(material: Material, folder: Path) -> Section | None:
    """The paper's three tables about the score, ours beside them, and which score sees what."""
    section = Section("The score, measured")
    for command, (title, draw, keys, columns, theirs, text) in _STUDIES.items():
        for number, result in enumerate(material.of(command)):
            seen = "clips the prior never saw" if result.get("clips") == "held-out" else "clips of the prior's corpus"
            table = beside(result["rows"], keys, columns, theirs)
            named = [{**line, **{key: _named(line[key]) for key in keys}} for line in table]
            heads = ["paper" if column.endswith("(paper)") else column.replace("_", " ") for column in table[0]]
            name = f"{command.split()[1]}-{number}"
            section.parts += [
                Heading(f"{title}: {result['transitions']:,} transitions of {seen}"),
                Table(heads, cells(named), theirs=("paper",)),
                drawn(folder, name, lambda path, draw=draw, result=result: draw(path, result), text),
                Command(result["command"], _machine(result)),
            ]
    for number, result in enumerate(material.of("study plausibility")):
        section.parts += _plausibility(result, folder, number)
    return section if section.parts else None


def _named(key: Any) -> str:
    """What a row is about: "0.75", not "0.750"; "sign flip"."""
    return f"{key:g}" if isinstance(key, float) else str(key).replace("_", " ")


def _plausibility(result: dict[str, Any], folder: Path, number: int) -> list[Part]:
    return [
        Heading("Which score sees what"),
        drawn(
            folder,
            f"plausibility-{number}",
            lambda path: plots.plausibility_figure(path, result, plausibility.METHODS),
            "The chance that a score puts a real transition above a broken one; 0.5 is blind. Scores of single "
            "poses see bad poses and are blind to bad changes; the Pose Geometry Score is the other way round.",
        ),
        Command(result["command"], _machine(result)),
    ]


def speed_section(material: Material, folder: Path) -> Section | None:
    """Latency of the score."""
    benches = sorted(material.of("bench score"), key=lambda bench: (bench["preset"], bench["batch"]))
    if not benches:
        return None
    about = "Times are multiples, within one run, of the bare matrix products that one pass cannot avoid."
    figure = drawn(folder, "latency", lambda path: figures.latency_figure(path, benches), about)
    return Section("Speed", [figure, *(Command(bench["command"], _machine(bench)) for bench in benches)])


def experiment_sections(material: Material, folder: Path) -> list[Section]:
    """Matrices of runs: tables, verdicts, dots, and radar charts where there are three skills and three methods."""
    stored = material.of("experiment report")
    return [experiment_section(summary, folder, number) for number, summary in enumerate(stored)]


def left_out_section(material: Material) -> Section | None:
    """What was found among the paths and is not on the page, and why."""
    rows = [(str(path), why) for path, why in material.left_out.items()]
    columns = ("found", "why it is not here")
    return Section("Left out", [Table(columns, rows, words=columns)]) if rows else None


def _machine(result: Mapping[str, Any]) -> str:
    """Where it was measured, as far as the result says."""
    facts = {"revision": result.get("commit") or result.get("pfmhr"), "cores": result.get("cores")}
    known = [f"{value} {name}" if name == "cores" else f"{name} {value}" for name, value in facts.items() if value]
    return ", ".join([*known, *filter(None, [result.get("processor")])])
