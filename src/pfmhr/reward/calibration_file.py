"""A calibration on disk: an npz of sorted values and a JSON header; nothing in it is ever run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pfmhr.errors import InputError
from pfmhr.files import make_folder, write_atomically
from pfmhr.reward.calibration import Calibration, Reference

FORMAT, VERSION = "pfmhr-calibration", 1


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
    if path.exists() and not path.is_file():
        raise InputError("a calibration is a file", where=path, code="bad_calibration")
    try:
        with np.load(path, allow_pickle=False) as content:
            arrays = {name: content[name] for name in content.files}
    except FileNotFoundError:
        raise InputError("no such calibration", where=path, code="not_found") from None
    except Exception as error:  # what a damaged archive raises depends on which byte is damaged
        # The system's reason, if there is one, but not numpy's: it advises to load text and other files unsafely.
        reason = error.strerror if isinstance(error, OSError) else None
        what = f"not a calibration: {reason}" if reason else "not a calibration"
        made = "an npz made by `pfmhr calibrate`"
        raise InputError(what, where=path, expected=made, code="bad_calibration") from error
    header = _header(arrays, path)
    try:
        references = [Reference(**reference) for reference in header["references"]]
        channels = [
            [torch.from_numpy(arrays[f"channel{channel}_motion{motion}"]) for motion in range(len(references))]
            for channel in range(header["channels"])
        ]
        if not channels:
            raise ValueError("no channels")
        return Calibration(header["settings"], header["dt"], references, channels, header["pooled"])
    except InputError as error:
        raise error.at(path) from None
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"incomplete calibration: {error}", where=path, code="bad_calibration") from error


def _header(arrays: dict[str, Any], path: Path) -> dict[str, Any]:
    try:
        header = json.loads(bytes(arrays["header"]))
    except (KeyError, ValueError, TypeError) as error:
        raise InputError("not a calibration", where=path, expected="a JSON header", code="bad_calibration") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT or header.get("version") != VERSION:
        got = f"{header.get('format')} {header.get('version')}" if isinstance(header, dict) else type(header).__name__
        raise InputError(
            "not a calibration this version reads",
            where=path,
            expected=f"{FORMAT} {VERSION}",
            got=got,
            code="bad_calibration",
        )
    return header
