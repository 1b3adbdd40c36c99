"""``pfmhr study …``: one command per question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import print_json, print_table, say, training_bar

Data = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="DATA...")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def extension(
    data: Data,
    /,
    out: Out = Path("runs/extension"),
    steps: int = 3000,
    batch_size: int = 2048,
    seed: int = 0,
    threads: int | None = None,
) -> int:
    """Is extending a prior cheaper than training it anew? Half of the clips, then all of them.

    Examples:
        pfmhr study extension lafan1_g1

    Args:
        data: motion files and folders.
        out: where the runs go.
        steps: of the run on half of the clips and of the run from scratch; the extension gets half as many.
        batch_size: poses per step.
        seed: of everything.
        threads: threads to compute with; all cores unless said.
    """
    from pfmhr.cli.prior import use_threads
    from pfmhr.prior import TrainConfig
    from pfmhr.robots import Robot
    from pfmhr.studies.extension import extension_study

    use_threads(threads)
    train = TrainConfig(steps=steps, batch_size=batch_size, seed=seed, evaluate_every=max(1, steps // 60))
    with training_bar("training") as progress:
        result = extension_study(data, out, Robot.load("g1"), train, say, progress)
    print_json({name: value for name, value in result.items() if name != "curves"})
    return 0


def prior_choices(
    data: Data,
    /,
    out: Out = Path("runs/prior-choices"),
    steps: int = 1500,
    batch_size: int = 2048,
    seed: int = 0,
    threads: int | None = None,
) -> int:
    """Which units, flow times and blocks make the better prior? The paper does not say; this measures.

    Examples:
        pfmhr study prior-choices lafan1_g1 g1_moves

    Args:
        data: motion files and folders.
        out: where the runs go.
        steps: of each run.
        batch_size: poses per step.
        seed: of everything.
        threads: threads to compute with; all cores unless said.
    """
    from pfmhr.cli.prior import use_threads
    from pfmhr.prior import TrainConfig
    from pfmhr.robots import Robot
    from pfmhr.studies.prior_choices import prior_choices_study

    use_threads(threads)
    train = TrainConfig(steps=steps, batch_size=batch_size, seed=seed, ema_decay=0.995, held_out=0.1)
    with training_bar("training") as progress:
        result = prior_choices_study(data, out, Robot.load("g1"), train, say, progress)
    rows = []
    for run in result["runs"]:
        scores = {time: fall["average"] for time, fall in run["discrimination"].items()}
        peak = max(scores, key=lambda time: scores[time])
        samples = run["samples"]
        rows.append(
            [
                run["name"],
                *(f"{scores[time]:.3f}" for time in ("0.5", "0.75", "0.9", "0.97")),
                f"{peak} ({scores[peak]:.3f})",
                f"{run['jacobian']['0.75']['asymmetry']:.3f}",
                f"{samples['wasserstein_per_joint']:.4f}",
                f"{samples['distance_of_reference_to_nearest']:.3f}",
            ]
        )
    head = ["run", "D(0.5)", "D(0.75)", "D(0.9)", "D(0.97)", "peak", "asymmetry", "Wasserstein", "coverage"]
    print_table("", head, rows)
    return 0
