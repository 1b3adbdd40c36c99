"""``pfmhr score`` and ``pfmhr calibrate``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from pfmhr.cli.console import print_json, print_table, remark, say
from pfmhr.cli.options import refuse_replacing
from pfmhr.cli.values import Flat
from pfmhr.errors import InputError
from pfmhr.files import make_folder
from pfmhr.reward.ramp import Ramp
from pfmhr.reward.settings import DRAWS
from pfmhr.score.defaults import T_EVAL

if TYPE_CHECKING:
    from torch import Generator

    from pfmhr.motion import Motion
    from pfmhr.reward import Calibration
    from pfmhr.robots import Robot
    from pfmhr.score import PoseGeometryScore

Motions = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="MOTION...")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]
FEW = 20
"""Transitions of a reference below which even the worst of them is above the usual p_good, 5 %."""
LONGEST_STEP = 100.0
"""s: cycles are repeated for as long as a control step takes."""


@dataclass(frozen=True)
class Scoring:
    """How motions are read and scored."""

    prior: str = "g1-small"
    """A directory, a bundled prior's name, or hf:owner/name."""
    robot: str | None = None
    """Path of the MJCF, for a robot that is not bundled; default: the prior's robot."""
    t_eval: float = T_EVAL
    """Flow time of the score."""
    samples: int = 1
    """Corruption samples averaged per transition."""
    fps: float | None = None
    """Frame rate of csv files that state none; default: such files are refused."""
    seed: int = 0
    """Of the corruption noise."""

    def load(self) -> tuple[PoseGeometryScore, Robot, Generator]:
        """The score, the robot, and the noise."""
        import torch

        from pfmhr.prior import PosePrior
        from pfmhr.score import PoseGeometryScore

        prior = PosePrior.load(self.prior)
        robot = prior.load_robot(self.robot)
        return PoseGeometryScore(prior, self.t_eval, self.samples), robot, torch.Generator().manual_seed(self.seed)


@dataclass(frozen=True)
class Cut:
    """What the scores would do to a reward."""

    alpha: float = Ramp.alpha
    """Strength of the reward's cut."""
    p_good: float = Ramp.p_good
    """Percentile from which the reward is left alone."""
    p_bad: float = Ramp.p_bad
    """Percentile below which it is cut fully."""


def score(
    motions: Motions,
    /,
    scoring: Flat[Scoring] = Scoring(),  # noqa: B008
    out: Out = Path("scores"),
    reference: Path | None = None,
    calibration: Path | None = None,
    control_rate: float | None = None,
    cut: Flat[Cut] = Cut(),  # noqa: B008
    json: bool = False,
) -> int:
    """Score the pose changes of motions: how well does each fit the way joints move together?

    Prints a line per clip and writes, per clip, a csv with one line per transition (score, percentile,
    multiplier, and the three joints that contributed most) and a picture of the timeline. Each clip is
    judged against itself unless a reference or a calibration is given.

    Examples:
        pfmhr score walk.csv --fps 30
        pfmhr score rollout.npz --reference walk.npz -o scores/walk

    Args:
        motions: motion files and folders.
        out: folder for csv files and pictures.
        reference: a motion file whose own scores say what is normal; default: the motion itself.
        calibration: a file made by ``pfmhr calibrate``; its first motion is the reference; default: none.
        control_rate: transitions are this many per second; default: the calibration's, or 30.
        json: print one JSON object instead of the table.
    """
    from pfmhr.reward import Calibration

    if reference is not None and calibration is not None:
        raise InputError("a reference or a calibration, not both", code="bad_config")
    ramp = Ramp(cut.alpha, cut.p_good, cut.p_bad)
    scorer, body, generator = scoring.load()
    clips = _read(motions, body, scoring.fps)
    normal = _read((reference,), body, scoring.fps)[:1] if reference else []
    places = [out / name for name in _file_names(clips)]
    written = [Path(f"{place}{kind}") for place in places for kind in (".csv", ".png")]
    refuse_replacing(written, [*(clip.source for clip in (*clips, *normal)), calibration, scoring.robot])
    shared = Calibration.load(calibration) if calibration else None
    dt = time_step(30.0 if control_rate is None else control_rate)
    if shared is not None and control_rate is not None:
        shared.require_dt(dt)
    if normal:
        shared = Calibration.fit(scorer, normal, dt, generator)
        _tell_of_few(shared)
    make_folder(out)
    summaries = []
    for clip, place in zip(clips, places, strict=True):
        own = shared or Calibration.fit(scorer, [clip], dt, generator)
        summaries.append(_score_clip(scorer, own, clip, ramp, generator, place))
    _print(summaries, out, json)
    return 0


