"""The usual choices of a run, by short names: options of ``pfmhr track train``, keys of an experiment's tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from pfmhr.errors import InputError
from pfmhr.tracking.config import TrackerConfig
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
    """What is made of the prior."""
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
    robot: str = "g1"
    """A robot's name or the path of its MJCF."""
    set: tuple[str, ...] = ()
    """Settings as section.name=value; on the command line each has an option of its own, --section.name."""

    def spec(self, motions: Sequence[str], changes: Sequence[str] = ()) -> RunSpec:
        """The run of these choices on ``motions``; ``changes`` are settings as ``section.name=value``, applied last."""
        kind = self.modulator or ("none" if self.prior == "none" else "pfm")
        prior = [] if self.prior == "none" else [f"modulator.prior={json.dumps(self.prior)}"]
        made = [*self._given(), *(f"reward_settings.{setting}" for setting in self.reward_settings)]
        _refuse_idle(kind, {f"--{name.replace('_', '-')}": name for name in self._of_modulator()})
        start = with_actions(tracker_preset(self.preset), self.actions)
        asked = [*self.set, *changes]
        tracker = with_settings(start, [f"modulator.kind={json.dumps(kind)}", *prior, *made, *asked])
        self._refuse_idle_settings(tracker, asked)
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

    def _refuse_idle_settings(self, tracker: TrackerConfig, settings: Sequence[str]) -> None:
        """Refuse settings without effect, of a modulator that settings may have changed themselves."""
        names = [setting.partition("=")[0].strip() for setting in settings]
        inside = {name: name.removeprefix("modulator.") for name in names if name.startswith("modulator.")}
        inside = {said: name for said, name in inside.items() if name != "kind"}
        options = {f"--{name.replace('_', '-')}": name for name in self._of_modulator()}
        _refuse_idle(tracker.modulator.kind, {**options, **inside})
        refuse_idle_sections(tracker.reward, settings)


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


HEEDED: dict[str, tuple[str, ...]] = {
    "none": (),
    "random": ("alpha", "fade"),
    "pdf": ("alpha", "fade", "prior", "pdf_good", "pdf_bad", "pdf_combine"),
    "recon": (_CALIBRATED := ("alpha", "fade", "p_good", "p_bad", "pooled", "phases", "prior")),
    "pfm": (_PFM := (*_CALIBRATED, "t_eval")),
    "shuffled": _PFM,
}
"""Settings of a modulator that change something, by its kind."""


def _refuse_idle(kind: str, given: Mapping[str, str]) -> None:
    """A setting without effect would make the same tracker under another name; ``given`` as written, and its name."""
    idle = [said for said, name in given.items() if name not in HEEDED.get(kind, (name,))]
    if idle:
        what = "without a modulator" if kind == "none" else f"with modulator {kind}"
        raise InputError(f"{', '.join(idle)} would change nothing {what}", code="bad_config")
