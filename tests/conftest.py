"""What tests share: the robot, a clean walk, raw files of every format, and real data where there is some."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import signal
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from types import BuiltinFunctionType, FunctionType
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from scipy.spatial.transform import Rotation

from pfmhr.motion import Motion
from pfmhr.motion.reading import ReadOptions, read_motions
from pfmhr.robots import Robot, body_poses

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile(
    "repeatable",
    max_examples=60,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("long", settings.get_profile("repeatable"), max_examples=3000, derandomize=False)
settings.load_profile("repeatable")  # pytest --hypothesis-profile=long for a search that takes minutes


@pytest.fixture(scope="session")
def g1() -> Robot:
    return Robot.load("g1")


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of public motion data, which is not part of the repository."""
    stated = os.environ.get("PFMHR_DATA")
    folder = Path(stated) if stated else Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("no real motion data: name its folder in PFMHR_DATA")
    return folder


@pytest.fixture(scope="session")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for tests that write the same file over and over, as hypothesis does."""
    return tmp_path_factory.mktemp("scratch")


@pytest.fixture(scope="session")
def make_walk(g1: Robot) -> Callable[..., Motion]:
    """Makes walking-like motions: legs and arms swing in antiphase, the root goes ahead."""

    def make(frames: int = 90, fps: float = 30.0, stride: float = 0.4, heading: float = 0.3, **about: Any) -> Motion:
        time = np.arange(frames) / fps
        phase = 2 * np.pi * 1.1 * time
        swing, bend = stride * np.sin(phase), stride * (1.0 + np.cos(phase))
        poses = np.tile(g1.default_pose, (frames, 1)).astype(np.float64)

        def column(name: str) -> int:
            return g1.joint_indices([f"{name}_joint"])[0]

        for side, sign in (("left", 1.0), ("right", -1.0)):
            poses[:, column(f"{side}_hip_pitch")] += sign * swing
            poses[:, column(f"{side}_knee")] += 0.5 * (bend if sign > 0 else 2 * stride - bend)
            poses[:, column(f"{side}_ankle_pitch")] -= 0.4 * sign * swing
            poses[:, column(f"{side}_shoulder_pitch")] -= sign * swing
            poses[:, column(f"{side}_elbow")] -= 0.3 * sign * swing
        poses[:, column("waist_yaw")] += 0.3 * swing
        poses[:, column("waist_roll")] += 0.1 * swing
        height = g1.default_root_height + 0.03 * np.abs(swing)
        root = np.stack([0.8 * time * np.cos(heading), 0.8 * time * np.sin(heading), height], axis=1)
        yaw = heading + 0.1 * swing
        quaternion = np.stack([np.cos(yaw / 2), 0.02 * swing, 0.0 * swing, np.sin(yaw / 2)], axis=1)
        quaternion /= np.linalg.norm(quaternion, axis=1, keepdims=True)
        return Motion.from_arrays(g1, poses, fps, root, quaternion, **about)

    return make


@pytest.fixture(scope="session")
def walk(make_walk: Callable[..., Motion]) -> Motion:
    """Three clean seconds at 30 Hz."""
    return make_walk()


@pytest.fixture(scope="session")
def read_content(scratch: Path, g1: Robot) -> Callable[..., list[Motion]]:
    """Reads the motions of a file with the given content: through a real file, as users do."""

    def read(content: bytes, name: str = "clip.data", robot: Robot = g1, **options: Any) -> list[Motion]:
        path = scratch / name
        path.write_bytes(content)
        return read_motions(path, ReadOptions(robot, **options))

    return read


class RawFiles:
    """Files as other tools write them, byte by byte; each function returns a file's content."""

    @staticmethod
    def csv(table: Any, header: Sequence[str] | None = None, newline: str = "\n", end: bool = True) -> bytes:
        lines = [",".join(header)] if header else []
        lines += [",".join(repr(float(value)) for value in row) for row in np.asarray(table)]
        return (newline.join(lines) + (newline if end else "")).encode()

    @staticmethod
    def npz(**arrays: Any) -> bytes:
        stream = io.BytesIO()
        np.savez(stream, **arrays)
        return stream.getvalue()

    @staticmethod
    def pickled(content: Any, protocol: int = 4, rename: tuple[str, str] | None = None, joblib: bool = False) -> bytes:
        """A pickle; ``rename`` exchanges a module's name for another, ``joblib`` puts arrays behind wrappers."""
        stream = io.BytesIO()
        _Pickler(stream, protocol, rename, joblib).dump(content)
        return stream.getvalue()

    @staticmethod
    def unitree_table(motion: Motion) -> np.ndarray:
        return np.concatenate([motion.root_pos, motion.root_quat[:, [1, 2, 3, 0]], motion.joint_pos], axis=1)

    @classmethod
    def unitree_csv(cls, motion: Motion, **layout: Any) -> bytes:
        return cls.csv(cls.unitree_table(motion), **layout)

    @classmethod
    def bones_seed(cls, motion: Motion, order: Sequence[int] | None = None) -> bytes:
        """Centimetres, degrees, extrinsic xyz angles; ``order`` permutes the joint columns with their names."""
        columns = list(range(len(motion.joint_names))) if order is None else list(order)
        header = ["Frame", *(f"root_{kind}{axis}" for kind in ("translate", "rotate") for axis in "XYZ")]
        header += [f"{motion.joint_names[column]}_dof" for column in columns]
        turn = Rotation.from_quat(motion.root_quat.astype(np.float64), scalar_first=True).as_euler("xyz", degrees=True)
        joints = np.rad2deg(motion.joint_pos.astype(np.float64))[:, columns]
        number = np.arange(motion.num_frames)[:, None]
        return cls.csv(np.concatenate([number, 100.0 * motion.root_pos, turn, joints], axis=1), header)

    @classmethod
    def mimickit(cls, motion: Motion, **how: Any) -> bytes:
        turn = Rotation.from_quat(motion.root_quat.astype(np.float64), scalar_first=True).as_rotvec()
        frames = np.concatenate([motion.root_pos, turn, motion.joint_pos], axis=1).tolist()
        return cls.pickled({"loop_mode": int(motion.loop), "fps": motion.fps, "frames": frames}, **how)

    @classmethod
    def gmr(cls, motion: Motion, columns: Sequence[int] | slice = slice(None), **how: Any) -> bytes:
        content = {
            "fps": motion.fps,
            "root_pos": motion.root_pos,
            "root_rot": motion.root_quat[:, [1, 2, 3, 0]],
            "dof_pos": np.ascontiguousarray(motion.joint_pos[:, columns]),
            "local_body_pos": None,
            "link_body_list": ["pelvis"],
        }
        return cls.pickled(content, **how)

    @classmethod
    def asap(cls, *motions: Motion, columns: Sequence[int] | slice = slice(None), **how: Any) -> bytes:
        content = {
            motion.name: {
                "root_trans_offset": motion.root_pos.astype(np.float64),
                "pose_aa": np.zeros((motion.num_frames, 27, 3), dtype=np.float32),
                "dof": np.asfortranarray(motion.joint_pos[:, columns]),
                "root_rot": motion.root_quat[:, [1, 2, 3, 0]].astype(np.float64),
                "fps": int(motion.fps),
            }
            for motion in motions
        }
        return cls.pickled(content, joblib=True, **how)

    @classmethod
    def qpos(cls, motion: Motion, order: Sequence[int] | None = None, extra: int = 0) -> bytes:
        columns = list(range(len(motion.joint_names))) if order is None else list(order)
        behind = np.full((motion.num_frames, extra), 9.0)
        rows = np.concatenate([motion.root_pos, motion.root_quat, motion.joint_pos[:, columns], behind], axis=1)
        return cls.npz(qpos=rows, joint_names=np.array(motion.joint_names)[columns], fps=np.array(motion.fps))

    @classmethod
    def mjlab(cls, motion: Motion, robot: Robot, world: bool = False, order: Sequence[str] | None = None) -> bytes:
        """Body poses by kinematics, no names; ``world`` counts the world body, ``order`` permutes the joints."""
        positions, quaternions = body_poses(robot, motion.root_pos, motion.root_quat, motion.joint_pos)
        if world:
            positions = np.concatenate([np.zeros_like(positions[:, :1]), positions], axis=1)
            quaternions = np.concatenate([np.zeros_like(quaternions[:, :1]), quaternions], axis=1)
            quaternions[:, 0, 0] = 1.0
        joints = motion.joint_pos if order is None else motion.joint_pos[:, robot.joint_indices(list(order))]
        return cls.npz(
            fps=np.array([motion.fps]),
            joint_pos=joints,
            joint_vel=np.zeros_like(joints),
            body_pos_w=positions,
            body_quat_w=quaternions,
            body_lin_vel_w=np.zeros_like(positions),
            body_ang_vel_w=np.zeros_like(positions),
        )

    @classmethod
    def named(cls, motion: Motion, robot: Robot, object: bool = False, **changes: Any) -> dict[str, Any]:
        """The arrays of a holosoma file: world, robot, a fixed link beside every third body, perhaps an object.

        The root's seven columns are before the joints; ``changes`` replace arrays, and None leaves one out.
        """
        positions, quaternions = body_poses(robot, motion.root_pos, motion.root_quat, motion.joint_pos)
        world = np.zeros((motion.num_frames, 3)), np.tile([1.0, 0, 0, 0], (motion.num_frames, 1))
        bodies = [("world", *world)]
        for body, name in enumerate(robot.body_names):
            bodies.append((name, positions[:, body], quaternions[:, body]))
            if body % 3 == 0:
                bodies.append((f"{name}_sphere", positions[:, body] + [0.0, 0.0, 0.1], quaternions[:, body]))
        arrays: dict[str, Any] = {
            "fps": [int(motion.fps)],
            "joint_pos": np.concatenate(
                [motion.root_pos, motion.root_quat, motion.joint_pos], axis=1, dtype=np.float64
            ),
            "joint_vel": np.zeros((motion.num_frames, 6 + robot.num_joints)),
            "joint_names": list(motion.joint_names),
        }
        if object:
            bodies.append(("box_link", world[0] + 2.0, world[1]))
            arrays |= {"object_pos_w": world[0] + 2.0, "object_quat_w": world[1]}
        arrays["body_names"] = [name for name, _, _ in bodies]
        arrays["body_pos_w"] = np.stack([position for _, position, _ in bodies], axis=1)
        arrays["body_quat_w"] = np.stack([quaternion for _, _, quaternion in bodies], axis=1)
        arrays |= {f"body_{kind}_vel_w": np.zeros_like(arrays["body_pos_w"]) for kind in ("lin", "ang")}
        return {name: values for name, values in {**arrays, **changes}.items() if values is not None}

    @classmethod
    def isaac(cls, motion: Motion, robot: Robot) -> bytes:
        """BeyondMimic's file from Isaac Lab: joints and bodies level by level, no names."""
        positions, quaternions = body_poses(robot, motion.root_pos, motion.root_quat, motion.joint_pos)
        bodies = [robot.body_names.index(name) for name in robot.breadth_first_bodies]
        joints = motion.joint_pos[:, robot.joint_indices(robot.breadth_first_names)]
        return cls.npz(
            fps=[int(motion.fps)], joint_pos=joints, body_pos_w=positions[:, bodies], body_quat_w=quaternions[:, bodies]
        )

    @classmethod
    def omniretarget(cls, motion: Motion, extra: int = 0) -> bytes:
        """Drake's rows: the quaternion before the position; ``extra`` columns of an object behind; no names."""
        behind = np.full((motion.num_frames, extra), 0.5)
        rows = np.concatenate([motion.root_quat, motion.root_pos, motion.joint_pos, behind], axis=1)
        return cls.npz(qpos=rows, fps=motion.fps)

    @classmethod
    def one_of_each(cls, motion: Motion, robot: Robot) -> dict[str, bytes]:
        """A valid file of every format and packing, by label."""
        csv = cls.unitree_csv(motion)
        native = {
            "joint_pos": motion.joint_pos,
            "joint_names": np.array(motion.joint_names),
            "fps": np.float64(motion.fps),
            "root_pos": motion.root_pos,
            "root_quat": motion.root_quat,
            "loop": np.bool_(motion.loop),
        }
        return {
            "pfmhr": cls.npz(**native),
            "unitree_csv": csv,
            "unitree_csv_gz": gzip.compress(csv, mtime=0),
            "bones_seed": cls.bones_seed(motion),
            "mimickit": cls.mimickit(motion),
            "gmr": cls.gmr(motion),
            "gmr_protocol_5": cls.gmr(motion, protocol=5),
            "asap": cls.asap(motion),
            "asap_zlib": zlib.compress(cls.asap(motion, protocol=2)),
            "mjlab": cls.mjlab(motion, robot),
            "holosoma": cls.npz(**cls.named(motion, robot, object=True)),
            "isaac": cls.isaac(motion, robot),
            "qpos": cls.qpos(motion),
            "omniretarget": cls.omniretarget(motion, extra=7),
        }


