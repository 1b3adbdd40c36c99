"""``pfmhr distance train``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, say, teller, training_bar
from pfmhr.cli.options import use_threads
from pfmhr.cli.values import Flat, with_presets
from pfmhr.distance import DistanceConfig, PairConfig
from pfmhr.distance.training import PAPER


@dataclass(frozen=True)
class PairOptions(PairConfig):
    """What pairs to make."""

    seed: Annotated[int, tyro.conf.Suppress] = 0
    """The training's own."""


@with_presets(config={"cpu": DistanceConfig(), "paper": PAPER})
def train(
    corpus: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CORPUS")],
    /,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])],
    preset: Literal["cpu", "paper"] = "cpu",
    config: Flat[DistanceConfig] = DistanceConfig(),  # noqa: B008
    pairs: PairOptions = PairOptions(),  # noqa: B008
    robot: str | None = None,
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
        robot: path of the MJCF, for a robot that is not bundled; default: the corpus's robot.
        threads: threads to compute with; default: as many as there are cores.
        json: print one JSON object.
    """
    from pfmhr.corpus import PoseCorpus
    from pfmhr.distance import make_pairs, train_distance
    from pfmhr.distance.neighbours import limit_threads
    from pfmhr.distance.network import DistanceNetworkConfig
    from pfmhr.distance.training import require_trainable

    use_threads(threads)
    limit_threads(threads)
    opened = PoseCorpus.open(corpus)
    body = opened.load_robot(robot)
    wanted = replace(pairs, seed=config.seed)
    require_trainable(out, wanted.count, body, config, DistanceNetworkConfig())
    with progress_bar("labelling") as labelled:
        made = make_pairs(out / "pairs", opened, body, wanted, teller(json), labelled)
    with training_bar("training") as progress:
        field = train_distance(out, made, body, config, say=teller(json), progress=progress)
    return _show(out, field.about, json)


def _show(out: Path, about: dict[str, Any], json: bool) -> int:
    held_out = about["held_out"]
    if json:
        print_json({"path": str(out), **about})
        return 0
    rows = [[band, f"{each['error']:.3f}", f"{each['pairs']:,}"] for band, each in held_out["by_distance"].items()]
    print_table("held-out error in rad, by distance", ["distance", "error", "pairs"], rows)
    say(f"{out}: held-out error {held_out['error']:.4f} rad")
    return 0
