"""``pfmhr distance train``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, say, teller, training_bar
from pfmhr.cli.options import given, use_threads


def train(
    corpus: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CORPUS")],
    /,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    preset: Literal["cpu", "paper"] = "cpu",
    pairs: int | None = None,
    robot: str | None = None,
    metric: Literal["l2", "l1"] = "l2",
    neighbours: int = 1,
    steps: int | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Train a pose distance field (PDF-HR) on a corpus: first labelled pairs, then the field.

    The same command goes on after any interruption.

    Examples:
        pfmhr distance train corpora/mine -o runs/distance

    Args:
        corpus: folder of a pose corpus.
        out: directory of the run; pairs lie in its folder "pairs".
        preset: settings that fit two cores, or PDF-HR's own (65,536 poses per step, 15,000 steps).
        pairs: how many labelled poses to make.
        robot: path of the MJCF, for a robot that is not bundled.
        metric: of the distances: L2 or L1 over the joints, in rad.
        neighbours: the label is the mean distance to so many nearest poses.
        steps: how many steps.
        batch_size: poses per step.
        learning_rate: peak of the learning rate.
        seed: of pairs, initial weights and batches.
        threads: threads to compute with; all cores unless said.
        json: print one JSON object.
    """
    from dataclasses import replace

    from pfmhr.corpus import PoseCorpus
    from pfmhr.distance import DistanceConfig, PairConfig, make_pairs, train_distance
    from pfmhr.distance.neighbours import limit_threads
    from pfmhr.distance.network import DistanceNetworkConfig
    from pfmhr.distance.training import PAPER, require_trainable

    use_threads(threads)
    limit_threads(threads)
    opened = PoseCorpus.open(corpus)
    body = opened.load_robot(robot)
    count = PairConfig().count if pairs is None else pairs
    wanted = PairConfig(count=count, metric=metric, neighbours=neighbours, seed=seed)
    changes = {"steps": steps, "batch_size": batch_size, "learning_rate": learning_rate}
    start = PAPER if preset == "paper" else DistanceConfig()
    config = replace(start, seed=seed, **given(changes))
    require_trainable(out, wanted.count, body, config, DistanceNetworkConfig())
    with progress_bar("labelling") as labelled:
        made = make_pairs(out / "pairs", opened, body, wanted, teller(json), labelled)
    with training_bar("training") as progress:
        field = train_distance(out, made, body, config, say=teller(json), progress=progress)
    held_out = field.about["held_out"]
    if json:
        print_json({"path": str(out), **field.about})
        return 0
    rows = [[band, f"{each['error']:.3f}", f"{each['pairs']:,}"] for band, each in held_out["by_distance"].items()]
    print_table("held-out error in rad, by distance", ["distance", "error", "pairs"], rows)
    say(f"{out}: held-out error {held_out['error']:.4f} rad")
    return 0
