"""The usual choices of a run, by short names: options of ``pfmhr track train``, keys of an experiment's tables."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from pfmhr.reward.configuring import owners_of_settings, refuse_idle
from pfmhr.tracking.presets import Preset, tracker_preset, with_actions
from pfmhr.tracking.rewards.available import refuse_idle_sections
from pfmhr.tracking.settings import with_settings
from pfmhr.tracking.spec import Clip, RunSpec


def _setting(place: str, default: Any = None) -> Any:
    """A choice that is a setting of :class:`TrackerConfig`; where it is None, that keeps its own."""
    return field(default=default, metadata={"setting": place})


@dataclass(frozen=True)
class RunOptions:
    """One run's choices; :meth:`spec` makes a run of them."""

    preset: Preset = "cpu"
    """cpu learns fastest on two cores; paper has every number of the paper's table."""
    prior: str = "none"
    """The prior in the loop: a directory or a bundled name (a distance field for modulator pdf)."""
    modulator: str | None = field(default=None, metadata={"default": "pfm with a prior, else none"})
    """What is put on the tracking reward."""
    reward: str = _setting("reward", "add")
    """The tracking reward."""
    samples: int | None = _setting("samples")
    """Transitions to train on."""
    seed: int = _setting("seed", 0)
    """Of networks, starts, actions and minibatches."""
    environments: int | None = _setting("environment.environments")
    """Robots simulated at once."""
    actions: Literal["residual", "absolute"] | None = field(default=None, metadata={"shows": "environment.actions"})
    """Residual adds to the next reference pose; absolute is centred on zero, as in MimicKit."""
    t_eval: float | None = _setting("modulator.t_eval")
    """Flow time of the score."""
    alpha: float | None = _setting("modulator.alpha")
    """Strength of the modulator's cut."""
    p_good: float | None = _setting("modulator.p_good")
    """Percentile from which the reward is left alone."""
    p_bad: float | None = _setting("modulator.p_bad")
    """Percentile below which the cut is full."""
    pooled: bool = _setting("modulator.pooled", False)
    """One reference distribution for all clips."""
    evaluate_every: int | None = _setting("evaluate_every")
    """Iterations between evaluations."""
    episodes: int | None = _setting("evaluation_episodes")
    """Episodes of an evaluation."""
    checkpoint_every: int | None = _setting("checkpoint_every")
    """Iterations between checkpoints."""
    horizon: tuple[float, ...] = field(default=(), metadata={"setting": "horizons", "default": "as in training"})
    """Lengths of evaluated episodes in s, the first to judge learning by."""
    fps: float | None = field(default=None, metadata={"default": "such files are refused"})
    """Frame rate of csv files that state none."""
    trim: tuple[float, float] | None = field(default=None, metadata={"default": "the whole clip"})
    """Keep the time from START to STOP of every clip, in s."""
    reward_settings: tuple[str, ...] = ()
    """Settings of your own reward, as name=value."""
    modulator_settings: tuple[str, ...] = ()
    """Settings of your own modulator, as name=value."""
    robot: str = "g1"
    """A robot's name or the path of its MJCF."""
    set: tuple[str, ...] = ()
    """Settings as section.name=value; on the command line each has an option of its own, --section.name."""

    def spec(self, motions: Sequence[str], changes: Sequence[str] = ()) -> RunSpec:
        """The run of these choices on ``motions``; ``changes`` are settings as ``section.name=value``, applied last."""
        kind = self.modulator or ("none" if self.prior == "none" else "pfm")
        prior = [] if self.prior == "none" else [f"modulator.prior={json.dumps(self.prior)}"]
        made = [*self._given(), *(f"reward_settings.{setting}" for setting in self.reward_settings)]
        start = with_actions(tracker_preset(self.preset), self.actions)
        asked = [*self.set, *(f"modulator.{setting}" for setting in self.modulator_settings), *changes]
        self._refuse_idle(kind, asked)
        tracker = with_settings(start, [f"modulator.kind={json.dumps(kind)}", *prior, *made, *asked])
        refuse_idle_sections(tracker.reward, asked)
        return RunSpec(tuple(Clip(motion, self.fps, self.trim) for motion in motions), self.robot, tracker)

    def _given(self) -> list[str]:
        """Choices other than the usual as settings, ``section.name=value``."""
        places = {each.name: each.metadata["setting"] for each in fields(self) if "setting" in each.metadata}
        return [f"{places[name]}={json.dumps(value)}" for name, value in self._unusual().items() if name in places]

    def _unusual(self) -> dict[str, Any]:
        return {each.name: now for each in fields(self) if (now := getattr(self, each.name)) != each.default}

    def _of_modulator(self) -> list[str]:
        """Names of choices that only a modulator heeds."""
        return [name for name in self._unusual() if name == "prior" or place_of(name).startswith("modulator.")]

    def _refuse_idle(self, kind: str, settings: Sequence[str]) -> None:
        """Refuse choices that the modulator does not heed; settings, ``section.name=value``, may name another kind."""
        inside: dict[str, str] = {}
        for place, _, value in (setting.partition("=") for setting in settings):
            section, *names = place.strip().split(".")
            if section == "modulator" and names == ["kind"]:
                kind = value.strip().strip('"')
            elif section == "modulator" and names:
                inside[place.strip()] = names[-1]
        if kind == "pdf":  # whose settings had longer names
            inside = {said: name.removeprefix("pdf_") for said, name in inside.items()}
        for name in self._of_modulator():
            inside[f"--{name.replace('_', '-')}"] = place_of(name).rpartition(".")[2] or name
        refuse_idle(kind, inside)


def place_of(name: str) -> str:
    """The setting that a choice is; nothing if it is none."""
    return RunOptions.__dataclass_fields__[name].metadata.get("setting", "")


def default_of(name: str) -> str:
    """The usual value of a choice, as help shows it; nothing for one whose default says it all."""
    about = RunOptions.__dataclass_fields__[name].metadata
    place = about.get("setting", about.get("shows", ""))
    return about.get("default") or (default_of_setting(place) if place else "")


def default_of_setting(place: str, usual: Any = None) -> str:
    """A setting's usual value, such as 0.99; where a preset decides, "cpu 256, paper 4,096".

    ``usual``: where a preset has no such section.
    """
    section, _, name = place.partition(".")
    if section == "modulator" and name in (owners := owners_of_settings()):
        return shown(owners[name].__dataclass_fields__[name].default)
    found = {name: shown(_at(tracker_preset(name), place, usual)) for name in get_args(Preset)}
    same = len(set(found.values())) == 1
    return found["cpu"] if same else ", ".join(f"{name} {value}" for name, value in found.items())


def shown(value: Any) -> str:
    """A value as people write it: 2,000,000, or 512 256."""
    if isinstance(value, tuple):
        return " ".join(map(shown, value)) or "none"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "none" if value is None or value == "" else str(value)
    return f"{value:,}"


def _at(config: Any, place: str, usual: Any) -> Any:
    for part in place.split("."):
        config = getattr(config, part, usual)
    return config
