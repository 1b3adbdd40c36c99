"""Calibrations: an npz of scores, and a JSON header in one of its arrays."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch

from pfmhr.reward import Calibration
from pfmhr.reward.calibration import Reference
from tests.fuzz.archives import ARCHIVE, entries_of, to_zip
from tests.fuzz.arrays import ARRAYS, NPY, npy_of_all
from tests.fuzz.documents import JSON_TREE, TEXT, to_json
from tests.fuzz.drafts import Stage, at, develop, then
from tests.fuzz.kinds import Kind
from tests.fuzz.places import BYTES, PLACES, Files
from tests.fuzz.typed import ill_typed

FILE = "calibration.npz"


def make_kind(name: str, scratch: Path) -> Kind:
    torch.set_num_threads(1)
    references = [Reference(name, 5, 1, 0, False) for name in ("walk", "run")]
    settings = {"score": "pfm", "prior": "0" * 64, "t_eval": [0.75]}
    values = [[torch.linspace(0.0, 2.0, 5), torch.linspace(0.5, 1.0, 5)]]
    Calibration(settings, 1 / 30, references, values).save(scratch / FILE)
    with np.load(scratch / FILE) as archive:
        arrays = dict(archive)
    header = arrays.pop("header").tobytes()
    return Kind(partial(_make, header, arrays), _read, (FILE,))


def _make(header: bytes, arrays: dict[str, Any], random: Random) -> tuple[Files, tuple[str, ...]]:
    def joined(draft: dict[str, Any]) -> dict[str, Any]:
        text = np.frombuffer(draft["header"], np.uint8) if draft["header"] else np.zeros(0, np.uint8)
        return {"header": text, **draft["arrays"]}

    stages = (
        Stage(3, at("header", JSON_TREE), then("header", to_json)),
        Stage(1, at("header", TEXT)),
        Stage(2, at("arrays", ARRAYS), lambda draft: npy_of_all(joined(draft))),
        Stage(1.5, NPY, entries_of),
        Stage(1, ARCHIVE, to_zip),
        Stage(0.3, BYTES, lambda data: {FILE: data}),
        Stage(0.2, PLACES),
    )
    return develop(random, {"header": json.loads(header), "arrays": dict(arrays)}, stages)


def _read(folder: Path) -> str | None:
    calibration = Calibration.load(folder / FILE)
    wrong = ill_typed(calibration.references, tuple[Reference, ...], "references") or ill_typed(
        calibration.dt, float, "dt"
    )
    if wrong or not calibration.dt > 0:
        return wrong or "no time step"
    for channel in calibration.values:
        for values in channel:
            if values.dtype != torch.float32 or not bool((values.isfinite() & (values >= 0)).all()):
                return f"scores that are none: {values[:5]}"
    share = calibration.percentile(torch.tensor([0.0, 1.0, 1e9]))
    return None if bool(((share >= 0) & (share <= 1)).all()) else f"shares {share.tolist()}"
