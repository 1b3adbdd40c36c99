"""``pfmhr study timestep | noise | perturbation | plausibility``: studies of a trained prior."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, say
from pfmhr.cli.options import at_least_one, refuse_replacing, use_threads
from pfmhr.cli.score import time_step
from pfmhr.score.defaults import T_EVAL

if TYPE_CHECKING:
    from pfmhr.motion import Motion
    from pfmhr.prior import PosePrior
    from pfmhr.robots import Robot
    from pfmhr.studies.transitions import Transitions


@dataclass(frozen=True)
class Material:
    """What a study of a trained prior looks at."""

    prior: str
    """A directory, a bundled prior's name, or hf:owner/name."""
    data: tuple[Path, ...]
    """Motion files and folders."""
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("runs/studies")
    """Folder for json, csv and figure."""
    clips: Literal["all", "trained", "held-out"] = "all"
    """All clips of the data, or only those the prior was, or was not, trained on."""
    motions: int = 100
    """At most this many clips, chosen at random."""
    transitions: int = 10_000
    """How many transitions, evenly from the clips."""
    control_rate: float = 30.0
    """Transitions are this many per second."""
    seed: int = 0
    """Of clips, transitions, noise and perturbations."""
    robot: str | None = None
    """A robot's name or the path of its MJCF; default: the prior's."""
    threads: int | None = None
    """Threads to compute with; default: as many as there are cores."""
    json: bool = False
    """Print one JSON object instead of the table."""

    def load(self, name: str) -> tuple[PosePrior, Robot, list[Motion]]:
        """The prior, its robot and the chosen clips, for the study of that name."""
        from pfmhr.motion.checks import find_motion_files
        from pfmhr.prior import PosePrior
        from pfmhr.studies.material import study_motions

        at_least_one(motions=self.motions, transitions=self.transitions)
        written = [self.out / f"{name}{kind}" for kind in (".json", ".csv", ".png")]
        refuse_replacing(written, find_motion_files(self.data))
        use_threads(self.threads)
        prior = PosePrior.load(self.prior)
        robot = prior.load_robot(self.robot)
        return prior, robot, study_motions(prior, self.data, self.clips, self.motions, self.seed, robot)

    def draw(self, name: str) -> tuple[PosePrior, Transitions]:
        """The prior, and transitions of the chosen clips, for the study of that name."""
        from pfmhr.studies.transitions import Transitions

        prior, _, motions = self.load(name)
        return prior, Transitions.draw(motions, self.transitions, time_step(self.control_rate), self.seed)

    def report(self, name: str, result: dict[str, Any]) -> None:
        """Write json and csv, and show the table."""
        from pfmhr.results.columns import STUDIES, as_cells, beside, heads
        from pfmhr.studies.tables import write_study

        about = {"clips": self.clips, "prior": self.prior, "data": [str(path) for path in self.data], "seed": self.seed}
        table = beside(result["rows"], STUDIES[name])
        write_study(self.out, name, {**result, **about}, table)
        if self.json:
            print_json(result)
            return
        print_table("", heads(table), as_cells(table))
        say(f"{result['transitions']:,} transitions; {self.out}/{name}.json, .csv, .png")


Studied = Annotated[Material, tyro.conf.arg(name="")]


def timestep(material: Studied, times: tuple[float, ...] = (), recommend: bool = False) -> int:
    """At which flow time does the score tell real pose changes from spoilt ones best? The supplement's table.

    Examples:
        pfmhr study timestep --prior runs/prior --data lafan1_g1
        pfmhr study timestep --prior g1-small --data reference.npz --recommend

    Args:
        material: what to look at.
        times: flow times to try; default: the paper's seven and four beyond.
        recommend: end with the t_eval to use for this prior and these references.
    """
    from pfmhr.studies import timestep as study
    from pfmhr.studies.plots import timestep_figure

    prior, transitions = material.draw("timestep")
    with progress_bar("flow times") as progress:
        result = study.timestep_study(prior, transitions, times or study.TIMES, material.seed, progress)
    material.report("timestep", result)
    timestep_figure(material.out / "timestep.png", result["rows"])
    if recommend and not material.json:
        say(study.recommendation(result))
    return 0


def noise(material: Studied, t_eval: float = T_EVAL) -> int:
    """Is one corruption sample enough? Estimates from K samples against one from 128.

    Examples:
        pfmhr study noise --prior runs/prior --data lafan1_g1

    Args:
        material: what to look at.
        t_eval: flow time of the score.
    """
    from pfmhr.studies import noise as study
    from pfmhr.studies.plots import noise_figure

    prior, transitions = material.draw("noise")
    with progress_bar("samples") as progress:
        result = study.noise_study(prior, transitions, t_eval, material.seed, progress)
    material.report("noise", result)
    noise_figure(material.out / "noise.png", result["rows"])
    return 0


def perturbation(material: Studied, t_eval: float = T_EVAL) -> int:
    """What does the score do to a change that is larger, turned, shuffled or partly reversed?

    Examples:
        pfmhr study perturbation --prior runs/prior --data lafan1_g1 --clips held-out

    Args:
        material: what to look at.
        t_eval: flow time of the score.
    """
    from pfmhr.studies import perturbation as study
    from pfmhr.studies.plots import perturbation_figure

    prior, transitions = material.draw("perturbation")
    result = study.perturbation_study(prior, transitions, t_eval, material.seed)
    material.report("perturbation", result)
    perturbation_figure(material.out / "perturbation.png", result["rows"])
    return 0


def plausibility(material: Studied, field: Path, t_eval: float = T_EVAL) -> int:
    """Which score sees what: PDF-HR, FM-Recon and PGS against bad poses and against bad changes.

    Prints the chance that each score puts a real transition above a broken one; 0.5 is blind.

    Examples:
        pfmhr study plausibility --prior runs/prior --field runs/distance --data lafan1_g1 --clips held-out

    Args:
        material: what to look at.
        field: directory of a distance field (``pfmhr distance train``).
        t_eval: flow time of the Pose Geometry Score.
    """
    from pfmhr.distance import PoseDistanceField
    from pfmhr.studies import plausibility as study
    from pfmhr.studies.plots import plausibility_figure

    prior, robot, motions = material.load("plausibility")
    loaded = PoseDistanceField.load(field, robot)
    with progress_bar("corruptions") as progress:
        result = study.plausibility_study(
            prior, loaded, motions, material.transitions, t_eval, material.control_rate, material.seed, progress, robot
        )
    material.report("plausibility", {**result, "field": str(field)})
    plausibility_figure(material.out / "plausibility.png", result["rows"])
    return 0
