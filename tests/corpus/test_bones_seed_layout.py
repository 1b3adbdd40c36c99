"""BONES-SEED as downloaded: dated folders, mirrored copies marked _M, a metadata table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.corpus import BuildConfig, build_corpus
from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot

ROOT = ["root_translateX", "root_translateY", "root_translateZ", "root_rotateX", "root_rotateY", "root_rotateZ"]


def write_bones_csv(path: Path, motion: Motion) -> None:
    euler = Rotation.from_quat(motion.root_quat, scalar_first=True).as_euler("xyz", degrees=True)
    frame = np.arange(motion.num_frames)[:, None]
    table = np.concatenate([frame, 100 * motion.root_pos, euler, np.rad2deg(motion.joint_pos)], axis=1)
    header = ",".join(["Frame", *ROOT, *(f"{name}_dof" for name in motion.joint_names)])
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(path, table, delimiter=",", header=header, comments="", fmt="%.6f")


@pytest.fixture
def downloaded(tmp_path: Path, make_walk: Callable[..., Motion]) -> Path:
    folder = tmp_path / "bones-seed"
    rows = ["filename,package,category,is_mirror,move_g1_path"]
    clips = (("walk_slow", "Locomotion"), ("hand_shake", "Communication"), ("jazz", "Dances"))
    for number, (name, package) in enumerate(clips):
        for mirror in (False, True):
            stem = f"{name}__A00{number}" + ("_M" if mirror else "")
            motion = make_walk(frames=50, fps=120.0, stride=0.2 + 0.03 * number + 0.01 * mirror)
            write_bones_csv(folder / "g1" / "csv" / f"24010{number}" / f"{stem}.csv", motion)
            rows.append(f'"{stem}",{package},"detail, quoted",{mirror},g1/csv/24010{number}/{stem}.csv')
    (folder / "metadata").mkdir()
    (folder / "metadata" / "seed_metadata_v003.csv").write_text("filename,package\nwalk_slow__A000,Old\n")
    (folder / "metadata" / "seed_metadata_v004.csv").write_text("\n".join(rows) + "\n")
    return folder


def test_categories_come_from_the_newest_metadata(downloaded: Path, tmp_path: Path, g1: Robot) -> None:
    config = BuildConfig(category_from="metadata", unmirrored=True)
    corpus = build_corpus(tmp_path / "corpus", [downloaded], g1, config)
    assert corpus.manifest.categories == {"Locomotion": 50, "Communication": 50, "Dances": 50}
    assert corpus.manifest.skipped == {"mirrored": 3}
    assert {source.fps for source in corpus.sources} == {120.0}


def test_a_table_can_be_named(downloaded: Path, tmp_path: Path, g1: Robot) -> None:
    config = BuildConfig(category_from=downloaded / "metadata" / "seed_metadata_v003.csv", unmirrored=True)
    corpus = build_corpus(tmp_path / "corpus", [downloaded], g1, config)
    assert corpus.manifest.categories == {"Old": 50, "unknown": 100}


def test_with_mirrored_copies_everything_goes_in(downloaded: Path, tmp_path: Path, g1: Robot) -> None:
    corpus = build_corpus(tmp_path / "corpus", [downloaded], g1, BuildConfig(category_from="metadata"))
    assert len(corpus) == 300


def test_a_missing_table_and_missing_columns_are_named(downloaded: Path, tmp_path: Path, g1: Robot) -> None:
    wrong = tmp_path / "wrong.csv"
    wrong.write_text("a,b\n1,2\n")
    cases = {tmp_path / "absent.csv": "not_found", wrong: "bad_metadata"}
    for table, code in cases.items():
        with pytest.raises(InputError) as error:
            build_corpus(tmp_path / "corpus", [downloaded], g1, BuildConfig(category_from=table))
        assert error.value.code == code
    with pytest.raises(InputError) as error:
        build_corpus(tmp_path / "corpus", [downloaded / "g1"], g1, BuildConfig(category_from="metadata"))
    assert error.value.code == "not_found"
