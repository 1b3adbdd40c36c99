"""From a human's motion to a robot's, in one call."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.motion.frame_rate import require_rate
from pfmhr.retarget.body import Body
from pfmhr.retarget.calibration import calibrate
from pfmhr.retarget.ground import clearance, find_contacts, floor_height, hold_feet
from pfmhr.retarget.human import Human
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.maps import SkeletonMap, find_map, require_rest
from pfmhr.retarget.quality import Figures, judge, pieces
from pfmhr.retarget.rotations import to_quaternions
from pfmhr.retarget.solver import Closeness, Weights
from pfmhr.retarget.start import start_pose
from pfmhr.retarget.targets import Targets, make_targets
from pfmhr.retarget.windows import solve_windows
from pfmhr.robots import Robot

MOST_FRAMES = 1_000_000
"""More than nine hours at 30 Hz: such a clip would not fit into memory."""


@dataclass(frozen=True)
class RetargetConfig:
    """How motions are put on a robot."""

    fps: float | None = 30.0
    """Frame rate of the result; None keeps the human's."""
    rest: str | int | None = None
    """Where a T-pose is, if not where the skeleton's map says; see :class:`SkeletonMap`."""
    physical_time: bool = False
    """Make time as much shorter as lengths are, so that what flies falls at g: by the root of the scale."""
    hold_feet: bool = True
    """Let feet that stand stay where they are."""
    shortest: float = 0.5
    """s that a stretch between frames left out has to last to be kept."""
    iterations: int = 5
    """Steps of the solver before feet and floor are known, and again after."""
    weights: Weights = field(default_factory=Weights)

    def __post_init__(self) -> None:
        if self.fps is not None:
            require_rate(self.fps)
        if self.rest is not None:
            require_rest(self.rest)


@dataclass(frozen=True, eq=False)
class Retargeted:
    """A motion on the robot and how well it went over."""

    motion: Motion
    """All frames."""
    usable: NDArray[np.bool_]
    """``(T,)`` which of them are good."""
    contacts: NDArray[np.bool_]
    """``(T, 2)`` when the left and the right foot stand."""
    figures: Figures
    shortest: float

    def pieces(self) -> list[Motion]:
        """The stretches without frames that have to be left out; all of it, if none has."""
        return pieces(self.motion, self.usable, self.shortest)


def retarget(
    human: Human,
    robot: Robot | Body,
    config: RetargetConfig | None = None,
    skeleton: SkeletonMap | None = None,
) -> Retargeted:
    """Put a human's motion on a robot.

    Args:
        robot: a robot, or what :meth:`Body.of` made of it, which saves time when there are many motions.
        skeleton: which joint is which; found by their names unless given.

    Raises:
        InputError: the skeleton is unknown, or what it holds is no motion of a body.
    """
    config = config or RetargetConfig()
    body = robot if isinstance(robot, Body) else Body.of(robot)
    skeleton = skeleton or find_map(human.names)
    if config.physical_time:
        human = _physical(human, body, skeleton, config)
    calibrated = calibrate(_at_rate(human, config.fps, skeleton), skeleton, config.rest)
    targets = make_targets(calibrated, body)
    if targets.num_frames > MOST_FRAMES:
        fix = "Split it into several files."
        raise InputError("too long a clip", expected=f"at most {MOST_FRAMES:,} frames", fix=fix, code="too_large")
    pose = solve_windows(targets, start_pose(targets, body), body, config.weights, config.iterations)
    height = floor_height(*body.linkage.forward(pose), body, targets.fps)
    targets, pose = _raised(targets, pose, np.full(targets.num_frames, -height))
    lift = clearance(*body.linkage.forward(pose), body, targets.fps)
    targets, pose = _raised(targets, pose, lift)
    places, turns = body.linkage.forward(pose)
    contacts = find_contacts(places, turns, body, targets.fps)
    if config.hold_feet:
        targets = hold_feet(targets, turns, body, contacts)
    grip = contacts.grip if config.hold_feet else None
    pose = solve_windows(targets, pose, body, config.weights, config.iterations, Closeness(grip))
    verdict = judge(pose, targets, body, contacts, calibrated.rolled)
    motion = _motion(pose, body.linkage.robot, targets.fps, human, calibrated.notes)
    return Retargeted(motion, verdict.usable, contacts.standing.T.copy(), verdict.figures, config.shortest)


def _raised(targets: Targets, pose: Pose, height: NDArray[np.float64]) -> tuple[Targets, Pose]:
    x, y, z = pose.root_pos
    return targets.raised(height), replace(pose, root_pos=np.stack([x, y, z + height]))


def _at_rate(human: Human, fps: float | None, skeleton: SkeletonMap) -> Human:
    """At the wanted rate. A first frame that is a T-pose of its own stays, and time is counted from the second on."""
    if fps is None:
        return human
    if skeleton.rest != "first-frame" or human.num_frames < 2:
        return human.resample(fps)
    moving = human.from_frame(1).resample(fps)
    turns = moving.rotations
    if turns is not None and human.rotations is not None:
        turns = np.concatenate([human.rotations[:1], turns])
    return replace(moving, positions=np.concatenate([human.positions[:1], moving.positions]), rotations=turns)


def _physical(human: Human, body: Body, skeleton: SkeletonMap, config: RetargetConfig) -> Human:
    """The human with time shorter by the root of the robot's scale."""
    leg = calibrate(human, skeleton, config.rest).leg * skeleton.metres
    return replace(human, fps=human.fps / float(np.sqrt(body.leg / leg)))


def _motion(pose: Pose, robot: Robot, fps: float, human: Human, notes: tuple[str, ...]) -> Motion:
    return Motion(
        joint_pos=_within(pose.joints.T, robot),
        fps=fps,
        root_pos=pose.root_pos.T.astype(np.float32),
        root_quat=to_quaternions(pose.root_rot).astype(np.float32),
        joint_names=robot.joint_names,
        robot=robot.name,
        loop=human.loop,
        name=human.name,
        source=human.source,
        notes=notes,
    )


def _within(joints: NDArray[np.float64], robot: Robot) -> NDArray[np.float32]:
    """Joints in single precision, where rounding might put one outside its limit."""
    return np.clip(joints.astype(np.float32), robot.lower, robot.upper)
