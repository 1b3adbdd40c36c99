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

if TYPE_CHECKING:
    from pfmhr.motion import Motion
    from pfmhr.robots import Robot
    from pfmhr.tracking.config import TrackerConfig

Motions = Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="MOTION...")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def train(
    motions: Motions,
    /,
    out: Out,
    preset: Literal["cpu", "paper"] = "cpu",
    prior: str = "none",
    modulator: Literal["pfm", "recon", "pdf", "random", "shuffled"] | None = None,
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
        modulator: what is made of the prior: pfm, recon or pdf; random is a control without a prior, shuffled one
            that puts the factors of pfm on other transitions of the same rollout; default: pfm with a prior, none
            without.
        reward: what the tracking reward is.
        samples: transitions to train on; default: the preset's.
        seed: of networks, starts, actions and minibatches.
        environments: robots simulated at once; default: the preset's.
        actions: residual adds to the next reference pose; absolute is centred on zero, as in MimicKit; default: the
            preset's.
        t_eval: flow time of the score; default: 0.75.
        alpha: strength of the modulator's cut; default: 0.5.
        p_good: percentile from which the reward is left alone; default: 0.05.
        p_bad: percentile below which the cut is full; default: 0.01.
        pooled: one reference distribution for all clips.
        evaluate_every: iterations between evaluations; default: the preset's.
        episodes: episodes of an evaluation; default: the preset's.
        horizon: lengths of evaluated episodes in s, the first to judge learning by; default: as in training.
        fps: frame rate of csv files that state none; default: such files are refused.
        trim: keep the time from START to STOP of every clip, in s; default: all.
        robot: a robot's name or the path of its MJCF.
        set: any other setting as name=value, or section.name=value (environment, agent, adversary, modulator);
            default: the preset's.
        threads: threads for physics and networks; default: as many as there are cores.
        json: print the result as one JSON object.
    """
    from pfmhr.provenance import provenance
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
    strength = given({"t_eval": t_eval, "alpha": alpha, "p_good": p_good, "p_bad": p_bad})
    options = [*strength, *(["pooled"] if pooled else []), *([] if prior == "none" else ["prior"])]
    named = {f"--{name.replace('_', '-')}": name for name in options}
    _refuse_idle(kind, named)
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
    _refuse_idle_settings(config, set, named)
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
    say(f"{out}: {when}; at the end {final['success']:.1%}, E_pos {measured(final['position_error'], 1000.0, 1)} mm")
    return 0


HEEDED: dict[str, tuple[str, ...]] = {
    "none": (),
    "random": ("alpha", "fade"),
    "pdf": ("alpha", "fade", "prior", "pdf_good", "pdf_bad", "pdf_combine"),
    "recon": (_CALIBRATED := ("alpha", "fade", "p_good", "p_bad", "pooled", "phases", "prior")),
    "pfm": (_PFM := (*_CALIBRATED, "t_eval")),
    "shuffled": _PFM,
}
"""Settings of a modulator that change something, by its kind."""


def _refuse_idle(kind: str, given: Mapping[str, str]) -> None:
    """A setting without effect would make the same tracker under another name; ``given`` as written, and its name."""
    idle = [said for said, name in given.items() if name not in HEEDED[kind]]
    if idle:
        what = "without a modulator" if kind == "none" else f"with modulator {kind}"
        raise InputError(f"{', '.join(idle)} would change nothing {what}", code="bad_config")


def _refuse_idle_settings(config: TrackerConfig, settings: Sequence[str], options: Mapping[str, str]) -> None:
    """The same of ``--set``, which may change the modulator itself."""
    names = [setting.partition("=")[0].strip() for setting in settings]
    inside = {f"--set {name}": name.removeprefix("modulator.") for name in names if name.startswith("modulator.")}
    _refuse_idle(config.modulator.kind, {**options, **{said: name for said, name in inside.items() if name != "kind"}})
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
