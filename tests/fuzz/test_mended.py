"""What the search found once, as small as it gets; each of these files hung, crashed, warned or loaded as nonsense."""

from __future__ import annotations

import gzip
import io
import json
import math
import pickle
import struct
import time
import tracemalloc
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.manifest import load
from pfmhr.errors import InputError
from pfmhr.experiments import Matrix
from pfmhr.learning.state import load_state, save_state
from pfmhr.motion import Motion
from pfmhr.motion.tables import parse_table
from pfmhr.reward import Calibration
from pfmhr.reward.calibration import Reference
from pfmhr.robots import Robot
from pfmhr.tracking.config import TrackerConfig
from pfmhr.tracking.settings import tracker_config_from_json
from tests.fuzz.arrays import Npy
from tests.fuzz.judging import limits
from tests.fuzz.kinds import kind_of
from tests.fuzz.places import lay

Read = Callable[..., list[Motion]]
CLIP = {"fps": 30, "loop_mode": 0}


def refused(read: Callable[[], object], code: str, words: str) -> None:
    with limits(5.0), pytest.raises(InputError, match=words) as caught:
        read()
    assert caught.value.code == code


def test_a_list_that_holds_itself_is_no_table(read_content: Read) -> None:
    """A pickle of 60 bytes, and the reader looked for its innermost list for ever."""
    rows: list[Any] = []
    rows.append(rows)
    refused(lambda: read_content(pickle.dumps({**CLIP, "frames": rows})), "bad_shape", "'frames' has the wrong shape")


def test_a_number_of_thousands_of_digits_is_no_key(read_content: Read) -> None:
    content = pickle.dumps({10**5000: 1, "fps": 30})
    refused(lambda: read_content(content), "unsafe_pickle", "keys are not text or numbers")


def test_rows_that_are_one_row_are_not_gathered_by_the_million(read_content: Read) -> None:
    """A megabyte of references to 3,000 numbers: 60 million of them took six seconds."""
    content = pickle.dumps({**CLIP, "frames": [[0.0] * 3000] * 20_000})
    refused(lambda: read_content(content), "too_large", "'frames' is too large")


def test_small_numbers_are_not_widened_beyond_the_limit(read_content: Read, raw: Any) -> None:
    """As float64 an array of bytes is eight times as large."""
    content = raw.npz(qpos=np.zeros((2**21, 36), dtype=np.int8), fps=np.array(30.0))
    refused(lambda: read_content(content), "too_large", "'qpos' is too large")


@pytest.mark.parametrize("column", [1, 9])
@pytest.mark.parametrize("kind", [np.float64, np.longdouble])
def test_a_number_too_large_for_single_precision_becomes_infinite_without_a_warning(
    kind: type, column: int, read_content: Read, raw: Any
) -> None:
    table = np.tile([0, 0, 0.8, 1, 0, 0, 0, *[0.1] * 29], (3, 1)).astype(kind)
    table[1, column] = 1e300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (motion,) = read_content(raw.npz(qpos=table, fps=np.array(30.0)))
    read = np.concatenate([motion.root_pos, motion.root_quat, motion.joint_pos], axis=1)
    assert np.argwhere(np.isinf(read)).tolist() == [[1, column]]
    assert np.isfinite(np.delete(read, column, axis=1)).all()


def test_a_gzip_file_of_many_parts_is_unpacked_once(read_content: Read, raw: Any, walk: Motion) -> None:
    """Each part copied all that follow it: two megabytes of empty ones took ten seconds."""
    packed, nothing = gzip.compress(raw.unitree_csv(walk)), gzip.compress(b"")
    with limits(2.0):
        (motion,) = read_content(packed + b"\0" * 100_000 + 50_000 * nothing, fps=30.0)
    assert motion.num_frames == walk.num_frames
    refused(lambda: read_content(packed + 150_000 * nothing, fps=30.0), "too_large", "too many parts")


def test_bodies_that_are_nowhere_are_not_placed(read_content: Read, raw: Any, walk: Motion, g1: Robot) -> None:
    with np.load(io.BytesIO(raw.mjlab(walk, g1))) as archive:
        arrays = dict(archive)
    arrays["body_pos_w"] = arrays["body_pos_w"].astype(np.float64) + 1e300
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (motion,) = read_content(raw.npz(**arrays))
    assert np.isinf(motion.root_pos).all()


def test_in_a_table_of_text_such_numbers_are_infinite_too() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert parse_table(b"1,1e300\n2,-1e300\n", quick=False).tolist() == [[1.0, np.inf], [2.0, -np.inf]]


def test_a_header_of_python_2_is_read_without_a_warning(read_content: Read, raw: Any, walk: Motion) -> None:
    content = raw.qpos(walk)
    assert content.count(b"'shape': (90, 36), }") == 1
    # Two letters more, for two spaces less.
    older = content.replace(b"'shape': (90, 36), }  ", b"'shape': (90L, 36L), }")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (motion,) = read_content(_with_true_checksums(older))
    assert np.array_equal(motion.joint_pos, walk.joint_pos)


