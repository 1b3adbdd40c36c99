"""``pfmhr prior eval``: is a prior any good?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import tyro

from pfmhr.cli.console import print_json, print_table, say
from pfmhr.cli.options import at_least_one
from pfmhr.cli.prior import Corpus, Prior


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

    at_least_one(poses=poses)
    loaded, opened = PosePrior.load(prior), PoseCorpus.open(corpus)
    result = evaluate_prior(loaded, opened, loaded.load_robot(robot), poses, seed, out) | provenance()
    if out is not None:
        write_json(out / "eval.json", result)
    if json:
        print_json(result)
        return 0
    _show_evaluation(result)
    if out is not None:
        say(f"{out}/eval.json, {out}/eval.png")
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
