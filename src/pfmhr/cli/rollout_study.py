"""``pfmhr study rollouts``: a prior and the tracker it is meant for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, say
from pfmhr.cli.options import tracking_extra, use_threads


def rollouts(
    run: tyro.conf.Positional[Path],
    /,
    prior: str = "g1-small",
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("runs/studies"),
    times: tuple[float, ...] = (),
    p_good: float = 0.05,
    p_bad: float = 0.01,
    steps: int = 60,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Would a prior cut anything a tracker does, when in training, and does what it cuts go wrong?

    Rolls a tracking run out as it was when training began and as it is now. "tells lost" is the chance that a
    transition of an episode that goes on has the higher percentile than one of an episode lost in the next 0.2 s.

    Examples:
        pfmhr study rollouts runs/walk --prior g1-small

    Args:
        run: directory of a tracking run.
        prior: a directory, a bundled prior's name, or a Hugging Face repository id.
        out: folder for json and csv.
        times: flow times to judge at; 0.3, 0.5, 0.75 and 0.9 unless said.
        p_good: percentile of the reference from which on nothing is cut.
        p_bad: percentile at and below which as much is cut as ever.
        steps: control steps of every environment.
        seed: of starts, exploration and noise.
        threads: threads to compute with; all cores unless said.
        json: print one JSON object.
    """
    from pfmhr.prior import PosePrior
    from pfmhr.reward.ramp import Ramp
    from pfmhr.studies.tables import cells, write_study

    use_threads(threads)
    with tracking_extra():
        from pfmhr.studies.rollouts import TIMES, rollout_study
        from pfmhr.tracking.runs import TrackerRun
    tracker, ramp = TrackerRun.load(run), Ramp(p_good=p_good, p_bad=p_bad)
    with progress_bar("judging") as progress:
        result = rollout_study(tracker, PosePrior.load(prior), times or TIMES, ramp, steps, seed, progress)
    about = {"run": str(run), "prior": prior, "p_good": p_good, "p_bad": p_bad, "seed": seed}
    write_study(out, "rollouts", {**result, **about}, result["rows"])
    if json:
        print_json(result)
        return 0
    print_table("", [column.replace("_", " ") for column in result["rows"][0]], cells(result["rows"]))
    say(f"after {tracker.samples:,} samples of training; {out}/rollouts.json, .csv")
    return 0
