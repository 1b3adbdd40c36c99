"""``pfmhr view``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from pfmhr.cli.console import remark, say
from pfmhr.cli.options import read_clip, use_threads, viewer_extra
from pfmhr.errors import InputError

if TYPE_CHECKING:
    from pfmhr.tracking.runs import TrackerRun
    from pfmhr.viewer.opening import Opened

Targets = Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="[MOTION|RUN|PRIOR...]")]
DEFAULT = "embedded:walk"


def view(
    targets: Targets = (),
    /,
    prior: str | None = None,
    host: str = "127.0.0.1",
    port: Annotated[int, tyro.conf.arg(help_behavior_hint="(default: 8080)")] = 8080,
    clip: str | None = None,
    start: float = 0.0,
    seconds: float = 10.0,
    control_rate: float = 30.0,
    fps: float | None = None,
    robot: str | None = None,
    no_shadows: bool = False,
) -> int:
    """Look at motions with their scores, at a tracker beside its reference, or at the modes of a prior, in a browser.

    One motion is played and scrubbed, its robot coloured by each joint's contribution to the score; two are
    compared. A tracking run shows an episode beside its reference. A prior gives a pose to move along the
    prior's co-variation modes. Nothing named shows a walk. Ctrl-C stops it.

    Examples:
        pfmhr view
        pfmhr view walk.csv rollout.npz --fps 30
        pfmhr view runs/walk --seconds 5
        pfmhr view g1-small --port 8090

    Args:
        targets: one or two motions (files, or embedded:walk), one tracking run, or one prior.
        prior: scores motions and rollouts; default: what a run was trained with, or g1-small.
        host: who can see it: 127.0.0.1 this computer, 0.0.0.0 the whole network.
        port: of the page; 0 takes any free one.
        clip: which clip of a file or run that holds several: its name, or its number in a run; default: the first.
        start: moment of a run's clip to start from, in s.
        seconds: longest time a run is shown.
        control_rate: motions are scored in so many steps per second.
        fps: frame rate of csv files that state none; default: such files are refused.
        robot: a robot's name or the path of its MJCF; default: the prior's.
        no_shadows: draw none: quicker on a computer without a graphics card.
    """
    with viewer_extra():
        from pfmhr.viewer.opening import kind_of
        from pfmhr.viewer.server import address, require_port, running, serve

    require_port(host, port)  # before anything takes time
    use_threads(1)
    names = targets or (DEFAULT,)
    kinds = [kind_of(name) for name in names]
    if kinds == ["run"]:
        opened = _run(names[0], prior, clip, start, seconds, not no_shadows)
    elif kinds == ["prior"]:
        opened = _prior(names[0], robot, not no_shadows)
    elif kinds in (["motion"], ["motion", "motion"]):
        opened = _motions(names, prior, robot, clip, fps, control_rate, not no_shadows)
    else:
        raise InputError(
            "cannot show these together",
            expected="one or two motions, one tracking run, or one prior",
            got=", ".join(kinds),
            fix="A prior that scores motions is named with --prior.",
            code="bad_input",
        )
    with running(host, port) as server:
        page = opened(server)
        if host not in ("127.0.0.1", "localhost", "::1"):
            remark("everyone who reaches this computer can look at the page and move its sliders")
        serve(page, f"{address(server)} (Ctrl-C stops it)", say)
    return 0


def _motions(
    names: tuple[str, ...],
    prior: str | None,
    robot: str | None,
    clip: str | None,
    fps: float | None,
    rate: float,
    shadows: bool,
) -> Opened:
    from pfmhr.motion.frame_rate import require_rate
    from pfmhr.prior import PosePrior
    from pfmhr.viewer.opening import open_motions

    require_rate(rate, "control rate")
    judge = prior or "g1-small"
    loaded = PosePrior.load(judge)
    body = loaded.load_robot(robot)
    loaded.require(body)
    clips = [read_clip(name, body, fps, clip) for name in names]
    return open_motions(clips, loaded, Path(judge).name, body, rate, shadows)


def _run(name: str, prior: str | None, clip: str | None, start: float, seconds: float, shadows: bool) -> Opened:
    from pfmhr.cli.options import tracking_extra
    from pfmhr.prior import PosePrior
    from pfmhr.viewer.opening import open_run

    with tracking_extra():
        from pfmhr.tracking.runs import TrackerRun

    run = TrackerRun.load(Path(name))
    judge = None if prior is None else PosePrior.load(prior)
    return open_run(run, judge, _number(run, clip), start, seconds, shadows)


def _number(run: TrackerRun, clip: str | None) -> int:
    names = [motion.name for motion in run.motions]
    if clip is None or clip.isdecimal():
        return int(clip or 0)
    if clip not in names:
        raise InputError(f"no clip '{clip}'", where=run.directory, fix=f"Available: {', '.join(names[:20])}.")
    return names.index(clip)


def _prior(name: str, robot: str | None, shadows: bool) -> Opened:
    from pfmhr.prior import PosePrior
    from pfmhr.viewer.opening import open_prior

    prior = PosePrior.load(name)
    return open_prior(prior, prior.load_robot(robot), Path(name).name, shadows)
