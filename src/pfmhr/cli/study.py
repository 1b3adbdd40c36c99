"""``pfmhr study …``: one command per question."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import print_json, say, training_bar

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
