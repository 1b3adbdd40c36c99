"""``pfmhr study rollouts``: a prior and the tracker it is meant for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, say
from pfmhr.cli.options import tracking_extra, use_threads
from pfmhr.reward.ramp import Ramp


def rollouts(
    runs: Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN...")],
    /,
    prior: str = "g1-small",
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("runs/studies"),
    times: tuple[float, ...] = (),
    p_good: float = Ramp.p_good,
    p_bad: float = Ramp.p_bad,
    steps: int = 60,
    seed: int = 0,
    hold: tuple[str, ...] = (),
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Would a prior cut anything a tracker does, when in training, and does what it cuts go wrong?

    Rolls a tracking run out as it was when training began and as it is now; of several copies of its directory, made
    while it was trained, as it was then. "tells lost" is the chance that a
    transition of an episode that goes on has the higher percentile than one of an episode lost in the next 0.2 s.

    Examples:
        pfmhr study rollouts runs/walk --prior g1-small
        pfmhr study rollouts runs/walk-early runs/walk-later runs/walk
        pfmhr study rollouts runs/walk --hold wrist

    Args:
        runs: directory of a tracking run, or of the same run at several moments.
        prior: a directory, a bundled prior's name, or hf:owner/name.
        out: folder for json and csv.
        times: flow times to judge at; default: 0.3, 0.5, 0.75 and 0.9.
        p_good: percentile of the reference from which on nothing is cut.
        p_bad: percentile at and below which as much is cut as ever.
        steps: control steps of every environment.
        seed: of starts, exploration and noise.
        hold: joints with one of these words in their names count as still; default: none.
        threads: threads to compute with; default: as many as there are cores.
        json: print one JSON object.
    """
    from pfmhr.prior import PosePrior
    from pfmhr.results.columns import as_cells, heads
    from pfmhr.studies.tables import write_study

    use_threads(threads)
    with tracking_extra():
        from pfmhr.studies.rollouts import TIMES, rollout_study
        from pfmhr.tracking.runs import TrackerRun
    trackers, ramp = [TrackerRun.load(run) for run in runs], Ramp(p_good=p_good, p_bad=p_bad)
    with progress_bar("judging") as progress:
        result = rollout_study(trackers, PosePrior.load(prior), times or TIMES, ramp, steps, seed, hold, progress)
    about = {
        "run": " ".join(map(str, runs)),
        "prior": prior,
        "p_good": p_good,
        "p_bad": p_bad,
        "seed": seed,
        "hold": hold,
    }
    write_study(out, "rollouts", {**result, **about}, result["rows"])
    if json:
        print_json(result)
        return 0
    print_table("", heads(result["rows"]), as_cells(result["rows"]))
    say(f"after {result['samples']:,} samples of training; {out}/rollouts.json, .csv")
    return 0
