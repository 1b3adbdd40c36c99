"""``pfmhr study data-scale | extension``: studies that train priors of their own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from pfmhr.cli.console import print_json, print_table, say, teller, training_bar
from pfmhr.cli.options import at_least_one, use_threads
from pfmhr.errors import InputError

if TYPE_CHECKING:
    from pfmhr.prior import TrainConfig
    from pfmhr.robots import Robot

Data = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="DATA...")]


@dataclass(frozen=True)
class Plan:
    """What priors are trained on, and for how long."""

    data: Data
    """Motion files and folders."""
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None
    """Where corpora, runs and the result go; default: runs/NAME of the study."""
    steps: int | None = None
    """Of each run; default: 3,000."""
    batch_size: int = 2048
    """Poses per step."""
    seed: int = 0
    """Of everything."""
    robot: str = "g1"
    """A robot's name or the path of its MJCF."""
    threads: int | None = None
    """Threads to compute with; default: as many as there are cores."""
    json: bool = False
    """Print one JSON object."""

    def start(self, name: str, steps: int, **training: Any) -> tuple[Path, Robot, TrainConfig]:
        """Folder, robot and training of a study whose runs have ``steps`` by default."""
        from pfmhr.prior import TrainConfig
        from pfmhr.robots import Robot

        at_least_one(steps=self.steps, batch_size=self.batch_size)
        if self.batch_size % (times := TrainConfig.distinct_times):  # of which studies have no option
            expected = f"a multiple of {times}"
            raise InputError("--batch-size", expected=expected, got=self.batch_size, code="bad_config")
        use_threads(self.threads)
        train = TrainConfig(steps=self.steps or steps, batch_size=self.batch_size, seed=self.seed, **training)
        return self.out or Path("runs") / name, Robot.load(self.robot), train

    def often(self, times: int, steps: int) -> int:
        """Steps between evaluations if there are to be so many of them."""
        return max(1, (self.steps or steps) // times)


Planned = Annotated[Plan, tyro.conf.arg(name="")]


def data_scale(plan: Planned, transitions: int = 10_000) -> int:
    """How does the best evaluation time move with the size of the corpus? Priors on nested subsets ×1, ×4, ×16.

    Examples:
        pfmhr study data-scale lafan1_g1 g1_moves

    Args:
        plan: what to train on.
        transitions: how many, from clips no prior has seen.
    """
    from pfmhr.studies.data_scale import data_scale_study

    at_least_one(transitions=transitions)
    out, robot, train = plan.start("data-scale", 3000, held_out=0.1)
    with training_bar("training") as progress:
        result = data_scale_study(plan.data, out, robot, train, transitions, teller(plan.json), progress)
    if plan.json:
        print_json(result)
        return 0
    sizes = result["sizes"]
    times = [row["t_eval"] for row in next(iter(sizes.values()))["rows"]]
    rows = [
        [f"{int(size):,}", f"{each['best_t_eval']:g}", *(f"{row['average']:.3f}" for row in each["rows"])]
        for size, each in sizes.items()
    ]
    print_table("", ["poses", "best", *(f"{time:g}" for time in times)], rows)
    return 0


def extension(plan: Planned) -> int:
    """Is extending a prior cheaper than training it anew? Half of the clips, then all, the extension in half the steps.

    Examples:
        pfmhr study extension lafan1_g1

    Args:
        plan: what to train on.
    """
    from pfmhr.studies.extension import extension_study

    out, robot, train = plan.start("extension", 3000, evaluate_every=plan.often(60, 3000))
    with training_bar("training") as progress:
        result = extension_study(plan.data, out, robot, train, teller(plan.json), progress)
    if plan.json:
        print_json({name: value for name, value in result.items() if name != "curves"})
        return 0
    losses = result["held_out_loss"]
    print_table("", ["prior", "held-out loss"], [[name, f"{loss:.4f}"] for name, loss in losses.items()])
    reached = result["steps_until_extended_is_as_good"]
    when = f"after {reached:,} of {train.steps:,} steps" if reached else "not in half the steps"
    say(f"the extended prior is as good as the one from scratch {when}")
    return 0
