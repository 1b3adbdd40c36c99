"""``pfmhr track train | eval | compare | play | export``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, say, teller, training_bar
from pfmhr.cli.options import at_least_one, given, read_clip, tracking_extra, use_threads
from pfmhr.errors import InputError

if TYPE_CHECKING:
    from pfmhr.motion import Motion
    from pfmhr.robots import Robot

Motions = Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="MOTION...")]
Run = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RUN")]
Runs = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="RUN...")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def train(
    motions: Motions,
    /,
    out: Out,
    preset: Literal["cpu", "paper"] = "cpu",
    prior: str = "none",
    modulator: Literal["pfm", "recon", "pdf", "random"] | None = None,
    reward: Literal["add", "deepmimic"] = "add",
    samples: int | None = None,
    seed: int = 0,
    environments: int | None = None,
    actions: Literal["residual", "absolute"] | None = None,
    t_eval: float | None = None,
    alpha: float | None = None,
    p_good: float | None = None,
    p_bad: float | None = None,
    pooled: bool = False,
    evaluate_every: int | None = None,
    episodes: int | None = None,
    horizon: tuple[float, ...] = (),
    fps: float | None = None,
    trim: tuple[float, float] | None = None,
    robot: str = "g1",
    set: tuple[str, ...] = (),
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Train a physics tracker on one or several motions. The same command goes on after any interruption.

    Examples:
        pfmhr track train embedded:walk -o runs/walk
        pfmhr track train walk.pkl -o runs/walk-prior --prior g1-small
        pfmhr track train lafan1_g1/dance1_subject1.csv.gz -o runs/dance --fps 30 --trim 20 30
        pfmhr track train embedded:walk -o runs/walk-short --set agent.discount=0.95 agent.hidden=[512,256]

    Args:
        motions: motion files, or embedded clips as embedded:walk.
        out: directory of the run.
        preset: cpu learns fastest on two cores; paper has every number of the paper's table.
        prior: none, or the prior in the loop: a directory or a bundled name (a distance field for modulator pdf).
        modulator: what is made of the prior: pfm, recon or pdf; random is a control without a prior.
        reward: what the tracking reward is.
        samples: transitions to train on.
        seed: of networks, starts, actions and minibatches.
        environments: robots simulated at once.
        actions: residual adds to the next reference pose; absolute is centred on zero, as in MimicKit.
        t_eval: flow time of the score.
        alpha: strength of the modulator's cut.
        p_good: percentile from which the reward is left alone.
        p_bad: percentile below which the cut is full.
        pooled: one reference distribution for all clips.
        evaluate_every: iterations between evaluations.
        episodes: episodes of an evaluation.
        horizon: lengths of evaluated episodes in s, the first to judge learning by; as in training unless said.
        fps: frame rate of csv files that state none.
        trim: keep the time from START to STOP of every clip, in s.
        robot: a robot's name or the path of its MJCF.
        set: any other number as section.name=value, sections being environment, agent, adversary and modulator.
        threads: threads for physics and networks; all cores unless said.
        json: print the result as one JSON object.
    """
    from pfmhr.bench.machine import provenance
    from pfmhr.robots import Robot

    with tracking_extra():
        from pfmhr.tracking.config import ModulatorConfig, tracker_preset, with_actions
        from pfmhr.tracking.runs import train_tracker
        from pfmhr.tracking.settings import with_settings

    at_least_one(samples=samples, environments=environments, evaluate_every=evaluate_every, episodes=episodes)
    use_threads(threads)
    start = with_actions(tracker_preset(preset), actions)
    kind = modulator or ("none" if prior == "none" else "pfm")
    strength = given({"t_eval": t_eval, "alpha": alpha, "p_good": p_good, "p_bad": p_bad})
    _refuse_idle(kind, {**strength, **({"pooled": pooled} if pooled else {})}, prior)
    config = replace(
        start,
        environment=replace(start.environment, **given({"environments": environments})),
        modulator=ModulatorConfig(kind, "" if prior == "none" else prior, pooled=pooled, **strength),
        reward=reward,
        seed=seed,
        horizons=horizon,
        **given({"samples": samples, "evaluate_every": evaluate_every, "evaluation_episodes": episodes}),
    )
    config = with_settings(config, set)
    loaded = Robot.load(robot)
    clips = [_motion(name, loaded, fps, trim) for name in motions]
    with training_bar("training") as progress:
        result = train_tracker(out, loaded, clips, config, threads, teller(json), progress, provenance())
    if json:
        print_json(result)
        return 0
    reached = result["samples_to_80"]
    final = result["final"]["random"]
    when = f"80 % tracked after {reached / 1e6:.2f} M samples" if reached is not None else "80 % never reached"
    say(f"{out}: {when}; at the end {final['success']:.1%}, E_pos {_measured(final['position_error'], 1000.0, 1)} mm")
    return 0


HEEDED: dict[str, tuple[str, ...]] = {
    "none": (),
    "random": ("alpha",),
    "pdf": ("alpha", "prior"),
    "recon": ("alpha", "p_good", "p_bad", "pooled", "prior"),
    "pfm": ("t_eval", "alpha", "p_good", "p_bad", "pooled", "prior"),
}
"""Options that change something, by modulator."""


