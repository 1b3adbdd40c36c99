"""``pfmhr study data-scale | extension | prior-choices``: studies that train priors of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import print_json, print_table, say, teller, training_bar
from pfmhr.cli.options import use_threads

Data = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="DATA...")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def data_scale(
    data: Data,
    /,
    out: Out = Path("runs/data-scale"),
    steps: int = 3000,
    batch_size: int = 2048,
    transitions: int = 10_000,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """How does the best evaluation time move with the size of the corpus? Priors on nested subsets ×1, ×4, ×16.

    Examples:
        pfmhr study data-scale lafan1_g1 g1_moves

    Args:
        data: motion files and folders.
        out: where corpora and runs go.
        steps: of each run.
        batch_size: poses per step.
        transitions: how many, from clips no prior has seen.
        seed: of everything.
        threads: threads to compute with; all cores unless said.
        json: print one JSON object.
    """
    from pfmhr.prior import TrainConfig
    from pfmhr.robots import Robot
    from pfmhr.studies.data_scale import data_scale_study

    use_threads(threads)
    train = TrainConfig(steps=steps, batch_size=batch_size, seed=seed, held_out=0.1)
    with training_bar("training") as progress:
        result = data_scale_study(data, out, Robot.load("g1"), train, transitions, teller(json), progress)
    if json:
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


def extension(
    data: Data,
    /,
    out: Out = Path("runs/extension"),
    steps: int = 3000,
    batch_size: int = 2048,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
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
        json: print one JSON object.
    """
    from pfmhr.prior import TrainConfig
    from pfmhr.robots import Robot
    from pfmhr.studies.extension import extension_study

    use_threads(threads)
    train = TrainConfig(steps=steps, batch_size=batch_size, seed=seed, evaluate_every=max(1, steps // 60))
    with training_bar("training") as progress:
        result = extension_study(data, out, Robot.load("g1"), train, teller(json), progress)
    if json:
        print_json({name: value for name, value in result.items() if name != "curves"})
        return 0
    losses = result["held_out_loss"]
    print_table("", ["prior", "held-out loss"], [[name, f"{loss:.4f}"] for name, loss in losses.items()])
    reached = result["steps_until_extended_is_as_good"]
    when = f"after {reached:,} of {steps:,} steps" if reached else "not in half the steps"
    say(f"the extended prior is as good as the one from scratch {when}")
    return 0


def prior_choices(
    data: Data,
    /,
    out: Out = Path("runs/prior-choices"),
    steps: int = 1500,
    batch_size: int = 2048,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
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
        json: print one JSON object.
    """
    from pfmhr.prior import TrainConfig
    from pfmhr.robots import Robot
    from pfmhr.studies.prior_choices import prior_choices_study

    use_threads(threads)
    train = TrainConfig(steps=steps, batch_size=batch_size, seed=seed, ema_decay=0.995, held_out=0.1)
    with training_bar("training") as progress:
        result = prior_choices_study(data, out, Robot.load("g1"), train, teller(json), progress)
    if json:
        print_json(result)
        return 0
    rows = []
    for run in result["runs"]:
        scores = {row["t_eval"]: row["average"] for row in run["timestep"]["rows"]}
        peak = run["timestep"]["best_t_eval"]
        samples = run["samples"]
        rows.append(
            [
                run["name"],
                *(f"{scores[time]:.3f}" for time in (0.75, 0.9, 0.97)),
                f"{peak:g} ({scores[peak]:.3f})",
                f"{max(row['sign_flip'] for row in run['timestep']['rows']):.3f}",
                f"{run['jacobian']['0.75']['asymmetry']:.3f}",
                f"{samples['wasserstein_per_joint']:.4f}",
                f"{samples['distance_of_reference_to_nearest']:.3f}",
            ]
        )
    head = ["run", "D(0.75)", "D(0.9)", "D(0.97)", "peak", "sign flips", "asymmetry", "Wasserstein", "coverage"]
    print_table("", head, rows)
    return 0


def shared_times(
    data: Data,
    /,
    out: Out = Path("runs/shared-times"),
    steps: int = 1500,
    batch_size: int = 2048,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Does sharing flow times within a batch cost anything? Held-out loss of both ways at equal samples.

    Examples:
        pfmhr study shared-times lafan1_g1

    Args:
        data: motion files and folders.
        out: where the runs go.
        steps: of each run.
        batch_size: poses per step.
        seed: of everything.
        threads: threads to compute with; all cores unless said.
        json: print one JSON object.
    """
    from pfmhr.prior import TrainConfig
    from pfmhr.robots import Robot
    from pfmhr.studies.shared_times import shared_times_study

    use_threads(threads)
    train = TrainConfig(
        steps=steps, batch_size=batch_size, seed=seed, ema_decay=0.995, evaluate_every=max(1, steps // 30)
    )
    with training_bar("training") as progress:
        result = shared_times_study(data, out, Robot.load("g1"), train, teller(json), progress)
    if json:
        print_json(result)
        return 0
    for way in ("shared", "one per pose"):
        say(f"{way}: held-out loss {result[way]['held_out_loss']:.4f}")
    return 0