@pytest.fixture(scope="session")
def raw() -> type[RawFiles]:
    return RawFiles


class _ArrayWrapper:
    """Stands for joblib.numpy_pickle.NumpyArrayWrapper while a file is written."""


class _Pickler(pickle._Pickler):  # type: ignore[name-defined, misc]
    """Writes globals under any module name, and arrays the way joblib does: wrapper, padding, raw bytes."""

    dispatch: ClassVar[dict[Any, Any]] = dict(pickle._Pickler.dispatch)  # type: ignore[attr-defined]

    def __init__(self, stream: io.BytesIO, protocol: int, rename: tuple[str, str] | None, joblib: bool) -> None:
        super().__init__(stream, protocol)
        self.stream, self.rename, self.joblib = stream, rename, joblib

    def save_global(self, obj: Any, name: str | None = None) -> None:
        module, name = pickle.whichmodule(obj, name or obj.__qualname__), name or obj.__qualname__  # type: ignore[attr-defined]
        if obj is _ArrayWrapper:
            module, name = "joblib.numpy_pickle", "NumpyArrayWrapper"
        if self.rename:
            module = module.replace(*self.rename)
        if self.proto >= 4:
            self.save(module)
            self.save(name)
            self.write(pickle.STACK_GLOBAL)
        else:
            self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    for kind in (FunctionType, BuiltinFunctionType, type):
        dispatch[kind] = save_global

    def save(self, obj: Any, save_persistent_id: bool = True) -> None:
        if not (self.joblib and type(obj) is np.ndarray):
            return super().save(obj, save_persistent_id)
        order = "F" if obj.flags.f_contiguous and not obj.flags.c_contiguous else "C"
        wrapper = _ArrayWrapper()
        vars(wrapper).update(
            subclass=np.ndarray, shape=obj.shape, order=order, dtype=obj.dtype, allow_mmap=True,
            numpy_array_alignment_bytes=16,
        )  # fmt: skip
        super().save(wrapper, save_persistent_id)
        if self.proto >= 4:
            self.framer.commit_frame(force=True)
        padding = 16 - (self.stream.tell() + 1) % 16
        self.stream.write(bytes([padding]) + b"\xff" * padding + obj.tobytes(order))
        return None
