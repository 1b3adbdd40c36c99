"""Small files that ask for much: refused in a moment, in bounded memory, with one line."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr.motion import Motion

from .conftest import Run

FRAMES = [[0.0] * 35] * 3


def refused_in_one_line(run: Run, path: Path, code: str, *options: str) -> str:
    """What `pfmhr check` says of a file, which is one fault of this code."""
    answer = run("check", "--json", *options, path)
    assert answer.returncode == 1, answer.stderr
    (clip,) = json.loads(answer.stdout)["clips"]
    (fault,) = clip["faults"]
    assert fault["code"] == code and len(fault["message"]) < 5000
    return fault["message"]


def test_a_pickle_whose_list_unfolds_to_a_trillion_parts_is_named(pfmhr: Run, tmp_path: Path) -> None:
    unfolding: list[Any] = [0]
    for _ in range(40):
        unfolding = [unfolding, unfolding]
    path = tmp_path / "loop.pkl"
    path.write_bytes(pickle.dumps({"frames": FRAMES, "fps": 30, "loop_mode": unfolding}))
    assert path.stat().st_size < 1000
    assert "loop_mode" in refused_in_one_line(pfmhr, path, "damaged")


def test_a_thousand_names_of_one_clip_are_not_a_thousand_clips(pfmhr: Run, tmp_path: Path) -> None:
    frames = 6000
    clip = {
        "dof": np.zeros((frames, 23)),
        "root_trans_offset": np.zeros((frames, 3)),
        "root_rot": np.tile([0.0, 0.0, 0.0, 1.0], (frames, 1)),
        "fps": 30,
    }
    (tmp_path / "shared.pkl").write_bytes(pickle.dumps({f"clip{number}": clip for number in range(20_000)}))
    assert "too many numbers" in refused_in_one_line(pfmhr, tmp_path / "shared.pkl", "too_large", "--fill-missing")


@pytest.mark.parametrize("kind", ["|S0", "<U0", "|V0"])
def test_elements_of_no_size_are_no_names(kind: str, pfmhr: Run, tmp_path: Path) -> None:
    header = io.BytesIO()
    layout = {"descr": kind, "fortran_order": False, "shape": (300_000_000,)}
    np.lib.format.write_array_header_1_0(header, layout)  # type: ignore[arg-type]
    with zipfile.ZipFile(tmp_path / "names.npz", "w") as archive:
        archive.writestr("joint_names.npy", header.getvalue())
    assert "'joint_names'" in refused_in_one_line(pfmhr, tmp_path / "names.npz", "damaged")


def test_an_array_that_is_there_twice_is_refused(pfmhr: Run, walk: Motion, tmp_path: Path) -> None:
    walk.write(tmp_path / "walk.npz")
    stream = io.BytesIO()
    np.save(stream, np.zeros_like(walk.joint_pos))
    with (
        zipfile.ZipFile(tmp_path / "walk.npz", "a") as archive,
        pytest.warns(UserWarning, match="Duplicate name"),
    ):
        archive.writestr("joint_pos.npy", stream.getvalue())
    assert "'joint_pos' is twice" in refused_in_one_line(pfmhr, tmp_path / "walk.npz", "damaged")


def test_a_text_is_no_truth_value(pfmhr: Run, walk: Motion, tmp_path: Path) -> None:
    walk.write(tmp_path / "walk.npz")
    with np.load(tmp_path / "walk.npz") as content:
        arrays = {name: content[name] for name in content.files}
    np.savez(tmp_path / "walk.npz", **{**arrays, "loop": np.array("False")})
    assert "loop" in refused_in_one_line(pfmhr, tmp_path / "walk.npz", "damaged")


def test_a_link_to_the_kernels_log_is_not_waited_for(pfmhr: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.csv").symlink_to("/proc/kmsg")
    assert "empty file" in refused_in_one_line(pfmhr, tmp_path / "folder", "empty")


def test_a_calibration_that_unpacks_to_gigabytes_is_refused(pfmhr: Run, walk: Motion, tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.npy", _npy(np.frombuffer(b"{}", np.uint8)))
        with archive.open("channel0_motion0.npy", "w", force_zip64=True) as member:
            layout = {"descr": "<f4", "fortran_order": False, "shape": (300 * 2**20,)}
            np.lib.format.write_array_header_1_0(member, layout)  # type: ignore[arg-type]
            for _ in range(300):
                member.write(bytes(4 * 2**20))
    assert path.stat().st_size < 2e6
    walk.write(tmp_path / "walk.npz")
    answer = pfmhr("score", tmp_path / "walk.npz", "--calibration", path)
    assert answer.returncode == 2 and "scores.npz: not a calibration: file too large" in answer.stderr


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()
