"""From what was asked for to a page: motions, a tracking run, or a prior."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import viser

from pfmhr.errors import InputError
from pfmhr.foreign import read_json
from pfmhr.layout import CONFIG, HUB
from pfmhr.learning.runs import RUN
from pfmhr.motion import Motion
from pfmhr.prior import PosePrior
from pfmhr.prior.artefact import FORMAT, bundled_priors
from pfmhr.reward.settings import PoseGeometrySettings
from pfmhr.robots import Robot
from pfmhr.viewer.clip_page import ClipPage
from pfmhr.viewer.colours import BLUE, TEAL
from pfmhr.viewer.lineup import Part
from pfmhr.viewer.modes import PoseDesk
from pfmhr.viewer.prior_page import PriorPage
from pfmhr.viewer.readout import about
from pfmhr.viewer.server import Page
from pfmhr.viewer.takes import Judge, Take, episode_takes, motion_takes

if TYPE_CHECKING:
    from pfmhr.tracking.runs import TrackerRun

Opened = Callable[[viser.ViserServer], Page]
"""Everything is read and scored; what is left is to show it."""


def kind_of(name: str) -> Literal["motion", "run", "prior"]:
    """What a name on the command line stands for."""
    path = Path(name)
    if name.startswith("embedded:") or path.is_file():
        return "motion"
    if path.is_dir():
        if _field(path / CONFIG, "format") == FORMAT:  # the directory of a prior's training is a run, too
            return "prior"
        if _field(path / RUN, "kind") == "tracker":
            return "run"
        fix = "Name one motion file, the directory of a tracking run, or that of a prior."
        raise InputError("neither a tracking run nor a prior", where=path, fix=fix, code="not_found")
    if name in bundled_priors() or name.startswith(HUB):
        return "prior"
    fix = f"A motion file, embedded:walk, a directory, {HUB}owner/name, or one of {', '.join(bundled_priors())}."
    raise InputError("no such motion, run or prior", where=name, fix=fix, code="not_found")


def open_motions(
    motions: list[Motion], prior: PosePrior, name: str, robot: Robot, rate: float, shadows: bool
) -> Opened:
    """One clip, or two to compare; the prior of this name is calibrated on the first."""
    prior.require(robot)
    takes = motion_takes(prior, motions, robot, rate)
    judged = f"Scored by {name}, calibrated on {takes[0].name}, {rate:g} steps/s."
    text = about("" if takes[0].scores is None else judged, *(note for take in takes for note in _notes(take)))
    parts = [Part(take, tint) for take, tint in zip(takes, (None, TEAL), strict=False)]
    return lambda server: ClipPage(server, robot, parts, text, shadows)


def open_run(
    run: TrackerRun, prior: PosePrior | None, clip: int, start: float, seconds: float, shadows: bool
) -> Opened:
    """One episode of a tracker; judged as in its training where a prior took part in that, and none is named."""
    from pfmhr.tracking.watch.episode import record_episode

    used = run.config.modulator
    judge_prior, how = prior, {}
    if prior is None and isinstance(used.settings, PoseGeometrySettings):
        judge_prior = PosePrior.load(used.prior)
        how = {"settings": used.settings, "pooled": run.motions if used.settings.pooled else ()}
    judge_prior = judge_prior or PosePrior.load("g1-small")
    judge_prior.require(run.robot)
    episode = record_episode(run, clip, start, seconds)
    reference = run.motions[clip]
    judge = Judge(judge_prior, reference, episode.rate, **how)
    wanted, done = episode_takes(episode, judge)
    text = about(f"{run.directory.name}, {run.samples:,} samples: {reference.name} from {start:g} s.", done.note)
    return lambda server: ClipPage(server, run.robot, [Part(wanted, BLUE), Part(done)], text, shadows)


def open_prior(prior: PosePrior, robot: Robot, name: str, shadows: bool) -> Opened:
    """A pose to play with."""
    desk = PoseDesk(prior, robot)
    text = about(f"{name}: turn joints by hand, or together along the modes the prior finds at the pose.")
    return lambda server: PriorPage(server, desk, text, shadows)


def _notes(take: Take) -> list[str]:
    broken = f"{take.name}: {take.broken} frames are not finite; the one before is shown." if take.broken else ""
    return [broken, take.note]


def _field(path: Path, name: str) -> object:
    try:
        content = read_json(path, "bad_input")
    except (FileNotFoundError, InputError):
        return None
    return content.get(name) if isinstance(content, dict) else None
