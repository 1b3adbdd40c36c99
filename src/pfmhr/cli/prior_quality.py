"""``pfmhr prior eval | closed-form``: is a prior any good?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, remark, say, training_bar
from pfmhr.cli.options import at_least_one, use_threads
from pfmhr.cli.prior import Corpus, Out, Prior


def evaluate(
    prior: Prior,
    corpus: Corpus,
    /,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    robot: str | None = None,
    poses: int = 4000,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Judge a prior on poses it has not seen: held-out loss, the shape of its Jacobian, its samples.

    The sources held out in training are held out here. The yardstick beside the samples' figures is
    the same comparison between two halves of the data.

    Examples:
        pfmhr prior eval runs/prior corpora/mine -o runs/prior/eval

    Args:
        prior: a directory, a bundled prior's name, or hf:owner/name.
        corpus: the corpus it was trained on, or another one.
        out: folder for eval.json and a page of plots; default: neither is written.
        robot: path of the MJCF, for a robot that is not bundled; default: the prior's robot.
        poses: how many held-out poses and samples.
        seed: of the samples.
        json: print one JSON object.
    """
    from pfmhr.corpus import PoseCorpus
    from pfmhr.files import write_json
    from pfmhr.prior import PosePrior
    from pfmhr.prior.evaluation import evaluate_prior
    from pfmhr.provenance import provenance
    from pfmhr.robots import Robot

    at_least_one(poses=poses)
    loaded, opened = PosePrior.load(prior), PoseCorpus.open(corpus)
    result = evaluate_prior(loaded, opened, Robot.load(robot or loaded.robot), poses, seed, out) | provenance()
    if out is not None:
        write_json(out / "eval.json", result)
    if json:
        print_json(result)
        return 0
    _show_evaluation(result)
    if out is not None:
        say(f"{out}/eval.json, {out}/eval.png")
    return 0


def closed_form(
    out: Out,
    preset: Literal["tiny", "small", "paper"] = "small",
    steps: int = 8000,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Train on a mixture of Gaussians, where the right Jacobian is known, and say how far off ours is.

    Examples:
        pfmhr prior closed-form -o runs/closed-form

    Args:
        out: directory of the run.
        preset: size of the network.
        steps: how many steps.
        seed: of the mixture and the training.
        threads: threads to compute with; default: as many as there are cores.
        json: print one JSON object.
    """
    from pfmhr.files import write_json
    from pfmhr.prior import PriorConfig, TrainConfig
    from pfmhr.prior import preset as network_preset
    from pfmhr.prior.closed_form import closed_form_check
    from pfmhr.provenance import provenance
    from pfmhr.robots import Robot

    use_threads(threads)
    config, training = PriorConfig(network=network_preset(preset)), TrainConfig(steps=steps, seed=seed)
    with training_bar("training") as progress:
        result = closed_form_check(out, Robot.load("g1"), config, training, 8, seed, remark, progress)
    result |= {"steps": steps, "batch_size": training.batch_size, "seed": seed, **provenance()}
    write_json(out / "closed_form.json", result)
    if json:
        print_json(result)
        return 0
    figures = list(next(iter(result["by_time"].values())))
    rows = [[time, *(f"{errors[name]:.4f}" for name in figures)] for time, errors in result["by_time"].items()]
    print_table("", ["flow time", *(name.replace("_", " ") for name in figures)], rows)
    return 0


def _show_evaluation(result: dict[str, Any]) -> None:
    losses = result["loss_by_time"]
    print_table(
        "held-out velocity loss per joint", ["t", *losses], [["loss", *(f"{loss:.3f}" for loss in losses.values())]]
    )
    shapes = result["jacobian"]
    names = list(next(iter(shapes.values())))
    rows = [[time, *(f"{shape[name]:.4f}" for name in names)] for time, shape in shapes.items()]
    print_table("shape of the Jacobian", ["t", *(name.replace("_", " ") for name in names)], rows)
    comparisons = ("samples_against_held_out", "data_against_held_out", "two_halves_of_the_data")
    figures = list(result[comparisons[0]])
    rows = [[name.replace("_", " "), *(f"{result[which][name]:.4f}" for which in comparisons)] for name in figures]
    print_table("likeness", ["", *(which.replace("_", " ") for which in comparisons)], rows)