def _score_clip(
    scorer: PoseGeometryScore, normal: Calibration, clip: Motion, ramp: Ramp, generator: Generator, place: Path
) -> dict[str, object]:
    """Write the csv and the picture of one clip; returns its line of the table."""
    from pfmhr.reward.plots import timeline_plot
    from pfmhr.reward.timeline import score_motion

    timeline = score_motion(scorer, normal, clip, ramp, generator)
    timeline.write_csv(Path(f"{place}.csv"))
    timeline_plot(Path(f"{place}.png"), timeline, ramp)
    return timeline.summary()


def calibrate(
    motions: Motions,
    /,
    out: Out,
    scoring: Flat[Scoring] = Scoring(),  # noqa: B008
    control_rate: float = 30.0,
    pooled: bool = False,
    phases: int = 1,
    draws: int = DRAWS,
    json: bool = False,
) -> int:
    """Score every transition of reference motions and keep the distributions, one per motion.

    Examples:
        pfmhr calibrate walk.npz -o walk.calibration.npz
        pfmhr calibrate lafan1_g1/ -o lafan1.calibration.npz --prior runs/prior --control-rate 50

    Args:
        motions: the reference motions, numbered in the order given.
        out: the calibration file.
        control_rate: the controller's steps per second; motions are resampled to it.
        pooled: one distribution for all motions together.
        phases: steps begin this many times per control step; more make a short clip's distribution finer.
        draws: noise is drawn this many times per transition; more make the distribution depend less on the seed.
        json: print one JSON object.
    """
    from pfmhr.layout import CONFIG, WEIGHTS
    from pfmhr.reward import Calibration

    scorer, body, generator = scoring.load()
    clips = _read(motions, body, scoring.fps)
    prior = Path(scoring.prior)
    refuse_replacing([out], [*(clip.source for clip in clips), scoring.robot, prior / CONFIG, prior / WEIGHTS])
    fitted = Calibration.fit(scorer, clips, time_step(control_rate), generator, pooled, phases, draws)
    fitted.save(out)
    _tell_of_few(fitted)
    return _show_references(out, fitted, f"{control_rate:g} steps/s, t_eval {scoring.t_eval:g}", json)


def _show_references(out: Path, fitted: Calibration, settings: str, json: bool) -> int:
    import torch

    shares = torch.tensor([0.01, 0.05, 0.5])
    quantiles = [values.quantile(shares).tolist() for values in fitted.values[0]]
    if json:
        found = zip(fitted.references, quantiles, strict=True)
        print_json({"path": str(out), "references": [{**asdict(each), "quantiles": few} for each, few in found]})
        return 0
    rows = []
    for number, (reference, few) in enumerate(zip(fitted.references, quantiles, strict=True)):
        left_out = f"{reference.without_change} still, {reference.not_finite} not finite"
        scores = [f"{value:.3g}" for value in few]
        rows.append([str(number), reference.name, f"{reference.transitions:,}", left_out, *scores])
    print_table("", ["id", "motion", "transitions", "left out", "1 %", "5 %", "median"], rows)
    say(f"{out}: {len(rows)} reference(s) at {settings}")
    return 0


def time_step(control_rate: float) -> float:
    """Seconds of a control step."""
    from pfmhr.motion.frame_rate import HIGHEST_RATE, require_rate

    require_rate(control_rate, "control rate")
    if not 1.0 / LONGEST_STEP <= control_rate <= HIGHEST_RATE:
        allowed = f"{1.0 / LONGEST_STEP:g} to {HIGHEST_RATE:g} Hz"
        raise InputError("impossible control rate", expected=allowed, got=f"{control_rate:g} Hz", code="bad_fps")
    return 1.0 / control_rate


def _tell_of_few(made: Calibration) -> None:
    """A handful of transitions is a calibration, but not one to judge much by."""
    counts = {reference.name: reference.transitions for reference in made.references}
    for name, count in ({"all motions": sum(counts.values())} if made.pooled else counts).items():
        if count < FEW:
            remark(f"{name}: {count} transition(s) say little about what is normal; a longer clip would say more")


def _read(paths: tuple[Path, ...], robot: Robot, fps: float | None) -> list[Motion]:
    from pfmhr.motion.checks import find_motion_files
    from pfmhr.motion.reading import ReadOptions, read_motions

    options = ReadOptions(robot, csv_fps=fps)
    return [motion for file in find_motion_files(list(paths)) for motion in read_motions(file, options)]


def _file_names(clips: list[Motion]) -> list[str]:
    """A name per clip, numbered where two are the same."""
    names: list[str] = []
    for clip in clips:
        name, number = clip.name.replace("/", "_"), 2
        while name in names:
            name, number = f"{clip.name.replace('/', '_')}-{number}", number + 1
        names.append(name)
    return names


def _print(summaries: list[dict[str, object]], out: Path, json: bool) -> None:
    if json:
        print_json({"clips": summaries, "out": str(out)})
        return
    rows = [
        [f"{value:.3f}" if isinstance(value, float) else str(value) for value in each.values()] for each in summaries
    ]
    print_table("", [name.replace("_", " ") for name in summaries[0]], rows)
    say(f"{out}: a csv and a picture per clip")
