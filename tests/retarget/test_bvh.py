"""BVH: channels in the file's own order, and every fault of a file named."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.retarget.bvh import parse_bvh, read_bvh
from pfmhr.retarget.example import bvh_of_a_walk

TWO = """HIERARCHY
ROOT Hips
{{
  OFFSET 1 2 3
  CHANNELS 6 Xposition Yposition Zposition {root}
  JOINT Knee
  {{
    OFFSET 0 -4 0
    CHANNELS {knee}
    End Site
    {{
      OFFSET 0 -1 0
    }}
  }}
}}
MOTION
Frames: {frames}
Frame Time: {time}
{rows}
"""
TURNS = "Zrotation Xrotation Yrotation"


def two(
    root: str = TURNS, knee: str = f"3 {TURNS}", rows: str = "10 20 30 40 50 60 10 20 30", time: str = ".0333333"
) -> bytes:
    return TWO.format(root=root, knee=knee, rows=rows, time=time, frames=rows.count("\n") + 1).encode()


@pytest.mark.parametrize("order", ["ZXY", "XYZ", "YXZ", "ZYX"])
def test_channels_turn_in_the_order_in_which_they_stand(order: str) -> None:
    words = " ".join(f"{axis}rotation" for axis in order)
    human = parse_bvh(two(root=words, knee=f"3 {words}")).human(up="z")
    root = Rotation.from_euler(order, [40, 50, 60], degrees=True)
    knee = root * Rotation.from_euler(order, [10, 20, 30], degrees=True)
    assert human.rotations is not None
    assert np.allclose(human.rotations[0, 0], root.as_matrix(), atol=1e-12)
    assert np.allclose(human.rotations[0, 1], knee.as_matrix(), atol=1e-12)
    assert np.allclose(human.positions[0, 0], [10, 20, 30])
    assert np.allclose(human.positions[0, 1], np.array([10, 20, 30]) + root.apply([0, -4, 0]))


def test_a_position_channel_replaces_the_offset() -> None:
    human = parse_bvh(two(knee=f"6 Xposition Yposition Zposition {TURNS}", rows="0 0 0 0 0 0 7 8 9 0 0 0")).human("z")
    assert human.positions[0, 1].tolist() == [7, 8, 9]
    assert human.zero_positions is not None and human.zero_positions[1].tolist() == [1, -2, 3]


def test_y_up_becomes_z_up_and_what_looked_along_z_looks_along_x() -> None:
    human = parse_bvh(two(rows="1 2 3 0 0 0 0 0 0")).human("y")
    assert human.positions[0, 0].tolist() == [3, 1, 2]
    assert human.rotations is not None and np.allclose(human.rotations, np.eye(3))
    turned = parse_bvh(two(root="Yrotation Xrotation Zrotation", rows="0 0 0 90 0 0 0 0 0")).human("y").rotations
    assert turned is not None  # a turn about what was up is one about z
    assert np.allclose(turned[0, 0], Rotation.from_euler("z", 90, degrees=True).as_matrix(), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "rate"), [(".0083333", 120.0), ("0.00833333", 120.0), ("0.033333", 30.0), ("0.04", 25.0), ("0.0123", 81.3)]
)
def test_a_rounded_frame_time_is_the_rate_it_was_rounded_from(text: str, rate: float) -> None:
    assert parse_bvh(two(time=text)).fps == pytest.approx(rate, rel=1e-3)
    if rate in (25.0, 30.0, 120.0):
        assert parse_bvh(two(time=text)).fps == rate


def test_only_frames_of_the_wanted_rate_are_read_and_the_first_one_apart() -> None:
    rows = "\n".join(f"{number} 0 0 0 0 0 0 0 0" for number in range(10))
    content = two(rows=rows, time=".0083333")
    assert parse_bvh(content, 30.0).values[:, 0].tolist() == [0, 4, 8]
    kept = parse_bvh(content, 30.0, keep_first=True)
    assert kept.values[:, 0].tolist() == [0, 1, 5, 9] and kept.fps == 30.0
    assert len(parse_bvh(content, 50.0).values) == 10  # 120 / 50 is no whole number


ROW = "1 2 3 4 5 6 7 8 9"
FAULTS = {
    "lfs": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "lfs_pointer", "LFS"),
    "empty": (b"", "empty", "empty"),
    "html": (b"<!doctype html><html>", "html_page", "web page"),
    "other": (b"a,b,c\n1,2,3\n", "unknown_format", "not a BVH"),
    "no_motion": (two().split(b"MOTION")[0], "truncated", "no MOTION"),
    "no_header": (two().replace(b"Frame Time:", b"Frames Time:"), "damaged", "no header"),
    "cut_skeleton": (two().replace(b"}\nMOTION", b"MOTION"), "truncated", "braces are open"),
    "no_time": (two(time="0"), "bad_fps", "frame time"),
    "too_few_frames": (two().replace(b"Frames: 1", b"Frames: 2"), "truncated", "expected 2, got 1"),
    "too_many_frames": (two(rows=ROW + "\n" + ROW).replace(b"Frames: 2", b"Frames: 1"), "damaged", "more lines"),
    "none": (two(rows="").replace(b"Frames: 1", b"Frames: 0"), "truncated", "frames are missing"),
    "cut_row": (two(rows="1 2 3 4 5 6 7 8 9\n1 2 3 4"), "truncated", "line 20 has a different number of channels"),
    "ragged": (two(rows="1 2 3 4 5 6 7 8\n1 2 3 4 5 6 7 8 9"), "damaged", "line 19"),
    "words": (two(rows="1 2 3 4 five 6 7 8 9"), "not_a_number", "five"),
    "channel": (two(root="Zrotation Wrotation Yrotation"), "damaged", "line 5: unknown channels"),
    "two_roots": (two().replace(b"ROOT", b"ROOT A\n{\nOFFSET 0 0 0\n}\nROOT"), "several_skeletons", "2 roots"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_has_a_code_the_path_and_a_reason(tmp_path: Path, fault: str) -> None:
    content, code, words = FAULTS[fault]
    path = tmp_path / "clip.bvh"
    path.write_bytes(content)
    with pytest.raises(InputError, match=re.escape(words)) as caught:
        read_bvh(path)
    assert caught.value.code == code and str(path) in str(caught.value)


def test_a_file_is_read_from_beginning_to_end_whatever_its_line_endings() -> None:
    text = bvh_of_a_walk(frames=12)
    plain, windows = parse_bvh(text.encode()), parse_bvh(text.replace("\n", "\r\n").encode())
    assert len(plain.values) == 12 and np.array_equal(plain.values, windows.values)
    assert plain.joints == windows.joints
