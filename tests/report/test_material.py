"""What is given to a report is taken, named as left out, or refused; nothing is lost silently."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from pfmhr.errors import InputError
from pfmhr.prior.artefact import bundled_priors
from pfmhr.report.material import SHOWN, gather

NOISE: dict[str, Any] = {"command": "pfmhr study noise --prior x", "rows": [], "transitions": 5}


def stored(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def run(directory: Path, finished: bool = True) -> Path:
    stored(directory / "run.json", {"kind": "tracker"})
    stored(directory / "metrics.jsonl", '{"step": 6144}\n{"step": 12288}\n{"st')
    if finished:
        stored(directory / "result.json", {"seconds": len(directory.name), "seed": directory.name})
    return directory


def test_paths_are_told_apart_by_what_is_in_them(tmp_path: Path) -> None:
    prior = bundled_priors()["g1-small"]
    material = gather([run(tmp_path / "run"), prior, stored(tmp_path / "noise.json", NOISE)])
    assert material.trackers == [tmp_path / "run"] and material.priors == [prior]
    assert [each.command for each in material.studies["noise"]] == [NOISE["command"]] and len(material.studies) == 1
    assert not material.left_out


CELLS = {"finished": 1, "all": 2}
CONTENT = {
    "bench score": {"preset": "small", "batch": 4, "ratio": {"jvp": 2.0}},
    "track compare": {"rows": [], "curves": []},
    "experiment report": {"name": "nine", "plain": "add", "cells": CELLS, "rows": [], "verdicts": []},
}


@pytest.mark.parametrize("command", SHOWN)
def test_every_result_that_is_shown_is_taken(command: str, tmp_path: Path) -> None:
    content = {"command": f"pfmhr {command} --and more", **CONTENT.get(command, {"rows": [], "transitions": 5})}
    material = gather([stored(tmp_path / "result.json", content)])
    studies = [study for found in material.studies.values() for study in found]
    taken = [*studies, *material.benches, *material.comparisons, *material.experiments]
    assert [each.command for each in taken] == [content["command"]]
    assert material.anything and not material.left_out


def test_folders_are_looked_into_one_level_deep(tmp_path: Path) -> None:
    run(tmp_path / "b")
    run(tmp_path / "a")
    run(tmp_path / "deep" / "c")
    stored(tmp_path / "noise.json", NOISE)
    stored(tmp_path / "noise.csv", "samples,milliseconds")
    material = gather([tmp_path])
    assert material.trackers == [tmp_path / "a", tmp_path / "b"] and len(material.studies["noise"]) == 1
    assert not material.left_out  # tables beside a result and folders of folders are nobody's results


def test_nothing_is_taken_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path / "run")
    stored(tmp_path / "noise.json", NOISE)
    monkeypatch.chdir(tmp_path)
    material = gather([Path("run"), tmp_path, tmp_path / "run" / ".." / "noise.json", tmp_path / "run"])
    assert material.trackers == [Path("run")] and len(material.studies["noise"]) == 1
    assert not material.left_out


def test_a_run_that_two_experiments_share_is_taken_once(tmp_path: Path) -> None:
    """Copied by --reuse, it would be a second run of its seed."""
    run(tmp_path / "a" / "walk-add-0")
    run(tmp_path / "a" / "walk-add-1")
    shutil.copytree(tmp_path / "a" / "walk-add-0", tmp_path / "b" / "walk-add-0")
    material = gather([tmp_path / "a", tmp_path / "b"])
    assert [path.relative_to(tmp_path).as_posix() for path in material.trackers] == ["a/walk-add-0", "a/walk-add-1"]
    assert material.left_out == {tmp_path / "b" / "walk-add-0": f"a copy of {tmp_path / 'a' / 'walk-add-0'}"}


def test_a_run_that_is_not_finished_is_named_with_how_far_it_is(tmp_path: Path) -> None:
    run(tmp_path / "done")
    going, new = run(tmp_path / "going", finished=False), tmp_path / "new"
    stored(new / "run.json", {})
    material = gather([tmp_path])
    assert material.trackers == [tmp_path / "done"]
    assert material.left_out == {
        going: "not finished: 12,288 samples or steps so far",
        new: "not finished: 0 samples or steps so far",
    }
    with pytest.raises(InputError, match=r"nothing to report \(.*going: not finished: 12,288 samples"):
        gather([going])


def test_results_without_a_place_are_named(tmp_path: Path) -> None:
    stored(tmp_path / "noise.json", NOISE)
    others = {
        "corpus.json": ({"command": "pfmhr bench corpus --rows 5"}, "a report has no place for bench corpus"),
        "package.json": ({"name": "theirs"}, "no result that names its command"),
        "list.json": ([1, 2], "no result that names its command"),
        "short.json": ({"command": "pfmhr demo"}, "no result that names its command"),
        "foreign.json": ({"command": "rm study noise"}, "no result that names its command"),
    }
    for name, (content, _) in others.items():
        stored(tmp_path / name, content)
    field = stored(tmp_path / "field" / "config.json", {"format": "pfmhr-distance"}).parent
    left_out = gather([tmp_path]).left_out
    assert left_out == {
        field: "a report has no place for pfmhr-distance",
        **{tmp_path / name: why for name, (_, why) in others.items()},
    }


def test_a_result_that_lost_a_part_is_refused(tmp_path: Path) -> None:
    path = stored(tmp_path / "noise.json", {"command": "pfmhr study noise", "transitions": 5})
    told = r"noise\.json: not what `pfmhr study noise` writes \(got .*missing required field `rows`\)"
    with pytest.raises(InputError, match=told):
        gather([tmp_path])
    stored(path, {**NOISE, "rows": 5})
    with pytest.raises(InputError, match=r"\(got .*Expected `array`, got `int` - at `\$\.rows`\)"):
        gather([tmp_path])
    stored(path, {**NOISE, "rows": [{"samples": 1, "reward_mae": 0.1}]})
    lacks = "no rank_correlation, percentile_mae, region_agreement, milliseconds in row 1 of 1"
    with pytest.raises(InputError, match=rf"noise\.json: .* \(got {lacks}\)"):
        gather([tmp_path])
    path.write_text('{"command": "pfmhr stu')
    with pytest.raises(InputError, match=r"noise\.json: unreadable JSON"):
        gather([tmp_path])
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"noise\.json: unreadable JSON"):
        gather([path])


def test_nothing_to_report_says_what_could_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing to report \(expected finished tracking runs, .*got no paths\)"):
        gather([])
    with pytest.raises(InputError, match="nothing here that a report could show"):
        gather([tmp_path])
    with pytest.raises(InputError, match="nothing here that a report could show"):
        gather([stored(tmp_path / "table.csv", "a,b")])
    with pytest.raises(InputError, match="absent: no such run or result"):
        gather([tmp_path / "absent"])


def test_an_empty_folder_among_others_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    material = gather([stored(tmp_path / "noise.json", NOISE), tmp_path / "empty"])
    assert material.left_out == {tmp_path / "empty": "nothing here that a report could show"}
