"""How much of the comparison has been run: seeds by skill, method and action space, of all stored experiments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from pfmhr.foreign import read_toml
from pfmhr.results.records import from_json
from pfmhr.results.run_result import StoredRun
from pfmhr.results.tables.markdown import markdown

WHOLE = "single_motion.toml"
"""The matrix that declares the whole comparison."""
BUNDLED, LARGER, VELOCITY = "PFM-HR, `g1-small`", "PFM-HR, larger corpus", "v-prediction"
OTHERS = {"random": "a random factor", "pdf": "PDF-HR", "recon": "FM-Recon"}
SHUFFLED = {"shuffled": "PFM-HR's factors, shuffled"}
METHODS = ("ADD", *OTHERS.values(), BUNDLED, LARGER, VELOCITY)
PRIORS = {
    "g1-small": BUNDLED,
    "runs/priors/clean": LARGER,
    "runs/priors/limits": f"{LARGER}, in units of the joint ranges",
    "runs/priors/velocity": VELOCITY,
    "runs/data-scale/prior-22894": "PFM-HR, a sixteenth of the larger corpus",
    "runs/data-scale/prior-91576": "PFM-HR, a quarter of the larger corpus",
    "runs/data-scale/prior-366302": LARGER,
}
"""What readers call a prior; those that are no method of the whole matrix belong to other questions."""
CHANGED = {"t-eval", "alpha", "p-good", "p-bad", "pooled"}
"""Options of a run whose prior is not set as in the paper."""


@dataclass(frozen=True)
class _Skill:
    motion: str


@dataclass(frozen=True)
class _Declared:
    """What is read of the whole matrix."""

    skills: dict[str, _Skill]
    data: str = ""


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """Settings of a stored run that decide which method it is of."""

    motions: tuple[str, ...]
    actions: str
    seed: int
    modulator: str = "pfm"
    prior: str | None = None
    set: tuple[str, ...] = ()


def coverage_table(runs: Iterable[StoredRun], experiments: Path) -> str:
    """Seeds that were run with absolute / residual actions, a line per skill of the whole matrix.

    Args:
        runs: of stored experiments; runs that do not tell their settings, or belong to another question, do not count.
        experiments: folder of the declared matrices.
    """
    seeds: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for run in runs:
        if run.settings is None or (method := method_of(run.settings)) is None:
            continue
        settings = _read(run.settings)
        if len(settings.motions) == 1:
            seeds[settings.motions[0], method, settings.actions].add(settings.seed)

    def count(clip: str, method: str) -> str:
        numbers = [len(seeds[clip, method, actions]) for actions in ("absolute", "residual")]
        return " / ".join(str(number or "–") for number in numbers) if any(numbers) else ""

    path = experiments / WHOLE
    declared = from_json(_Declared, read_toml(path, "bad_experiment"), path, "bad_experiment")
    clips = {name: str(Path(declared.data) / skill.motion) for name, skill in declared.skills.items()}
    lines = [[skill, *(count(clip, method) for method in METHODS)] for skill, clip in clips.items()]
    return markdown(("skill", *METHODS), lines)


def method_of(settings: Mapping[str, object]) -> str | None:
    """What readers call the method of a run, if its prior is known and set as in the paper."""
    known = _read(settings)
    if CHANGED & set(settings) or any(each.startswith("modulator.") for each in known.set):
        return None
    if known.modulator != "pfm":
        return (OTHERS | SHUFFLED).get(known.modulator)
    return "ADD" if known.prior is None else PRIORS.get(known.prior)


def _read(settings: Mapping[str, object]) -> RunSettings:
    return from_json(RunSettings, settings, Path("settings of a stored run"), "bad_experiment")
