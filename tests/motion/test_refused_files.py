"""Files that cannot be used are refused with a code, their path, and what to do."""

from __future__ import annotations

import gzip
import io
import os
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pfmhr.errors import InputError
from pfmhr.motion import Motion
from pfmhr.robots import Robot

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
HTML = b"\n<!DOCTYPE html><html><body>Sign in</body></html>"
ROW = [0.0, 0.0, 0.8, 0.0, 0.0, 0.0, 1.0, *[0.1] * 29]


def table(raw: Any, width: int) -> bytes:
    return raw.csv(np.full((4, width), 0.5))


def lines(*rows: list[Any]) -> bytes:
    return "\n".join(",".join(map(str, row)) for row in rows).encode()


def npz_of(member: bytes, compression: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        archive.writestr("qpos.npy", member)
    return stream.getvalue()


def npy(values: np.ndarray, start: bytes = b"{'descr'") -> bytes:
    stream = io.BytesIO()
    np.save(stream, values)
    return stream.getvalue().replace(b"{'descr'", start)


def damaged_lzma(raw: Any) -> bytes:
    content = bytearray(npz_of(npy(np.random.default_rng(0).normal(size=(50, 36))), zipfile.ZIP_LZMA))
    content[80:100] = b"\xff" * 20
    return bytes(content)


Make = Callable[[Any, Motion, Robot], bytes]
CASES: dict[str, tuple[Make, str, str]] = {
    "lfs_pointer": (lambda raw, walk, g1: LFS_POINTER, "lfs_pointer", "git lfs pull"),
    "lfs_pointer_gz": (lambda raw, walk, g1: gzip.compress(LFS_POINTER), "lfs_pointer", "git lfs pull"),
    "html_page": (lambda raw, walk, g1: HTML, "html_page", "download it again"),
    "empty": (lambda raw, walk, g1: b"", "empty", "empty file (got 0 bytes)"),
    "blank": (lambda raw, walk, g1: b" \n\0\0\n", "empty", "empty file (got 5 bytes)"),
    "empty_gz": (lambda raw, walk, g1: gzip.compress(b""), "empty", "empty file (got 0 bytes)"),
    "ten_bytes": (lambda raw, walk, g1: bytes(range(10)), "unknown_format", "Known: csv, csv.gz, npz"),
    "ten_letters": (lambda raw, walk, g1: b"hello file", "not_a_number", "'hello file'"),
    "ten_digits": (lambda raw, walk, g1: b"0123456789", "bad_width", "expected 36: root xyz, quaternion xyzw, 29"),
    "35_columns": (lambda raw, walk, g1: table(raw, 35), "bad_width", "expected 29, got 28"),
    "37_columns": (lambda raw, walk, g1: table(raw, 37), "bad_width", "Is the first column a frame number or a time"),
    "7_columns": (lambda raw, walk, g1: table(raw, 7), "bad_width", "got 7"),
    "ragged": (lambda raw, walk, g1: lines(ROW, ROW[:-1], ROW), "ragged_csv", "line 2 has a different number"),
    "text_cell": (lambda raw, walk, g1: lines(ROW, [*ROW[:-1], "n/a"], ROW), "not_a_number", "line 2, column 36"),
    "truncated_csv": (lambda raw, walk, g1: lines(ROW, ROW, ROW[:20]), "truncated", "Download it again"),
    "header_ragged": (
        lambda raw, walk, g1: raw.unitree_csv(walk, header=[*"abcdefg", *g1.joint_names]) + b"1,2\n3,4\n",
        "ragged_csv",
        "line 92 has a different number",
    ),
    "header_only": (
        lambda raw, walk, g1: raw.csv(np.zeros((0, 36)), [*"abcdefg", *g1.joint_names]), "too_short", "no frames",
    ),
    "bones_header_only": (lambda raw, walk, g1: raw.bones_seed(walk.frames(0, 0)), "too_short", "no frames"),
    "bones_header_incomplete": (
        lambda raw, walk, g1: raw.bones_seed(walk).replace(b"root_rotateY", b"other"), "bad_header", "no root_rotateY",
    ),
    "truncated_npz": (lambda raw, walk, g1: raw.qpos(walk)[:-900], "truncated", "Download it again"),
    "npz_without_its_end": (lambda raw, walk, g1: raw.qpos(walk)[:-30], "truncated", "Download it again"),
    "truncated_pkl": (lambda raw, walk, g1: raw.gmr(walk)[:-900], "truncated", "Download it again"),
    "truncated_joblib": (lambda raw, walk, g1: raw.asap(walk)[:-900], "truncated", "Download it again"),
    "truncated_zlib": (lambda raw, walk, g1: zlib.compress(raw.gmr(walk))[:-9], "truncated", "Download it again"),
    "truncated_gz": (
        lambda raw, walk, g1: gzip.compress(raw.unitree_csv(walk))[:-900], "truncated", "Download it again",
    ),
    "lzma_npz": (lambda raw, walk, g1: damaged_lzma(raw), "damaged", "Save it again with numpy.savez"),
    "damaged_npy_header": (
        lambda raw, walk, g1: npz_of(npy(np.zeros((2, 36)), b"(('descr'")), "damaged", "damaged npz",
    ),
    "23_joints": (
        lambda raw, walk, g1: raw.gmr(walk, columns=[*range(19), *range(22, 26)]), "missing_joints", "--fill-missing",
    ),
    "other_robot_pkl": (lambda raw, walk, g1: raw.gmr(walk, columns=range(12)), "bad_width", "file for another robot?"),
    "other_robot_npz": (
        lambda raw, walk, g1: raw.npz(qpos=np.zeros((2, 9)), joint_names=np.array(["h1_a", "h1_b"]), fps=30),
        "unknown_name",
        "left_hip_pitch_joint",
    ),
    "other_robot_bodies": (
        lambda raw, walk, g1: raw.npz(
            fps=30, joint_pos=np.zeros((2, 29)), body_pos_w=np.zeros((2, 14, 3)), body_quat_w=np.zeros((2, 14, 4))
        ),
        "bad_width",
        "expected 30, or 31 with the world body",
    ),
    "joint_twice": (
        lambda raw, walk, g1: raw.npz(qpos=np.zeros((2, 36)), fps=30, joint_names=np.array([g1.joint_names[0]] * 29)),
        "bad_names",
        "occurs twice",
    ),
    "qpos_width": (lambda raw, walk, g1: raw.npz(qpos=np.zeros((2, 40)), fps=30), "bad_width", "7 + 29 joints"),
    "breadth_first": (
        lambda raw, walk, g1: raw.mjlab(walk, g1, order=g1.breadth_first_names),
        "joint_order",
        "--joint-order breadth_first",
    ),
    "unknown_npz": (lambda raw, walk, g1: raw.npz(poses=np.zeros((3, 72))), "unknown_format", "got poses"),
    "unknown_pkl": (lambda raw, walk, g1: raw.pickled([1, 2, 3]), "unknown_format", "got list"),
    "lengths_differ": (
        lambda raw, walk, g1: raw.pickled(
            {"fps": 30, "root_pos": np.zeros((3, 3)), "root_rot": np.zeros((4, 4)), "dof_pos": np.zeros((4, 29))}
        ),
        "bad_shape",
        "'root_pos' has the wrong shape (expected (4, 3), got (3, 3))",
    ),
    "not_an_array": (
        lambda raw, walk, g1: raw.pickled({"fps": 30, "loop_mode": 0, "frames": [[1.0, 2.0], [3.0]]}),
        "damaged",
        "'frames' is not an array of numbers",
    ),
    "loop_mode": (
        lambda raw, walk, g1: raw.pickled({"fps": 30, "loop_mode": 7, "frames": [[0.0] * 35]}), "damaged", "0 (clamp)",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("make", "code", "advice"), CASES.values(), ids=CASES.keys())
def test_a_refusal_has_a_code_the_path_and_what_to_do(
    make: Make, code: str, advice: str, raw: Any, walk: Motion, g1: Robot, tmp_path: Path
) -> None:
    path = tmp_path / "some clip.data"
    path.write_bytes(make(raw, walk, g1))
    with pytest.raises(InputError) as caught:
        Motion.read(path, g1, fps=None if code == "joint_order" else 30)
    assert caught.value.code == code
    assert str(caught.value).startswith(f"{path}: ")
    assert advice in str(caught.value)


def test_a_missing_file_is_named(g1: Robot, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file") as caught:
        Motion.read(tmp_path / "none.csv", g1)
    assert caught.value.code == "not_found"
    assert str(tmp_path / "none.csv") in str(caught.value)


def test_a_folder_is_no_file(g1: Robot, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a folder, not a file") as caught:
        Motion.read(tmp_path, g1)
    assert caught.value.code == "not_a_file"
    assert str(tmp_path) in str(caught.value)


def test_what_may_never_end_is_no_file(g1: Robot, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    for path in (tmp_path / "pipe.csv", Path("/dev/zero")):
        with pytest.raises(InputError, match="a device, a pipe or a socket, not a file") as caught:
            Motion.read(path, g1, fps=30)
        assert caught.value.code == "not_a_file"


TWO_MEMBERS = gzip.compress(b"1,2\n") + gzip.compress(b"0,0\n" * 2**20)


@pytest.mark.parametrize(
    "make",
    [
        lambda raw: b"0," * 2**20,
        lambda raw: gzip.compress(b"0," * 2**20),
        lambda raw: TWO_MEMBERS,
        lambda raw: npz_of(npy(np.zeros((2**16, 36))), zipfile.ZIP_DEFLATED),
    ],
    ids=["plain", "gzip", "gzip_members", "npz"],
)
def test_more_than_the_limit_is_refused_packed_or_unpacked(
    make: Callable[[Any], bytes], raw: Any, read_content: Any
) -> None:
    with pytest.raises(InputError, match="Split it into several files") as caught:
        read_content(make(raw), max_bytes=2**20, fps=30)
    assert caught.value.code == "too_large"


def test_every_truncation_of_every_format_is_an_input_error(
    walk: Motion, g1: Robot, raw: Any, read_content: Any
) -> None:
    for label, content in raw.one_of_each(walk.frames(0, 3), g1).items():
        for length in sorted({*range(0, len(content), 97), len(content) - 1}):
            try:
                motions = read_content(content[:length], fps=120 if label == "bones_seed" else 30)
            except InputError:
                continue
            # A csv cut inside its last number, or behind it, is still a table of numbers.
            assert "csv" in label or label == "bones_seed"
            assert motions[0].num_frames <= 3
