"""How much of the comparison has been run: seeds by skill, method and action space, of all stored experiments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from experiment_tables import markdown

from pfmhr.experiments import Matrix

WHOLE = Path(__file__).resolve().parents[1] / "experiments" / "single_motion.toml"
"""The matrix that declares the comparison whole."""
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
"""What readers call a prior; those that are no method of the whole matrix are of other questions."""
CHANGED = {"t-eval", "alpha", "p-good", "p-bad", "pooled"}
"""Options of a run whose prior is not set as in the paper."""


def coverage_table(runs: Iterable[Mapping[str, Any]]) -> str:
    """Seeds that were run with absolute / residual actions, a line per skill of the whole matrix.

    Args:
        runs: those of stored experiments; what does not tell its settings, or is of another question, counts nowhere.
    """
    seeds: dict[tuple[str, str, str], set[int]] = defaultdict(set)
    for settings in (run["settings"] for run in runs if "settings" in run):
        method = method_of(settings)
        if method and len(settings["motions"]) == 1:
            seeds[settings["motions"][0], method, settings["actions"]].add(settings["seed"])

    def count(clip: str, method: str) -> str:
        numbers = [len(seeds[clip, method, actions]) for actions in ("absolute", "residual")]
        return " / ".join(str(number or "–") for number in numbers) if any(numbers) else ""

    clips = {cell.skill: cell.motions[0] for cell in Matrix.read(WHOLE).cells}
    lines = [[skill, *(count(clip, method) for method in METHODS)] for skill, clip in clips.items()]
    return markdown(("skill", *METHODS), lines)


def method_of(settings: Mapping[str, Any]) -> str | None:
    """What readers call the method of a run, if its prior is known and set as in the paper."""
    if CHANGED & set(settings) or any(each.startswith("modulator.") for each in settings.get("set", ())):
        return None
    if settings.get("modulator", "pfm") != "pfm":
        return (OTHERS | SHUFFLED).get(settings["modulator"])
    return PRIORS.get(settings["prior"]) if "prior" in settings else "ADD"
