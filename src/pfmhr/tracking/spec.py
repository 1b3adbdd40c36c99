"""A run in full: which motions, on which robot, with which tracker. Whatever starts a run has one of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfmhr.errors import InputError
from pfmhr.files import write_json
from pfmhr.foreign import as_dataclass, read_json
from pfmhr.motion.named import EMBEDDED
from pfmhr.tracking.config import TrackerConfig
from pfmhr.tracking.settings import plain_config, tracker_config_from_json

if TYPE_CHECKING:
    from pfmhr.motion import Motion
    from pfmhr.results.run_result import RunResult
    from pfmhr.robots import Robot

KIND = "tracking run"
"""What a spec file says that it is."""
UNTRACKABLE = ("degrees", "centimetres", "joint_order")
"""Faults of clips that nobody could track, with nothing that would say why."""


@dataclass(frozen=True)
class Clip:
    """A reference motion."""

    place: str
    """A file, or an embedded clip as ``embedded:walk``."""
    fps: float | None = None
    """Frame rate of a csv file that states none."""
    trim: tuple[float, float] | None = None
    """Start and stop in s; the whole clip if None."""
    name: str | None = None
    """What it is called in results; as in the file if None."""

    def below(self, folder: Path) -> Clip:
        """The same clip, its file found below a folder."""
        return self if self.place.startswith(EMBEDDED) else replace(self, place=str(folder / self.place))

    def load(self, robot: Robot) -> Motion:
        """Read it, refusing what nobody could track."""
        from pfmhr.motion.checks import check_motion
        from pfmhr.motion.named import read_named
        from pfmhr.motion.repair import trim

        motion = read_named(self.place, robot, self.fps)
        if self.trim is not None:
            motion = trim(motion, *self.trim)[0]
        if self.name is not None:
            motion = replace(motion, name=self.name)
        for fault in check_motion(motion, robot):
            if fault.code in UNTRACKABLE:
                fix = "See `pfmhr check`, and `pfmhr convert` to mend it."
                raise InputError(f"{fault.code}: {fault.message}", where=self.place, fix=fix, code="faulty_motion")
        return motion


@dataclass(frozen=True)
class RunSpec:
    """Everything that decides a run, the prior included."""

    motions: tuple[Clip, ...]
    robot: str = "g1"
    """A robot's name, or the path of its MJCF."""
    tracker: TrackerConfig = field(default_factory=TrackerConfig)

    def below(self, folder: Path) -> RunSpec:
        """The same run, its clips found below a folder."""
        return replace(self, motions=tuple(clip.below(folder) for clip in self.motions))

    def write(self, path: Path) -> None:
        """As JSON; paths in it are relative to where the run is started."""
        clips = [asdict(clip) for clip in self.motions]
        write_json(path, {"kind": KIND, "motions": clips, "robot": self.robot, "tracker": plain_config(self.tracker)})

    @staticmethod
    def read(path: Path) -> RunSpec:
        """From a file of :meth:`write`; anything unknown in it is an error."""
        try:
            content = read_json(path, "bad_run")
        except FileNotFoundError:
            raise InputError("no such spec of a run", where=path, code="not_found") from None
        if not isinstance(content, dict) or content.get("kind") != KIND:
            raise InputError("not the spec of a run", where=path, expected=f'"kind": "{KIND}"', code="bad_run")
        tracker = tracker_config_from_json(content.get("tracker"), path)
        rest = {name: value for name, value in content.items() if name not in ("kind", "tracker")}
        try:
            return replace(as_dataclass(RunSpec, rest, "the spec", "bad_run"), tracker=tracker)
        except InputError as error:
            raise error.at(path) from error.__cause__

    def train(
        self,
        directory: Path,
        threads: int | None = None,
        say: Callable[[str], object] = lambda _: None,
        progress: Callable[[int, int, str], object] | None = None,
        made_by: Mapping[str, Any] | None = None,
    ) -> RunResult:
        """Read the clips and train into ``directory``; see :func:`pfmhr.tracking.runs.train_tracker`."""
        from pfmhr.robots import Robot
        from pfmhr.tracking.runs import train_tracker

        robot = Robot.load(self.robot)
        clips = [clip.load(robot) for clip in self.motions]
        return train_tracker(directory, robot, clips, self.tracker, threads, say, progress, made_by)
