"""The tracking rewards there are, one row each: everything that names, describes or makes them reads it here.

A new one of ours is a module and a row, and a section of :class:`~pfmhr.tracking.config.TrackerConfig` if it has
settings. One of a user's own is named as ``package.module:Class`` and needs neither. Nothing here waits for torch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from pfmhr.errors import InputError, unknown_name
from pfmhr.extension import OWN, is_own, resolve

if TYPE_CHECKING:
    from pfmhr.robots import Robot
    from pfmhr.tracking.config import TrackerConfig
    from pfmhr.tracking.rewards.reward import TrackingReward

Need = Literal["body_motion"]
"""What the environment emits only if the reward needs it; body_motion: how all bodies are turned and move."""


@dataclass(frozen=True)
class RewardKind:
    """One row."""

    name: str
    label: str
    """As tables and figures call it."""
    about: str
    """A few words for help."""
    make: Callable[..., TrackingReward]
    """Called with settings, robot and the environment's config."""
    section: str = ""
    """The section of a tracker's config that its settings are; nothing without settings."""
    needs: tuple[Need, ...] = ()
    settings: type | None = None
    """Of a user's own: a dataclass, made of the config's ``reward_settings``."""


def _add(*about: Any) -> TrackingReward:
    from pfmhr.tracking.rewards.add import AddReward

    return AddReward(*about)


def _deepmimic(*about: Any) -> TrackingReward:
    from pfmhr.tracking.rewards.deepmimic import DeepMimicReward

    return DeepMimicReward(*about)


_ROWS = (
    RewardKind("add", "ADD", "a discriminator of differences to the reference", _add, section="adversary"),
    RewardKind("deepmimic", "DeepMimic", "weighted distances to the reference", _deepmimic),
)
REWARDS = {row.name: row for row in _ROWS}
CHOICES = "|".join((*REWARDS, OWN))
"""What may stand where a reward is named."""
HELP = "; ".join([*(f"{row.name}: {row.about}" for row in _ROWS), f"{OWN}: your own"])
"""What each of them is, in one sentence."""


def reward_kind(name: str) -> RewardKind:
    """The row of a name; ``package.module:Class`` is imported, and its row read from the class.

    Such a class is a :class:`~pfmhr.tracking.rewards.reward.TrackingReward`. It may have attributes ``needs`` (a tuple
    with "body_motion" in it) and ``Settings`` (a frozen dataclass).
    """
    if name in REWARDS:
        return REWARDS[name]
    make = resolve(name, "reward", REWARDS)
    needs, settings = tuple(getattr(make, "needs", ())), getattr(make, "Settings", None)
    if unknown := [need for need in needs if need not in get_args(Need)]:
        what, expected = "a reward needs what no environment emits", " or ".join(get_args(Need))
        raise InputError(what, where=name, expected=expected, got=unknown, code="bad_extension")
    if settings is not None and not (isinstance(settings, type) and is_dataclass(settings)):
        raise InputError("Settings must be a dataclass", where=name, got=settings, code="bad_extension")
    if not callable(getattr(make, "compute", None)):
        raise InputError("a reward has a method compute", where=name, code="bad_extension")
    return RewardKind(name, label_of(name), "", make, needs=needs, settings=settings)


def make_reward(config: TrackerConfig, robot: Robot) -> TrackingReward:
    """The reward that a tracker's config names."""
    from pfmhr.foreign import as_dataclass

    kind = reward_kind(config.reward)
    settings: Any = getattr(config, kind.section) if kind.section else None
    if kind.settings is not None:
        settings = as_dataclass(kind.settings, dict(config.reward_settings), f"settings of {kind.name}", "bad_config")
    elif config.reward_settings:
        got = ", ".join(config.reward_settings)
        raise InputError(f"reward {kind.name} has no such settings", got=got, code="bad_config")
    return kind.make(settings, robot, config.environment)


def require_reward(name: str) -> None:
    """Refuse what names no reward; nothing is imported."""
    if name not in REWARDS and not is_own(name):
        raise unknown_name("reward", name, [*REWARDS, f"or your own as {OWN}"])


def label_of(name: str) -> str:
    """A reward as tables call it; of the user's own the class's name. Nothing is imported."""
    return REWARDS[name].label if name in REWARDS else name.rpartition(":")[2]


def refuse_idle_sections(reward: str, settings: Sequence[str]) -> None:
    """Refuse settings, as ``section.name=value``, of the section of another reward: they would change nothing."""
    others = [row.section for row in REWARDS.values() if row.section and row.name != reward]
    names = [setting.partition("=")[0].strip() for setting in settings]
    idle = [name for name in names if name.partition(".")[0] in others]
    if idle:
        raise InputError(f"{', '.join(idle)} would change nothing with reward {reward}", code="bad_config")
