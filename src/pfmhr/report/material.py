"""What a report is made of: runs, priors and stored results, told apart by what is in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pfmhr.errors import InputError
from pfmhr.foreign import read_file, read_json
from pfmhr.layout import CONFIG, RESULT, RUN
from pfmhr.learning.logging import read_metrics
from pfmhr.prior.artefact import FORMAT
from pfmhr.results.columns import STUDIES, BenchResult, StudyResult
from pfmhr.results.comparing import Comparison, read_comparison
from pfmhr.results.records import from_json
from pfmhr.results.summary import Summary


@dataclass
class Material:
    """Everything that was found."""

    trackers: list[Path] = field(default_factory=list)
    """Directories of tracking runs with a result."""
    priors: list[Path] = field(default_factory=list)
    studies: dict[str, list[StudyResult]] = field(default_factory=dict)
    """Stored studies by name, in the order they were given."""
    benches: list[BenchResult] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)
    experiments: list[Summary] = field(default_factory=list)
    left_out: dict[Path, str] = field(default_factory=dict)
    """What was found and is not shown, with the reason."""

    @property
    def anything(self) -> bool:
        """Whether there is something to show."""
        stored = self.studies or self.benches or self.comparisons or self.experiments
        return bool(self.trackers or self.priors or stored)


def gather(paths: Sequence[Path]) -> Material:
    """Sort paths by what they are, each once; folders of results or runs are looked into, one level deep."""
    material = Material()
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise InputError("no such run or result", where=path, code="not_found")
        if not _take(material, path, seen):
            inside = sorted(path.iterdir()) if path.is_dir() else []
            taken = [_take(material, each, seen) for each in inside]
            if not any(taken):
                material.left_out[path] = "nothing here that a report could show"
    _leave_out_copies(material)
    if not material.anything:
        found = "; ".join(f"{path}: {why}" for path, why in material.left_out.items())
        raise InputError(
            "nothing to report",
            expected="finished tracking runs, priors, JSON of a study, score bench, comparison or experiment, or "
            "folders of these",
            got=found or "no paths",
            code="bad_input",
        )
    return material


def _leave_out_copies(material: Material) -> None:
    """One run may lie in the folders of several experiments, which share it."""
    first: dict[bytes, Path] = {}
    for path in material.trackers:
        original = first.setdefault(read_file(path / RESULT), path)
        if original != path:
            material.left_out[path] = f"a copy of {original}"
    material.trackers = list(first.values())


def _take(material: Material, path: Path, seen: set[Path]) -> bool:
    """Put one path where it belongs, or among what is left out; whether we know what it is."""
    if path.resolve() in seen:
        return True
    if not (_take_directory if path.is_dir() else _take_file)(material, path):
        return False
    seen.add(path.resolve())
    return True


def _take_directory(material: Material, path: Path) -> bool:
    if (path / RUN).exists() and (path / RESULT).exists():
        material.trackers.append(path)
    elif (path / CONFIG).exists() and (about := _content(path / CONFIG)).get("format"):
        if about["format"] == FORMAT:
            material.priors.append(path)
        else:
            material.left_out[path] = f"a report has no place for {about['format']}"
    elif (path / RUN).exists():
        lines = read_metrics(path)
        material.left_out[path] = f"not finished: {lines[-1]['step'] if lines else 0:,} samples or steps so far"
    else:
        return False
    return True


def _take_file(material: Material, path: Path) -> bool:
    if path.suffix != ".json":
        return False
    content = _content(path)
    words = str(content.get("command", "")).split()
    command = " ".join(words[1:3])
    if len(words) < 3 or not words[0].startswith("pfmhr"):
        material.left_out[path] = "no result that names its command"
    elif command not in SHOWN:
        material.left_out[path] = f"a report has no place for {command}"
    else:
        try:
            SHOWN[command](material, content, path)
        except InputError as error:
            text = f"not what `pfmhr {command}` writes"
            raise InputError(text, where=path, got=error.what, code="bad_result") from None
    return True


def _take_study(name: str) -> Callable[[Material, Mapping[str, object], Path], None]:
    def take(material: Material, content: Mapping[str, object], path: Path) -> None:
        study = from_json(StudyResult, content, path)
        for number, row in enumerate(study.rows, start=1):
            if missing := [column for column in STUDIES[name].names if column not in row]:
                raise InputError(f"no {', '.join(missing)} in row {number} of {len(study.rows)}", where=path)
        material.studies.setdefault(name, []).append(study)

    return take


def _take_bench(material: Material, content: Mapping[str, object], path: Path) -> None:
    material.benches.append(from_json(BenchResult, content, path))


def _take_comparison(material: Material, content: Mapping[str, object], path: Path) -> None:
    material.comparisons.append(read_comparison(content, path))


def _take_experiment(material: Material, content: Mapping[str, object], path: Path) -> None:
    material.experiments.append(Summary.from_content(content, path))


SHOWN: dict[str, Callable[[Material, Mapping[str, object], Path], None]] = {
    **{f"study {name}": _take_study(name) for name in STUDIES},
    "bench score": _take_bench,
    "track compare": _take_comparison,
    "experiment report": _take_experiment,
}
"""Commands whose stored results a report shows, and how each is taken."""


def _content(path: Path) -> dict[str, object]:
    """A JSON object; empty if it is JSON of another kind."""
    content = read_json(path, "bad_result")
    return content if isinstance(content, dict) else {}
