"""Every number of a tracker."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

from pfmhr.errors import InputError
from pfmhr.learning.limits import require_numbers
from pfmhr.reward.configuring import settings_of, with_changes
from pfmhr.robots import Robot
from pfmhr.sim import Box
from pfmhr.tracking.rewards.available import require_reward


@dataclass(frozen=True)
class EnvironmentConfig:
    """What a policy sees, does and is ended by. Defaults: what learns fastest on two cores."""

    environments: int = 256
    """Robots simulated at once."""
    episode_seconds: float = 10.0
    """s that an episode lasts at most."""
    physics_rate: float = 120.0
    """Physics steps per second."""
    control_rate: float = 30.0
    """Control steps per second."""
    observation: Literal["local", "world"] = "local"
    """local: 170 numbers in the root's frame, the next reference frame only; world: MimicKit's, three frames ahead."""
    actions: Literal["residual", "absolute"] = "residual"
    """residual: joint target = next reference pose + scale·action; absolute: zero-centred, as MimicKit."""
    action_scale: float = 0.625
    """Residual actions: rad per unit, in multiples of effort/stiffness. Smaller ones cannot take off for a kick."""
    action_range: float = 1.4
    """Absolute actions: half range per joint in multiples of its larger limit; targets are clipped to it."""
    termination_distance: float = 0.5
    """m between any body and its reference that ends a training episode."""
    contacts: tuple[str, ...] | None = None
    """Bodies that may touch the ground; none: the skill's. An empty list switches the test off."""
    boxes: tuple[Box, ...] | None = None
    """Static boxes; none: the skill's."""
    weights: tuple[float, ...] = ()
    """How much of the samples, or of the episodes, each of several clips gets; none: equally much."""
    balanced: bool = True
    """Whether clips share the samples. Otherwise they share the episodes, and those of a hard clip soon end: of
    five clips one then got 40 % of the samples and the two hardest 7 and 8 %."""
    key_bodies: tuple[str, ...] | None = None
    """Bodies of the world observation and of DeepMimic's reward; none: the robot's, see ``Robot.roles``."""

    def __post_init__(self) -> None:
        if self.environments < 1 or not 1 <= self.episode_seconds * self.control_rate < math.inf:
            raise InputError("at least one environment and one step per episode", got=self, code="bad_config")
        if not (self.action_scale > 0 and self.action_range > 0 and self.termination_distance > 0):
            raise InputError("action and termination ranges must be positive", code="bad_config")

    def key_bodies_of(self, robot: Robot) -> tuple[str, ...]:
        """The key bodies, the robot's own where none are named."""
        return robot.roles.key_bodies if self.key_bodies is None else self.key_bodies

    @property
    def episode_steps(self) -> int:
        """Control steps in a whole episode."""
        return round(self.episode_seconds * self.control_rate)


