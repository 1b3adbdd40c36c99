"""The first half of the demo: the motions the project makes itself, what the checks say of broken ones, a corpus."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from pfmhr.cli.console import print_table, progress_bar, say
from pfmhr.corpus import PoseCorpus, build_corpus
from pfmhr.files import make_folder, save_figure
from pfmhr.motion import Motion
from pfmhr.motion.checks import check_motion
from pfmhr.motion.embedded import CLIPS, embedded_motion, embedded_motions
from pfmhr.robots import Robot
from pfmhr.robots.drawing import Pen, frame_axes


def show_motions(robot: Robot, out: Path) -> None:
    """Write every embedded clip, and a picture of them."""
    folder = out / "motions"
    make_folder(folder)
    rows = []
    for name in CLIPS:
        motion = embedded_motion(name, robot)
        motion.write(folder / f"{name}.npz")
        speed = float(np.abs(np.diff(motion.joint_pos, axis=0)).max()) * motion.fps
        rows.append(
            [name, str(motion.num_frames), f"{motion.duration:.1f} s", "yes" if motion.loop else "no", f"{speed:.1f}"]
        )
    print_table("", ["clip", "frames", "length", "cycle", "fastest joint, rad/s"], rows)
    if not (out / "motions.png").exists():
        _picture(robot, out / "motions.png")
    say(f"   written to {folder}, drawn in {out / 'motions.png'}")


def _picture(robot: Robot, path: Path) -> None:
    """Eight moments of every clip, drawn as robots."""
    from matplotlib.figure import Figure

    moments = 8
    figure = Figure(figsize=(moments * 1.3, len(CLIPS) * 1.75), layout="constrained")
    grid = figure.subplots(len(CLIPS), moments)
    pen = Pen(robot)
    for row, name in zip(grid, CLIPS, strict=True):
        motion = embedded_motion(name, robot)
        for axes, frame in zip(row, np.linspace(0, motion.num_frames - 1, moments).astype(int), strict=True):
            root = motion.root_pos[frame] * [0.0, 0.0, 1.0]
            pen.draw(axes, motion.joint_pos[frame], root, motion.root_quat[frame])
            frame_axes(axes)
        row[0].set_title(name, loc="left", fontsize=10)
    save_figure(figure, path, dpi=80)


def show_checks(robot: Robot) -> None:
    """Break a sound clip in the ways files are broken in the wild, and see each one named."""
    walk = embedded_motion("walk", robot)
    breadth_first = robot.joint_indices(robot.breadth_first_names)
    spike = walk.joint_pos.copy()
    spike[walk.num_frames // 2 :, 15] += 1.5
    broken: dict[str, Motion] = {
        "as made": walk,
        "angles in degrees": replace(walk, joint_pos=np.rad2deg(walk.joint_pos)),
        "joints in Isaac's order": replace(walk, joint_pos=walk.joint_pos[:, breadth_first]),
        "a jump in one joint": replace(walk, joint_pos=spike),
        "frames repeated in pairs": replace(
            walk, joint_pos=np.repeat(walk.joint_pos[::2], 2, axis=0)[: walk.num_frames]
        ),
    }
    rows = []
    for what, motion in broken.items():
        faults = check_motion(motion, robot)
        rows.append([what, faults[0].code if faults else "sound", faults[0].message if faults else ""])
    print_table("", ["clip", "verdict", "because"], rows)


def make_corpus(robot: Robot, folder: Path, variations: int) -> PoseCorpus:
    """All clips in many variations as one corpus."""
    start = time.perf_counter()
    with progress_bar("making poses") as progress:
        corpus = build_corpus(folder, embedded_motions(variations, robot), robot, say=say, progress=progress)
    taken = time.perf_counter() - start
    say(f"   {len(corpus):,} poses in {taken:.1f} s; categories {', '.join(corpus.manifest.categories)}")
    return corpus
