"""A calibration on disk: an npz of sorted values and a JSON header; nothing in it is ever run."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pfmhr.errors import InputError
from pfmhr.files import make_folder, write_atomically
from pfmhr.foreign import as_dataclass, parse_json, read_file, require_header, unpack_npz
from pfmhr.reward.calibration import Calibration, Reference

FORMAT, VERSION = "pfmhr-calibration", 1
MAX_CALIBRATION_BYTES = 256 * 2**20
"""Packed or unpacked: 67 million scores."""


def save(calibration: Calibration, path: Path) -> None:
    """Write it whole or not at all."""
    header = {"format": FORMAT, "version": VERSION, **calibration.header()}
    arrays = {
        f"channel{channel}_motion{motion}": values.sort().values.numpy()
        for channel, motions in enumerate(calibration.values)
        for motion, values in enumerate(motions)
    }
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    make_folder(path.parent)
    write_atomically(path, lambda handle: np.savez(handle, header=text, **arrays))  # type: ignore[arg-type]


def load(path: Path) -> Calibration:
    """Read a calibration, or say what is wrong with the file."""
    try:
        arrays = unpack_npz(read_file(path, MAX_CALIBRATION_BYTES), MAX_CALIBRATION_BYTES)
    except FileNotFoundError:
        raise InputError("no such calibration", where=path, code="not_found") from None
    except InputError as error:
        what, made = f"not a calibration: {error.what}", "an npz made by `pfmhr calibrate`"
        raise InputError(what, where=path, expected=made, got=error.got, code="bad_calibration") from error
    header = _header(arrays, path)
    try:
        about = as_dataclass(_Header, header, "the calibration's header", "bad_calibration")
        if min(about.channels, about.draws) < 1 or not about.references or not 0 < about.dt < math.inf:
            raise InputError("an empty calibration", got=f"{about.channels} channels, dt {about.dt}")
        count = len(about.references)
        channels = [[_values(arrays, channel, motion) for motion in range(count)] for channel in range(about.channels)]
        return Calibration(about.settings, about.dt, about.references, channels, about.pooled, about.draws)
    except InputError as error:
        raise error.at(path, code="bad_calibration") from None


@dataclass(frozen=True)
class _Header:
    """The JSON header of a calibration."""

    format: str
    version: int
    settings: dict[str, Any]
    dt: float
    pooled: bool
    channels: int
    references: tuple[Reference, ...]
    draws: int = 1
    """Draws of the noise per transition; files written before this was a setting have one."""


def _values(arrays: dict[str, NDArray[Any]], channel: int, motion: int) -> Tensor:
    """Scores of one channel and motion ``(T,)``."""
    name = f"channel{channel}_motion{motion}"
    given = arrays.get(name)
    if given is None or given.ndim != 1 or given.dtype.kind != "f":
        got = "nothing" if given is None else f"{given.shape} {given.dtype}"
        raise InputError(f"'{name}' holds no scores", got=got, code="bad_calibration")
    with np.errstate(over="ignore"):
        values = given.astype(np.float32)
    if not np.isfinite(values).all():  # as they are used, in single precision
        raise InputError(f"'{name}' holds scores that are not finite", code="bad_calibration")
    return torch.from_numpy(values)


def _header(arrays: dict[str, NDArray[Any]], path: Path) -> dict[str, Any]:
    try:
        header = parse_json(bytes(arrays["header"]), "bad_calibration")
    except (KeyError, InputError) as error:
        raise InputError("not a calibration", where=path, expected="a JSON header", code="bad_calibration") from error
    return require_header(header, "a calibration", FORMAT, (VERSION,), where=path, code="bad_calibration")