@dataclass(frozen=True)
class AgentConfig:
    """PPO. ``separate`` is MimicKit's scheme: actor and critic each with their own epochs and minibatches."""

    steps: int = 24
    """Control steps per environment and iteration."""
    hidden: tuple[int, ...] = (256, 128)
    """Sizes of the hidden layers of actor and critic."""
    activation: str = "elu"
    """Activation function of both."""
    actor_output_scale: float = 0.01
    """Bound of the first weights of the actor's output layer."""
    std: float = 0.25
    """Standard deviation of the actions at the start."""
    learn_std: bool = True
    """Whether that deviation is learned."""
    normaliser_samples: int | None = None
    """Observations the normaliser learns from; none: all."""
    observation_clip: float = 10.0
    """Normalised observations are cut here."""
    discount: float = 0.99
    """γ: what a reward is worth a step later."""
    trace: float = 0.95
    """λ of generalised advantage estimation."""
    clip: float = 0.2
    """PPO's bound of the probability ratio, on both sides of 1."""
    advantage_clip: float = 4.0
    """Normalised advantages are cut here."""
    entropy: float = 0.002
    """Weight of the policy's entropy, which rewards exploration."""
    entropy_until: int | None = None
    """Samples after which exploration is no longer rewarded; none: it always is. Several clips need more of it,
    and less once they are known: noise that the policy keeps costs it its balance."""
    gradient_norm: float = 1.0
    """Longer gradients are cut to this norm."""
    epochs: int = 5
    """Passes over each rollout."""
    minibatches: int = 4
    """Parts that a rollout is split into in each pass."""
    learning_rate: float = 1e-3
    """Rate of Adam at the start."""
    desired_kl: float = 0.1
    """Target of the adaptive rate. With few samples per iteration 0.01 pins the rate so low that nothing is learned,
    and with 0.05 a spin kick takes twice as long."""
    adapt: Literal["minibatch", "iteration"] = "minibatch"
    """When the rate adapts. With every minibatch, as in rsl_rl, it swings between its bounds with few samples: what
    moved the policy too far still counts for all that is left of the iteration. Once an iteration it is steady."""
    critic_rate: float | None = None
    """Learning rate of the critic; none: the policy's adaptive one."""
    scale_rewards: bool = True
    """Divide rewards by rsl_rl's running deviation of their discounted sum (which goes on over the ends of episodes): a
    discriminator's scale drifts. Of several clips each first has its own mean for a unit: the discriminator gives
    little for what is hard, and the policy would rather polish what is easy."""
    separate: SeparateUpdates | None = None

    def __post_init__(self) -> None:
        require_numbers(
            self, at_least_one=("steps", "hidden", "epochs", "minibatches", "normaliser_samples", "entropy_until")
        )
        require_numbers(self, positive=("actor_output_scale", "std", "observation_clip", "clip", "advantage_clip"))
        require_numbers(self, positive=("gradient_norm", "learning_rate", "critic_rate", "desired_kl"))
        require_numbers(self, not_negative=("entropy",))
        if self.separate is not None:
            self._refuse_idle("critic_rate", "learning_rate", "epochs", "minibatches")
            self._refuse_idle("gradient_norm", "desired_kl", "adapt")
        require_numbers(self, shares=("discount", "trace"))

    def _refuse_idle(self, *names: str) -> None:
        """What separate updates have of their own, or do without: it would change nothing."""
        idle = [name for name in names if getattr(self, name) != getattr(AgentConfig, name)]
        if idle:
            got = ", ".join(f"{name} {getattr(self, name)}" for name in idle)
            expected = "settings of agent.separate"
            raise InputError("of no effect with separate updates", expected=expected, got=got, code="bad_config")


@dataclass(frozen=True)
class SeparateUpdates:
    """MimicKit's updates: plain SGD with momentum, minibatches in multiples of the number of environments."""

    actor_epochs: int = 5
    """Passes of the actor over each rollout."""
    actor_batch: int = 4
    """Steps of all environments in a minibatch of the actor."""
    actor_rate: float = 1e-4
    """Learning rate of the actor."""
    critic_epochs: int = 2
    """Passes of the critic."""
    critic_batch: int = 2
    """Steps of all environments in a minibatch of the critic."""
    critic_rate: float = 1e-4
    """Learning rate of the critic."""
    momentum: float = 0.9
    """Of both optimisers."""
    action_bound: float = 10.0
    """Weight of the squared distance of mean actions beyond ±1."""

    def __post_init__(self) -> None:
        require_numbers(self, at_least_one=("actor_epochs", "actor_batch", "critic_epochs", "critic_batch"))
        require_numbers(
            self, positive=("actor_rate", "critic_rate"), not_negative=("action_bound",), shares=("momentum",)
        )


@dataclass(frozen=True)
class AdversaryConfig:
    """ADD's differential discriminator."""

    hidden: tuple[int, ...] = (256, 128)
    """Sizes of the discriminator's hidden layers."""
    optimiser: Literal["adamw", "sgd"] = "adamw"
    """What it learns by."""
    learning_rate: float = 3e-4
    """Its learning rate."""
    momentum: float = 0.9
    """Of sgd."""
    weight_decay: float = 1e-4
    """Decay of its weights."""
    epochs: int = 2
    """Passes over each rollout."""
    minibatches: int = 4
    """Parts that a rollout is split into in each pass."""
    replay: int = 100_000
    """Earlier differences that it goes on learning from."""
    replay_samples: int = 1_000
    """Random differences of a rollout that enter a replay that is full."""
    logit_regularisation: float = 0.01
    """Weight of the squared weights of its last layer."""
    gradient_penalty: float = 2.0
    """Weight of its squared slope."""
    reward_scale: float = 2.0
    """Factor on the reward."""
    difference_clip: float | None = 10.0
    """Differences, of which velocities are the largest, are cut here; none: never, as in MimicKit."""
    normaliser_samples: int = 100_000_000
    """Differences the normaliser learns from."""
    joints: Literal["angles", "rotations"] = "angles"
    """How joints enter the difference: one angle each, or six numbers each as in MimicKit."""

    def __post_init__(self) -> None:
        counts = ("epochs", "minibatches", "replay", "replay_samples", "normaliser_samples")
        require_numbers(
            self, at_least_one=(*counts, "hidden"), positive=("learning_rate", "reward_scale", "difference_clip")
        )
        require_numbers(self, not_negative=("momentum", "weight_decay", "logit_regularisation", "gradient_penalty"))