def _with_true_checksums(content: bytes) -> bytes:
    """The same npz with its members packed again, so that their checksums fit."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        for member in old.infolist():
            start = member.header_offset + 30 + len(member.filename)
            extra = struct.unpack("<H", content[member.header_offset + 28 : member.header_offset + 30])[0]
            new.writestr(member.filename, content[start + extra : start + extra + member.file_size])
    return stream.getvalue()


@pytest.fixture
def corpus(tmp_path: Path, g1: Robot) -> Path:
    return PoseCorpus.from_array(tmp_path / "corpus", np.zeros((4, 29)), robot=g1).path


HEADERS = {
    "cut within": Npy("'<f4'", "False", "(4, 29)", b"", length=40),
    "of four gigabytes": Npy("'<f4'", "False", "(4, 29)", b"", version=(2, 0), length=2**32 - 1),
    "with a shape too large for a number": Npy("'<f4'", "False", f"({10**40},)", b""),
    "of no rows and endless columns": Npy("'<f4'", "False", f"(0, {2**62})", b""),
    "by columns": Npy("'<f4'", "True", "(4, 29)", b""),
    "with a shape of texts": Npy("'<f4'", "False", "('4', '29')", b""),
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS.keys())
def test_a_shard_with_a_damaged_header_is_refused_before_memory_is_asked_for(header: Npy, corpus: Path) -> None:
    shard = corpus / "poses.npy"
    shard.write_bytes(header.encode().ljust(shard.stat().st_size, b"\0"))
    tracemalloc.start()
    with pytest.raises(InputError) as caught:
        PoseCorpus.open(corpus)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert caught.value.code == "bad_corpus"
    assert str(shard) in str(caught.value)
    assert peak < 2**20


def test_a_zip_in_place_of_a_shard_is_refused(corpus: Path, raw: Any) -> None:
    shard = corpus / "poses.npy"
    shard.write_bytes(raw.npz(x=np.zeros(3))[: shard.stat().st_size].ljust(shard.stat().st_size, b"\0"))
    refused(lambda: PoseCorpus.open(corpus), "bad_corpus", "damaged")


def test_a_text_that_is_no_unicode_in_place_of_a_table_is_refused(corpus: Path) -> None:
    path = corpus / "manifest.json"
    content = json.loads(path.read_text())
    path.write_text(json.dumps({**content, "skipped": "\ud800"}))
    refused(lambda: load(corpus), "bad_corpus", "no Unicode")


@pytest.mark.parametrize("fps", [-math.inf, math.nan, -30.0])
def test_a_source_of_an_impossible_frame_rate_is_refused(fps: float, corpus: Path) -> None:
    path = corpus / "manifest.json"
    content = json.loads(path.read_text())
    content["sources"][0]["fps"] = fps
    path.write_text(json.dumps(content))
    refused(lambda: load(corpus), "bad_corpus", "impossible frame rate")


def test_a_choice_that_is_no_unicode_is_refused() -> None:
    refused(lambda: tracker_config_from_json({"reward": "\ud800"}), "bad_run", "unknown reward")
    assert tracker_config_from_json({"reward": "add"}) == TrackerConfig()


@pytest.mark.parametrize("kind", [["F32"], {"F32": 1}])
def test_weights_of_a_kind_that_is_no_text_are_refused(kind: Any, tmp_path: Path) -> None:
    prior = kind_of("safetensors", tmp_path)
    files = next(files for files, changes in (prior.make(Random(seed)) for seed in range(200)) if not changes)
    weights = bytes(files["model.safetensors"])
    (length,) = struct.unpack("<Q", weights[:8])
    header = json.loads(weights[8 : 8 + length])
    next(entry for name, entry in header.items() if name != "__metadata__")["dtype"] = kind
    text = json.dumps(header).encode()
    lay({**files, "model.safetensors": struct.pack("<Q", len(text)) + text + weights[8 + length :]}, tmp_path)
    refused(lambda: prior.read(tmp_path), "bad_prior", "has no kind or shape")


@pytest.mark.parametrize("score", [1e300, -1e300])
def test_scores_that_single_precision_cannot_hold_are_refused(score: float, tmp_path: Path) -> None:
    """They became infinite, and the percentiles with them."""
    path = tmp_path / "calibration.npz"
    Calibration({}, 0.02, [Reference("walk", 2, 0, 0, False)], [[torch.tensor([1.0, 2.0])]]).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "channel0_motion0": np.array([1.0, score])})
    refused(lambda: Calibration.load(path), "bad_calibration", "not finite")


def test_scores_in_more_than_double_precision_are_read(tmp_path: Path) -> None:
    path = tmp_path / "calibration.npz"
    Calibration({}, 0.02, [Reference("walk", 2, 0, 0, False)], [[torch.tensor([1.0, 2.0])]]).save(path)
    with np.load(path) as archive:
        arrays = dict(archive)
    np.savez(path, **{**arrays, "channel0_motion0": np.array([1.0, 2.0], dtype=np.longdouble)})
    assert Calibration.load(path).values[0][0].tolist() == [1.0, 2.0]


def matrix(tmp_path: Path, line: str) -> Path:
    path = tmp_path / "matrix.toml"
    path.write_text(f"{line}\n[methods.add]\n[skills.walk]\nmotion = 'embedded:walk'\n")
    return path


def test_a_number_of_thousands_of_digits_is_no_toml(tmp_path: Path) -> None:
    refused(lambda: Matrix.read(matrix(tmp_path, "seeds = [" + "9" * 5000 + "]")), "bad_experiment", "not valid TOML")


def test_a_key_of_thousands_of_parts_is_refused_at_once(tmp_path: Path) -> None:
    """The time it takes grows with the square: 60 kB took a minute."""
    path, start = matrix(tmp_path, "a." * 30_000 + "b = 1"), time.perf_counter()
    refused(lambda: Matrix.read(path), "bad_experiment", "too many parts")
    assert time.perf_counter() - start < 2.0


def test_a_saved_state_is_a_dictionary(tmp_path: Path) -> None:
    save_state(tmp_path / "state.safetensors", 7)  # type: ignore[arg-type]
    refused(lambda: load_state(tmp_path / "state.safetensors"), "bad_checkpoint", "not a saved state: it is a int")


def test_a_robots_name_may_be_too_long_for_a_file() -> None:
    refused(lambda: Robot.load("g1" * 3000), "unreadable", "cannot read the robot")
