"""What differs between skills: which bodies may touch the ground, what stands in the way, how strict to be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pfmhr.errors import InputError
from pfmhr.robots import Robot
from pfmhr.sim import Box

_VAULT = (0.2, 1.0, 0.3)
"""Half lengths of the box that is vaulted over, in m."""


@dataclass(frozen=True)
class Skill:
    """Settings of the ADD and PDF-HR authors for one kind of motion."""

    limbs: tuple[Literal["legs", "arms"], ...] = ("legs",)
    """Limbs whose lower parts may touch the ground; none named switches the test off."""
    boxes: tuple[Box, ...] = ()
    distance: float = 1.0
    """m a body may be away from its reference before an evaluation counts the episode as lost."""

    def contacts(self, robot: Robot) -> tuple[str, ...]:
        """Bodies of a robot that may touch the ground."""
        return tuple(body for limb in self.limbs for body in getattr(robot.roles, limb))


_ALL: tuple[Literal["legs", "arms"], ...] = ("legs", "arms")
SKILLS = {
    "cartwheel": Skill(_ALL),
    "speed_vault": Skill(_ALL, (Box(_VAULT, (1.7, 0.5, 0.055)),), 0.5),
    "double_kong": Skill(_ALL, (Box(_VAULT, (-6.53, 0.06, 0.14)), Box(_VAULT, (-7.62, 0.06, 0.14))), 0.5),
}
"""By a part of the clip's name; every other clip is a plain :class:`Skill`."""


def skill_of(names: tuple[str, ...], boxes_given: bool = False) -> Skill:
    """The skill of a clip by its name; for a set of clips, one without a test of ground contact.

    Clips of a set share one floor, so one that needs boxes is refused unless it was said which boxes there are.
    """
    skills = [next((skill for part, skill in SKILLS.items() if part in name), Skill()) for name in names]
    if len(names) == 1:
        return skills[0]
    boxed = [name for name, skill in zip(names, skills, strict=True) if skill.boxes]
    if boxed and not boxes_given:
        raise InputError(
            "clips that need boxes cannot be tracked together with others",
            got=", ".join(boxed),
            fix="Train each alone, or say which boxes there are: --environment.boxes '[]' for none.",
            code="bad_config",
        )
    return Skill(limbs=())
