"""Motion files: npz of three formats, pickles of three; what is read is checked as ``pfmhr check`` does."""

from __future__ import annotations

import io
import pickle
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from pfmhr.motion import Motion
from pfmhr.motion.checks import check_motion
from pfmhr.motion.checks.report import Severity
from pfmhr.motion.embedded import embedded_motion
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.robots import Robot
from tests.conftest import RawFiles
from tests.fuzz.archives import ARCHIVE, entries_of, to_zip
from tests.fuzz.arrays import ARRAYS, LIMIT, NPY, npy_of_all
from tests.fuzz.drafts import Stage, develop
from tests.fuzz.kinds import Kind
from tests.fuzz.packing import ZLIB
from tests.fuzz.pickle_changes import OBJECTS, OPCODES
from tests.fuzz.pickling import Array, to_opcodes
from tests.fuzz.places import BYTES, PLACES, Files

FRAMES = 4


def make_kind(name: str, scratch: Path) -> Kind:
    robot = Robot.load("g1")
    walk = embedded_motion("walk", robot).frames(0, FRAMES)
    file = {"npz": "clip.npz", "pickle": "clip.pkl"}[name]
    valid = RawFiles.one_of_each(walk, robot)
    make = partial(_npz, valid, file) if name == "npz" else partial(_pickle, walk, valid, file)
    return Kind(make, partial(read, robot, file), (file,))


def read(robot: Robot, file: str, folder: Path) -> str | None:
    options = ReadOptions(robot, fill_missing=True, assume_fps=True, max_bytes=LIMIT)
    motions = read_motions(folder / file, options)
    return next(filter(None, (_complaint(motion, robot) for motion in motions[:20])), None)


def _complaint(motion: Motion, robot: Robot) -> str | None:
    arrays = (motion.joint_pos, motion.root_pos, motion.root_quat)
    if any(array.dtype != np.float32 or array.ndim != 2 or len(array) != motion.num_frames for array in arrays):
        return f"arrays {[(array.shape, str(array.dtype)) for array in arrays]}"
    if not (isinstance(motion.fps, float) and 0 < motion.fps < np.inf and isinstance(motion.loop, bool)):
        return f"fps {motion.fps!r}, loop {motion.loop!r}"
    faults = check_motion(motion, robot)
    if not all(fault.message.isprintable() and len(fault.message) < 5000 for fault in faults):
        return "a fault that cannot be printed"
    finite = all(np.isfinite(array).all() for array in arrays)
    return None if finite or any(fault.severity is Severity.ERROR for fault in faults) else "NaN, and no fault"


def _npz(valid: dict[str, bytes], file: str, random: Random) -> tuple[Files, tuple[str, ...]]:
    stages = (
        Stage(4, ARRAYS, npy_of_all),
        Stage(3, NPY, entries_of),
        Stage(3, ARCHIVE, to_zip),
        Stage(0.5, BYTES, lambda data: {file: data}),
        Stage(0.2, PLACES),
    )
    content = valid[random.choice(("pfmhr", "mjlab", "qpos"))]
    with np.load(io.BytesIO(content)) as archive:
        return develop(random, dict(archive), stages)


def _pickle(walk: Motion, valid: dict[str, bytes], file: str, random: Random) -> tuple[Files, tuple[str, ...]]:
    stages = (
        Stage(5, OBJECTS, to_opcodes),
        Stage(2, OPCODES, b"".join),
        Stage(0.5, ZLIB),
        Stage(0.5, BYTES, lambda data: {file: data}),
        Stage(0.2, PLACES),
    )
    files, changes = develop(random, _content(walk, random), stages)
    if not changes:  # as other programs write them
        labels = ("mimickit", "gmr", "gmr_protocol_5", "asap", "asap_zlib")
        return {file: valid[random.choice(labels)]}, changes
    return files, changes


def _content(walk: Motion, random: Random) -> dict[str, Any]:
    how = random.choice(("reconstruct", "frombuffer", "joblib"))
    quaternion = walk.root_quat[:, [1, 2, 3, 0]].astype(np.float64)
    kind = random.randrange(3)
    if kind == 0:
        frames = pickle.loads(RawFiles.mimickit(walk))["frames"]
        return {"loop_mode": 0, "fps": 30, "frames": frames}
    if kind == 1:
        arrays = {"root_pos": walk.root_pos, "root_rot": quaternion, "dof_pos": walk.joint_pos}
        return {"fps": 30.0, **{name: Array.of(array, how) for name, array in arrays.items()}, "local_body_pos": None}
    arrays = {"root_trans_offset": walk.root_pos, "root_rot": quaternion, "dof": walk.joint_pos[:, :23]}
    clip = {"fps": 30, **{name: Array.of(array, how) for name, array in arrays.items()}}
    return {"walk": clip, "again": dict(clip)}
