"""Many robots, each following its reference: an rsl_rl environment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import Any

import numpy as np
import torch
from rsl_rl.env import VecEnv
from tensordict import TensorDict
from torch import Tensor

from pfmhr.motion import Motion
from pfmhr.robots import Robot
from pfmhr.sim import BatchedSimulation, Scene, SceneConfig
from pfmhr.tracking.config import EnvironmentConfig
from pfmhr.tracking.env.balance import ClipMeans
from pfmhr.tracking.env.library import BodyMotion, Frames, MotionLibrary
from pfmhr.tracking.env.observations import RobotState, local_observation, world_observation
from pfmhr.tracking.env.skills import Skill, skill_of
from pfmhr.tracking.env.transitions import Transitions

FAR = 10.0
"""m that a body of a robot that exploded counts as away."""


@contextmanager
def _one_thread() -> Iterator[None]:
    """Torch on the calling thread alone: a second one saves nothing on so few rows, and waits on MuJoCo's core."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


class TrackingEnvironment(VecEnv):
    """Steps robots towards joint targets, ends episodes that are lost, starts new ones on the reference.

    It gives no reward: each step's ``extras["transitions"]`` holds what rewards are made of, as
    :class:`~pfmhr.tracking.env.transitions.Transitions`, and a
    :class:`~pfmhr.tracking.rewards.TrackingReward` makes them.
    """

    def __init__(
        self,
        robot: Robot,
        motions: Sequence[Motion],
        config: EnvironmentConfig | None = None,
        *,
        seed: int = 0,
        threads: int | None = None,
        body_motion: bool = False,
        library: MotionLibrary | None = None,
    ) -> None:
        """``body_motion``: whether steps emit how all bodies are turned and move. ``library``: to share one."""
        self.cfg = self.config = config = config or EnvironmentConfig()
        self.robot, self.device = robot, torch.device("cpu")
        skill = skill_of(tuple(motion.name for motion in motions), boxes_given=config.boxes is not None)
        self.skill = skill
        stricter = skill.distance if skill.distance < Skill.distance else inf  # a vault's holds in training too
        self.termination_distance = min(config.termination_distance, stricter)
        self.library = library or MotionLibrary(robot, motions, config.physics_rate, config.weights or None)
        boxes = skill.boxes if config.boxes is None else config.boxes
        frames = ("position", "orientation", *(("linear_velocity", "angular_velocity") if body_motion else ()))
        physics = SceneConfig(config.physics_rate, config.control_rate, boxes, frames=frames)
        scene = Scene(robot, physics)
        self.num_envs, self.num_actions = config.environments, robot.num_joints
        self.simulation = BatchedSimulation(scene, self.num_envs, threads)
        self.substeps, self.dt = scene.config.substeps, 1.0 / config.control_rate
        self.max_episode_length = config.episode_steps
        self._body_motion = body_motion
        self.generator = torch.Generator().manual_seed(seed)
        self._state = torch.from_numpy(self.simulation.state)  # a view: what MuJoCo writes, torch reads
        self._bodies = torch.from_numpy(self.simulation.frames("position"))
        self._forbidden = _forbidden(robot, skill.contacts(robot) if config.contacts is None else config.contacts)
        self._keys = torch.tensor(robot.body_indices(config.key_bodies_of(robot)), dtype=torch.long)
        self.axes = torch.from_numpy(robot.joint_axes)
        self.residual_scale, self.absolute_scale = _action_scales(robot, config)
        self._make_buffers()
        self.reset()

    def _make_buffers(self) -> None:
        """Where every environment stands."""
        self.clip = torch.zeros(self.num_envs, dtype=torch.long)
        self.frame = torch.zeros(self.num_envs, dtype=torch.long)
        self.episode_length_buf = torch.zeros(self.num_envs, dtype=torch.long)
        self.last_action = torch.zeros(self.num_envs, self.num_actions)
        self.body_pos = torch.zeros(self.num_envs, len(self.robot.body_names), 3)
        self._lengths = ClipMeans(len(self.library), memory=500)
        self.counts = {"exploded": 0, "contact": 0, "distance": 0, "finished": 0, "timed_out": 0}

    # Starting

    def reset(self, clip: Tensor | None = None, frame: Tensor | None = None) -> TensorDict:
        """All environments onto random moments of their reference, or onto given clips and frames ``(N,)``."""
        everyone = torch.arange(self.num_envs)
        if clip is None or frame is None:
            clip, frame = self.library.draw(self.num_envs, self.generator)
        self._start(everyone, clip, frame)
        return self.get_observations()

    def _start(self, ids: Tensor, clip: Tensor, frame: Tensor) -> None:
        reference = self.library.at(clip, frame)
        positions, velocities = reference.states()
        self.simulation.reset(ids.numpy(), positions.numpy(), velocities.numpy())
        self.clip[ids], self.frame[ids] = clip, frame
        self.episode_length_buf[ids] = 0
        self.last_action[ids] = 0.0
        self.body_pos[ids] = reference.body_pos  # sensors still show the last episode

    def _restart(self, ids: Tensor) -> None:
        self._lengths.learn(self.clip[ids], self.episode_length_buf[ids].float())
        tilt = 1.0 / self._lengths.relative() if self.config.balanced else 1.0
        self._start(ids, *self.library.draw(len(ids), self.generator, tilt))

    # Seeing

    def robot_state(self) -> RobotState:
        """The simulated robots now."""
        values = self._state.float()
        joints = self.num_actions
        positions, velocities = values[:, 1 : 8 + joints], values[:, 8 + joints :]
        return RobotState(
            positions[:, :3],
            positions[:, 3:7],
            positions[:, 7:],
            velocities[:, :3],
            velocities[:, 3:6],
            velocities[:, 6:],
            self.body_pos,
        )

    def get_observations(self) -> TensorDict:
        """What the policy sees: one group, ``policy``."""
        state = self.robot_state()
        if self.config.observation == "local":
            target = self.library.at(self.clip, self.frame + self.substeps, bodies=False)
            values = local_observation(state, target, self.last_action)
        else:
            ahead = [self.library.at(self.clip, self.frame + k * self.substeps) for k in (1, 2, 3)]
            values = world_observation(state, ahead, self.axes, self._keys)
        return TensorDict({"policy": values}, batch_size=[self.num_envs])

    # Acting

    def joint_targets(self, actions: Tensor) -> Tensor:
        """(N, J) rad for the position servos."""
        if self.config.actions == "residual":
            _, _, pose = self.library.poses(self.clip, self.frame + self.substeps)
            return pose + self.residual_scale * actions
        return torch.clamp(actions, -1.0, 1.0) * self.absolute_scale

    @_one_thread()
    def step(self, actions: Tensor) -> tuple[TensorDict, Tensor, Tensor, dict[str, Any]]:
        """One control step of every environment; lost and finished ones start anew."""
        # Move the robots and their references on by one control step.
        previous = self.robot_state().joint_pos
        exploded = torch.from_numpy(self.simulation.step(self.joint_targets(actions).numpy()))
        self.frame += self.substeps
        self.episode_length_buf += 1
        self.last_action.copy_(actions)
        # Compare them. Bodies are sensed one physics step ago, so theirs is an earlier reference.
        bodies = self._bodies.float()
        relative = bodies - bodies[:, :1]
        self.body_pos.copy_(relative)
        state = replace(self.robot_state(), body_pos=relative)  # ours changes when episodes begin anew
        reference = self.library.at(self.clip, self.frame, bodies=False)
        lagging_root, lagging_bodies = self.library.bodies(self.clip, self.frame - 1)
        failed, ended = self._judge(state, reference, exploded, bodies, lagging_root[:, None] + lagging_bodies)
        transitions = Transitions(
            previous,
            state,
            replace(reference, body_pos=lagging_bodies),
            self.clip.clone(),
            ~exploded,
            *(self._motions_of_bodies() if self._body_motion else ()),
        )
        # End what is lost, finished or late, and begin anew.
        late = self.episode_length_buf >= self.max_episode_length
        timed_out = late & ~failed & ~ended
        self.counts["finished"] += int((ended & ~failed).sum())
        self.counts["timed_out"] += int(timed_out.sum())
        dones = failed | ended | late
        if bool(dones.any()):
            self._restart(dones.nonzero().squeeze(1))
        extras = {"transitions": transitions, "time_outs": timed_out, "failed": failed}
        return self.get_observations(), torch.zeros(self.num_envs), dones, extras

    def _motions_of_bodies(self) -> tuple[BodyMotion, BodyMotion]:
        """Of robots and of references, both one physics step ago."""
        names = ("orientation", "linear_velocity", "angular_velocity")
        own = (torch.from_numpy(self.simulation.frames(name)).float() for name in names)
        return BodyMotion(*own), self.library.body_motion(self.clip, self.frame - 1)

    def _judge(
        self, state: RobotState, reference: Frames, exploded: Tensor, bodies: Tensor, wanted: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Which episodes are lost ``(N,)``, and which have reached the end of their clip ``(N,)``."""
        touched = torch.from_numpy(self.simulation.touched)
        contact = (touched & self._forbidden).any(dim=1)
        self.body_error = torch.linalg.vector_norm(wanted - bodies, dim=-1).nan_to_num(FAR)
        self.root_error = torch.linalg.vector_norm(reference.root_pos - state.root_pos, dim=-1).nan_to_num(FAR)
        self.farthest = torch.maximum(self.body_error.amax(dim=1), self.root_error)
        away = self.farthest > self.termination_distance
        self.touching = contact
        for name, flags in (("exploded", exploded), ("contact", contact), ("distance", away)):
            self.counts[name] += int(flags.sum())
        return exploded | contact | away, self.library.ended(self.clip, self.frame)

    # Going on later

    def state_dict(self) -> dict[str, Any]:
        """Everything a resumed run needs to go on to the bit."""
        return {
            "simulation": self._state.clone(),
            "clip": self.clip,
            "frame": self.frame,
            "episode_length": self.episode_length_buf,
            "last_action": self.last_action,
            "body_pos": self.body_pos,
            "generator": self.generator.get_state(),
            "clip_lengths": self._lengths.means,
            "counts": dict(self.counts),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from :meth:`state_dict`."""
        self._state.copy_(state["simulation"])
        for name in ("clip", "frame", "last_action", "body_pos"):
            getattr(self, name).copy_(state[name])
        self.episode_length_buf.copy_(state["episode_length"])
        self.generator.set_state(state["generator"])
        self._lengths.means = state["clip_lengths"]
        self.counts.update({name: int(value) for name, value in state["counts"].items()})


def _action_scales(robot: Robot, config: EnvironmentConfig) -> tuple[Tensor, Tensor]:
    """(J,) each, rad of an action of 1: what the motor's effort holds against its spring, and what joints reach."""
    effort = np.where(np.isfinite(robot.effort), robot.effort, robot.stiffness)
    residual = torch.from_numpy(config.action_scale * effort / np.maximum(robot.stiffness, 1e-6)).float()
    return residual, config.action_range * torch.from_numpy(np.maximum(np.abs(robot.lower), np.abs(robot.upper)))


def _forbidden(robot: Robot, allowed: Sequence[str]) -> Tensor:
    """(B,) bodies whose touch of the ground loses the episode."""
    forbidden = torch.full((len(robot.body_names),), bool(allowed))
    forbidden[robot.body_indices(list(allowed))] = False
    return forbidden
