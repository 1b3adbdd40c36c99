"""``pfmhr track train``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from pfmhr.cli.console import measured, print_json, say, teller, training_bar
from pfmhr.cli.options import at_least_one, given, read_clip, tracking_extra, use_threads
from pfmhr.errors import InputError
from pfmhr.reward.available import CHOICES, HELP, MODULATORS, require_modulator
from pfmhr.reward.configuring import refuse_idle

if TYPE_CHECKING:
    from pfmhr.motion import Motion
    from pfmhr.robots import Robot
    from pfmhr.tracking.config import TrackerConfig

    ModulatorName = str | None
else:  # the words for completion and help are those of the table
    _ABOUT = f"what is put on the tracking reward (default: pfm with --prior, else none). {HELP}"
    ModulatorName = Annotated[Literal[tuple(MODULATORS)] | str | None, tyro.conf.arg(metavar=CHOICES, help=_ABOUT)]
Motions = Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="MOTION...")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def train(
    motions: Motions,
    /,
    out: Out,
    preset: Literal["cpu", "paper"] = "cpu",
    prior: str = "none",
    modulator: ModulatorName = None,
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
        modulator: what is put on the tracking reward; default: pfm with --prior, else none.
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
        set: any other setting as name=value, or section.name=value (environment, agent, adversary, modulator).
        threads: threads for physics and networks; all cores unless said.
        json: print the result as one JSON object.
    """
    from pfmhr.provenance import provenance
    from pfmhr.results.records import to_json
    from pfmhr.robots import Robot

    with tracking_extra():
        from pfmhr.tracking.config import ModulatorConfig
        from pfmhr.tracking.presets import tracker_preset, with_actions
        from pfmhr.tracking.runs import train_tracker
        from pfmhr.tracking.settings import with_settings

    at_least_one(samples=samples, environments=environments, evaluate_every=evaluate_every, episodes=episodes)
    use_threads(threads)
    start = with_actions(tracker_preset(preset), actions)
    kind = modulator or ("none" if prior == "none" else "pfm")
    require_modulator(kind)
    single = given({"t_eval": t_eval, "alpha": alpha, "p_good": p_good, "p_bad": p_bad, "pooled": pooled or None})
    options = [*single, *([] if prior == "none" else ["prior"])]
    named = {f"--{name.replace('_', '-')}": name for name in options}
    refuse_idle(kind, named)
    config = replace(
        start,
        environment=replace(start.environment, **given({"environments": environments})),
        modulator=ModulatorConfig.of(kind, "" if prior == "none" else prior, **single),
        reward=reward,
        seed=seed,
        horizons=horizon,
        **given({"samples": samples, "evaluate_every": evaluate_every, "evaluation_episodes": episodes}),
    )
    config = with_settings(config, set)
    _refuse_idle_settings(config, set, named)
    loaded = Robot.load(robot)
    clips = [_motion(name, loaded, fps, trim) for name in motions]
    with training_bar("training") as progress:
        result = train_tracker(out, loaded, clips, config, threads, teller(json), progress, provenance())
    if json:
        print_json(to_json(result))
        return 0
    reached, end = result.samples_to_80, result.end
    when = f"80 % tracked after {reached / 1e6:.2f} M samples" if reached is not None else "80 % never reached"
    say(f"{out}: {when}; at the end {end.success:.1%}, E_pos {measured(end.position_error, 1000.0, 1)} mm")
    return 0


def _refuse_idle_settings(config: TrackerConfig, settings: Sequence[str], options: Mapping[str, str]) -> None:
    """``--set`` may change the modulator itself, after which an option may be without effect."""
    names = [setting.partition("=")[0].strip() for setting in settings]
    refuse_idle(config.modulator.kind, options)
    idle = [f"--set {name}" for name in names if name.startswith("adversary.")] if config.reward != "add" else []
    if idle:
        raise InputError(f"{', '.join(idle)} would change nothing with reward {config.reward}", code="bad_config")


def _motion(name: str, robot: Robot, fps: float | None, trim: tuple[float, float] | None) -> Motion:
    from pfmhr.motion.checks import check_motion
    from pfmhr.motion.repair import trim as trimmed

    motion = read_clip(name, robot, fps)
    if trim is not None:
        motion = trimmed(motion, *trim)[0]
    for fault in check_motion(motion, robot):
        if fault.code in ("degrees", "centimetres", "joint_order"):  # nobody could track it, and nothing would say why
            fix = "See `pfmhr check`, and `pfmhr convert` to mend it."
            raise InputError(f"{fault.code}: {fault.message}", where=name, fix=fix, code="faulty_motion")
    return motion
