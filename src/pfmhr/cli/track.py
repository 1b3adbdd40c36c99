"""``pfmhr track eval | compare | play | export``."""

from __future__ import annotations

from math import inf
from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import measured, print_json, print_table, progress_bar, say, write_result
from pfmhr.cli.options import at_least_one, refuse_replacing, tracking_extra, use_threads
from pfmhr.errors import InputError

Run = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
Runs = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN...")]


def evaluate(
    run: Run,
    /,
    episodes: int = 256,
    horizon: tuple[float, ...] = (10.0,),
    distance: float | None = None,
    seed: int = 1,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Evaluate a tracker with its mean actions: share of the reference tracked, E_pos and E_rot with intervals.

    Examples:
        pfmhr track eval runs/walk --episodes 1024
        pfmhr track eval runs/lafan --horizon 10 20 30 --json

    Args:
        run: directory of a tracking run, finished or not.
        episodes: how many from random starts; from the beginning every clip has one.
        horizon: lengths of an episode in s.
        distance: m at which an episode is lost; default: 1.0, vaults 0.5. Success at 0.5 m is reported beside it.
        seed: of the random starts.
        threads: threads for physics and networks; default: as many as there are cores.
        json: print one JSON object.
    """
    with tracking_extra():
        from pfmhr.tracking.runs import TrackerRun
        from pfmhr.tracking.runs.evaluation import from_both_starts
    from pfmhr.results.records import to_json
    from pfmhr.results.wording import interval

    at_least_one(episodes=episodes)
    if not horizon or not all(0 < each < inf for each in horizon):
        raise InputError("--horizon must be positive", expected="seconds, one or more numbers", code="bad_config")
    use_threads(threads)
    loaded = TrackerRun.load(run)
    found = from_both_starts(
        lambda count: loaded.evaluator(count, max(horizon), distance, threads), episodes, loaded.policy, horizon, seed
    )
    rows = [each for pair in zip(found.random, found.beginning, strict=True) for each in pair]
    if json:
        print_json({"run": str(run), "samples": loaded.samples, "evaluations": [to_json(row) for row in rows]})
        return 0
    columns = ["start", "s", "success %", "pooled %", "at 0.5 m %", "E_pos mm", "E_rot rad", "body mm", "root mm"]
    lines = [
        [
            str(row.start),
            f"{row.horizon:g}",
            f"{100 * row.success:.1f}{interval(*(row.success_interval or (None, None)), '.1f', 100.0)}",
            measured(row.success_pooled, 100.0, 1),
            measured(row.success_strict, 100.0, 1),
            measured(row.position_error, 1000.0, 1),
            measured(row.rotation_error, 1.0, 3),
            measured(row.body_error, 1000.0, 1),
            measured(row.root_error, 1000.0, 0),
        ]
        for row in rows
    ]
    print_table(f"{run} after {loaded.samples:,} samples, {episodes} random starts", columns, lines)
    if len(loaded.motions) > 1:
        names = [motion.name for motion in loaded.motions]
        heads = [f"{row.start} {row.horizon:g} s" for row in rows]
        per_clip = zip(names, *(row.success_by_clip for row in rows), strict=True)
        shares = [[name, *(measured(share, 100.0, 1) for share in each)] for name, *each in per_clip]
        print_table("success % by clip", ["clip", *heads], shares)
    return 0


def compare(runs: Runs, /, figure: Path | None = None, output: Path | None = None, json: bool = False) -> int:
    """Put finished runs side by side: mean ± population deviation over seeds, as the paper reports them.

    Examples:
        pfmhr track compare runs/walk-* --figure curves.png

    Args:
        runs: directories of finished runs; those that differ in their seed only are one row.
        figure: also draw the learning curves here; default: nowhere.
        output: also write rows, curves, command and machine here, as JSON; default: nowhere.
        json: print one JSON object.
    """
    from pfmhr.provenance import provenance
    from pfmhr.results.comparing import COLUMNS, as_text
    from pfmhr.results.comparing import compare as compare_runs
    from pfmhr.results.figures import draw_run_curves
    from pfmhr.results.records import to_json

    if output is not None:
        refuse_replacing([output], _files_of(*runs))
    compared = compare_runs(runs)
    content = to_json(compared)
    write_result(output, content | provenance())
    if figure is not None:
        draw_run_curves(compared.curves, figure)
    if json:
        print_json({"rows": content["rows"]})
        return 0
    print_table("tracking", COLUMNS, [as_text(row) for row in compared.rows])
    grid = max(row.grid or 0.0 for row in compared.rows)
    say(f"evaluated every {grid:.3f} M samples; crossings of 80 % are interpolated between evaluations")
    return 0


def play(
    run: Run,
    /,
    output: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    seconds: float = 10.0,
    start: float = 0.0,
    clip: int = 0,
    fps: float = 30.0,
    width: int = 640,
    height: int = 480,
    json: bool = False,
) -> int:
    """Film one episode of a tracker with its mean actions: the reference in blue, what the physics made of it in grey.

    Examples:
        pfmhr track play runs/walk
        pfmhr track play runs/lafan --clip 3 --start 12.5 --seconds 5 --output dance.gif --fps 20

    Args:
        run: directory of a tracking run, finished or not.
        output: video to write, .mp4 or .gif; default: play.mp4 in the run's directory (.gif without ffmpeg).
        seconds: longest time to play; an episode that is lost ends as in an evaluation.
        start: moment of the clip to start from, in s.
        clip: number of the clip, from 0, for runs with several.
        fps: frames per second of the video.
        width: of the video in pixels.
        height: of the video in pixels.
        json: print one JSON object.
    """
    with tracking_extra():
        from pfmhr.tracking.runs import TrackerRun
        from pfmhr.tracking.watch.episode import record_episode
        from pfmhr.tracking.watch.play import check_film, default_film, film

    use_threads(1)
    path, size = output or default_film(run), (width, height)
    check_film(path, fps, size)
    episode = record_episode(TrackerRun.load(run), clip, start, seconds)
    with progress_bar("drawing") as progress:
        drawn_by = film(episode, path, fps, size, progress)
    if json:
        about = {"tracked": episode.tracked, "possible": episode.possible, "lost": episode.lost}
        print_json({"path": str(path), **about, "drawn_by": drawn_by})
        return 0
    end = f"then lost: {episode.lost}" if episode.lost else "to the end"
    say(f"{path}: tracked {episode.tracked:.2f} of {episode.possible:.2f} s, {end}; drawn by {drawn_by}")
    return 0


def export(run: Run, /, out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None, json: bool = False) -> int:
    """Write a tracker's policy as ONNX, with everything a controller has to know in its metadata.

    Examples:
        pfmhr track export runs/walk -o walk.onnx

    Args:
        run: directory of a tracking run, finished or not.
        out: file to write; default: policy.onnx in the run's directory.
        json: print one JSON object.
    """
    with tracking_extra():
        from pfmhr.tracking.runs import TrackerRun
        from pfmhr.tracking.watch.export import TOLERANCE, export_policy

    use_threads(1)
    path = out or run / "policy.onnx"
    refuse_replacing([path], _files_of(run))
    loaded = TrackerRun.load(run)
    metadata = export_policy(loaded, path)
    if json:
        print_json({"path": str(path), "samples": loaded.samples, "metadata": metadata})
        return 0
    kind = f"{metadata['observation_type']} observations, {metadata['action_type']} actions"
    say(f"{path}: {kind}, after {loaded.samples:,} samples; equal to torch to {TOLERANCE:g}")
    return 0


def _files_of(*runs: Path) -> list[Path]:
    """What runs consist of."""
    from pfmhr.layout import EPISODES, RESULT, RUN
    from pfmhr.tracking.runs import CLIPS
    from pfmhr.tracking.runs.training import CHECKPOINT

    parts = [run / name for run in runs for name in (RUN, RESULT, EPISODES, CHECKPOINT)]
    return [*parts, *(clip for run in runs for clip in (run / CLIPS).glob("*"))]