@dataclass(frozen=True)
class ModulatorConfig:
    """What is put on the tracking reward."""

    kind: str = "none"
    """A name of :data:`pfmhr.reward.available.MODULATORS`, or your own as ``package.module:Class``."""
    prior: str = ""
    """Directory or name of the prior, or of the distance field."""
    settings: Any = None
    """The kind's own: a dataclass (plain data becomes one); its defaults for None."""
    fade: int | None = None
    """Samples over which α falls to zero, evenly; none: it stays."""

    def __post_init__(self) -> None:
        require_numbers(self, at_least_one=("fade",))
        object.__setattr__(self, "settings", settings_of(self.kind, self.settings))
        if self.fade is not None and self.kind == "none":
            raise InputError("there is no modulator that could fade", got=f"fade={self.fade}", code="bad_config")
        if self.fade is not None and getattr(self.settings, "combine", "multiply") == "add":
            raise InputError("only a factor can fade, not what is added", got="combine=add", code="bad_config")

    @staticmethod
    def of(kind: str, prior: str = "", fade: int | None = None, **settings: Any) -> ModulatorConfig:
        """With single settings by their last names: ``ModulatorConfig.of("pfm", "g1-small", alpha=2.0)``."""
        return ModulatorConfig(kind, prior, with_changes(kind, settings_of(kind, None), settings), fade)


@dataclass(frozen=True)
class TrackerConfig:
    """A whole run."""

    environment: EnvironmentConfig = field(default_factory=EnvironmentConfig)
    agent: AgentConfig = field(default_factory=AgentConfig)
    adversary: AdversaryConfig = field(default_factory=AdversaryConfig)
    modulator: ModulatorConfig = field(default_factory=ModulatorConfig)
    reward: str = "add"
    """A name of :data:`pfmhr.tracking.rewards.REWARDS`, or your own as ``package.module:Class``."""
    reward_settings: dict[str, Any] = field(default_factory=dict, hash=False)
    """Settings of your own reward, by name."""
    samples: int = 2_000_000
    seed: int = 0
    evaluate_every: int = 20
    """Iterations between evaluations."""
    evaluation_episodes: int = 64
    horizons: tuple[float, ...] = ()
    """s that evaluated episodes last, the first being what learning is judged by; none: as in training."""
    checkpoint_every: int = 25
    """Iterations between checkpoints."""

    def __post_init__(self) -> None:
        require_reward(self.reward)
        require_numbers(self, at_least_one=("samples", "evaluate_every", "evaluation_episodes", "checkpoint_every"))
        if self.agent.separate is None and self.agent.minibatches > self.samples_per_iteration:
            got = f"{self.agent.minibatches} of {self.samples_per_iteration} samples"
            raise InputError("more minibatches than samples of an iteration", got=got, code="bad_config")
        if not all(1 <= horizon * self.environment.control_rate < math.inf for horizon in self.horizons):
            raise InputError("an evaluated episode has at least one step", got=self.horizons, code="bad_config")

    @property
    def samples_per_iteration(self) -> int:
        """Transitions collected before each update."""
        return self.environment.environments * self.agent.steps

    @property
    def evaluated(self) -> tuple[float, ...]:
        """s that evaluated episodes last."""
        return self.horizons or (self.environment.episode_seconds,)

    @property
    def iterations(self) -> int:
        """Iterations until at least ``samples`` have been seen."""
        return -(-self.samples // self.samples_per_iteration)
