"""Files that are no calibration, or no longer one: refused, and nothing in them is ever run."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pfmhr.errors import InputError
from pfmhr.reward import Calibration

from ..score.priors import refused
from .gauge import gauge, percents


@pytest.fixture
def written(tmp_path: Path) -> Path:
    percents().save(tmp_path / "calibration.npz")
    return tmp_path / "calibration.npz"


def test_a_loaded_calibration_of_another_score_is_refused(written: Path) -> None:
    with refused("wrong_calibration", "t_eval [0.5]", "t_eval [0.75]"):
        Calibration.load(written).require(gauge(t_eval=0.5))


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with refused("not_found", "nowhere.npz"):
        Calibration.load(tmp_path / "nowhere.npz")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with refused("bad_calibration", str(tmp_path)):
        Calibration.load(tmp_path)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_file_is_refused(share: float, written: Path) -> None:
    content = written.read_bytes()
    written.write_bytes(content[: int(share * len(content))])
    with refused("bad_calibration", "calibration.npz"):
        Calibration.load(written)


def _numpy_array(path: Path) -> None:
    with open(path, "wb") as handle:
        np.save(handle, np.arange(3.0))


def _encrypted(path: Path) -> None:
    """The bit of the central directory that says so."""
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02", 0, content.rindex(b"header.npy")) + 8] |= 1
    path.write_bytes(content)


def _packed_otherwise(path: Path) -> None:
    """An unknown compression method in the central directory."""
    content = bytearray(path.read_bytes())
    content[content.rindex(b"PK\x01\x02", 0, content.rindex(b"header.npy")) + 10] = 99
    path.write_bytes(content)


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: path.write_text("time,score\n0.0,1.0\n"),
    "pickle": lambda path: path.write_bytes(pickle.dumps({"header": 1})),
    "zeros": lambda path: path.write_bytes(bytes(1000)),
    "numpy array": _numpy_array,
    "foreign npz": lambda path: np.savez(path, qpos=np.zeros((3, 2))),
    "header of another kind": lambda path: np.savez(path, header=np.zeros(4)),
    "header of text": lambda path: np.savez(path, header=np.array("{}")),
    "encrypted archive": _encrypted,
    "unknown compression": _packed_otherwise,
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_another_file_is_refused(kind: str, written: Path) -> None:
    FOREIGN[kind](written)
    with pytest.raises(InputError, match=r"calibration\.npz") as caught:
        Calibration.load(written)
    assert caught.value.code == "bad_calibration"
    assert "pickle" not in str(caught.value)  # numpy would advise to load it unsafely


def test_a_file_that_may_not_be_read_says_so(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with refused("bad_calibration", "Permission denied"):
        Calibration.load(written)


def test_a_device_is_no_calibration() -> None:
    with refused("bad_calibration", "/dev/zero: not a calibration: this is a device, a pipe or a socket"):
        Calibration.load(Path("/dev/zero"))


def rewritten(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> None:
    """Write the file again after ``change(header, arrays)``."""
    with np.load(path) as content:
        arrays = {name: content[name] for name in content.files}
    header = json.loads(bytes(arrays.pop("header")))
    change(header, arrays)
    np.savez(path, header=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8), **arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: header.update(format="another"),
        lambda header, arrays: header.update(version=2),
        lambda header, arrays: header.pop("settings"),
        lambda header, arrays: header.pop("dt"),
        lambda header, arrays: header.update(dt="soon"),
        lambda header, arrays: header.update(references=[{"name": "walk"}]),
        lambda header, arrays: header.update(references=[]),
        lambda header, arrays: header.update(references=7),
        lambda header, arrays: header.update(channels=2),
        lambda header, arrays: header.update(channels=0),
        lambda header, arrays: arrays.clear(),
        lambda header, arrays: arrays.update(channel0_motion0=np.zeros(0, dtype=np.float32)),
        lambda header, arrays: arrays.update(channel0_motion0=np.full(3, np.nan, dtype=np.float32)),
        lambda header, arrays: arrays.update(channel0_motion0=np.full(3, -1.0, dtype=np.float32)),
        lambda header, arrays: arrays.update(channel0_motion0=np.zeros((2, 2), dtype=np.float32)),
        lambda header, arrays: arrays.update(channel0_motion0=np.array(["a", "b"])),
    ],
    ids=[
        *("format", "version", "no settings", "no time step", "no number", "half a reference", "no reference"),
        *("a number of references", "missing channel", "no channel", "no values", "empty values", "NaN", "negative"),
        *("table", "words"),
    ],
)
def test_a_damaged_header_or_value_is_refused(change: Callable[..., object], written: Path) -> None:
    rewritten(written, change)
    with refused("bad_calibration", "calibration.npz"):
        Calibration.load(written)


@given(st.data())
def test_a_damaged_file_is_refused_or_still_a_calibration(scratch: Path, data: st.DataObject) -> None:
    path = scratch / "damaged.npz"
    percents().save(path)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    try:
        assert Calibration.load(path).percentile(torch.tensor([2.0])).item() == 1.0
    except InputError as error:
        assert error.code == "bad_calibration"


class Trap:
    """Leaves a trace when it is unpickled."""

    trace: Path

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.trace,))


@pytest.mark.parametrize("name", ["header", "channel0_motion0", "extra"])
def test_nothing_in_a_file_is_ever_unpickled(name: str, written: Path) -> None:
    Trap.trace = written.with_name("trace")
    with np.load(written) as content:
        arrays = {key: content[key] for key in content.files}
    np.savez(written, **{**arrays, name: np.array([Trap()], dtype=object)})  # type: ignore[arg-type]
    with refused("bad_calibration", "calibration.npz"):
        Calibration.load(written)
    written.write_bytes(pickle.dumps(Trap()))
    with refused("bad_calibration"):
        Calibration.load(written)
    assert not Trap.trace.exists()
    pickle.loads(written.read_bytes())
    assert Trap.trace.exists()  # the trap works