def _refuse_idle(kind: str, given: dict[str, object], prior: str) -> None:
    """An option without effect would make the same tracker under another name."""
    options = {**given, **({} if prior == "none" else {"prior": prior})}
    idle = [f"--{name.replace('_', '-')}" for name in options if name not in HEEDED[kind]]
    if idle:
        what = "without a modulator" if kind == "none" else f"with modulator {kind}"
        raise InputError(f"{', '.join(idle)} would change nothing {what}", code="bad_config")


def _motion(name: str, robot: Robot, fps: float | None, trim: tuple[float, float] | None) -> Motion:
    from pfmhr.motion.repair import trim as trimmed

    motion = read_clip(name, robot, fps)
    return motion if trim is None else trimmed(motion, *trim)[0]


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
        distance: m at which an episode is lost; 1.0 (vaults 0.5) unless said. Success at 0.5 m is reported beside it.
        seed: of the random starts.
        threads: threads for physics and networks; all cores unless said.
        json: print one JSON object.
    """
    with tracking_extra():
        from pfmhr.tracking.evaluation import from_both_starts
        from pfmhr.tracking.runs import TrackerRun

    at_least_one(episodes=episodes)
    if not horizon or min(horizon) <= 0:
        raise InputError("--horizon must be positive", expected="seconds, one or more numbers", code="bad_config")
    use_threads(threads)
    loaded = TrackerRun.load(run)
    found = from_both_starts(
        lambda count: loaded.evaluator(count, max(horizon), distance, threads), episodes, loaded.policy, horizon, seed
    )
    rows = [each.to_dict() for pair in zip(*found.values(), strict=True) for each in pair]
    if json:
        print_json({"run": str(run), "samples": loaded.samples, "evaluations": rows})
        return 0
    columns = ["start", "s", "success %", "at 0.5 m %", "E_pos mm", "E_rot rad", "body mm", "root mm"]
    lines = [
        [
            row["start"],
            f"{row['horizon']:.0f}",
            "{:.1f} [{:.1f}, {:.1f}]".format(*(100 * each for each in (row["success"], *row["success_interval"]))),
            f"{100 * row['success_strict']:.1f}",
            _measured(row["position_error"], 1000.0, 1),
            _measured(row["rotation_error"], 1.0, 3),
            _measured(row["body_error"], 1000.0, 1),
            _measured(row["root_error"], 1000.0, 0),
        ]
        for row in rows
    ]
    print_table(f"{run} after {loaded.samples:,} samples, {episodes} random starts", columns, lines)
    return 0


def _measured(value: float | None, unit: float, digits: int) -> str:
    return "–" if value is None else f"{unit * value:.{digits}f}"


def compare(runs: Runs, /, figure: Path | None = None, output: Path | None = None, json: bool = False) -> int:
    """Put finished runs side by side: mean ± population deviation over seeds, as the paper reports them.

    Examples:
        pfmhr track compare runs/walk-* --figure curves.png

    Args:
        runs: directories of finished runs; those that differ in their seed only are one row.
        figure: also draw the learning curves here.
        output: also write rows, curves, command and machine here, as JSON.
        json: print one JSON object.
    """
    from pfmhr.bench.machine import provenance
    from pfmhr.files import disk_errors, write_json

    with tracking_extra():
        from pfmhr.tracking.compare import COLUMNS, as_text, curves, draw_curves, grouped

    groups = grouped(runs)
    rows = [group.row for group in groups]
    if output is not None:
        with disk_errors(output.parent):
            output.parent.mkdir(parents=True, exist_ok=True)
            write_json(output, {"rows": rows, "curves": curves(groups), **provenance()})
    if figure is not None:
        draw_curves(curves(groups), figure)
    if json:
        print_json({"rows": rows})
        return 0
    print_table("tracking", COLUMNS, [as_text(row) for row in rows])
    grid = max(row["grid"] for row in rows)
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
        output: video to write, .mp4 or .gif; play.mp4 in the run's directory unless said (.gif without ffmpeg).
        seconds: longest time to play; an episode that is lost ends as in an evaluation.
        start: moment of the clip to start from, in s.
        clip: number of the clip, from 0, for runs with several.
        fps: frames per second of the video.
        width: of the video in pixels.
        height: of the video in pixels.
        json: print one JSON object.
    """
    with tracking_extra():
        from pfmhr.tracking.play import check_film, default_film, film, record_episode
        from pfmhr.tracking.runs import TrackerRun

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
        out: file to write; policy.onnx in the run's directory unless said.
        json: print one JSON object.
    """
    with tracking_extra():
        from pfmhr.tracking.export import TOLERANCE, export_policy
        from pfmhr.tracking.runs import TrackerRun

    use_threads(1)
    path = out or run / "policy.onnx"
    loaded = TrackerRun.load(run)
    metadata = export_policy(loaded, path)
    if json:
        print_json({"path": str(path), "samples": loaded.samples, "metadata": metadata})
        return 0
    kind = f"{metadata['observation_type']} observations, {metadata['action_type']} actions"
    say(f"{path}: {kind}, after {loaded.samples:,} samples; equal to torch to {TOLERANCE:g}")
    return 0
