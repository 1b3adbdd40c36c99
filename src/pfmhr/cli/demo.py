"""``pfmhr demo``: what the project can do, on data it makes itself."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro

from pfmhr.cli.console import print_table, progress_bar, say
from pfmhr.corpus import PoseCorpus, build_corpus
from pfmhr.motion import Motion
from pfmhr.motion.checks import check_motion
from pfmhr.motion.embedded import CLIPS, embedded_motion, embedded_motions
from pfmhr.robots import Robot
from pfmhr.robots.drawing import Pen, frame_axes

VARIATIONS = 115


def demo(out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("demo"), fast: bool = False) -> int:
    """Run the whole pipeline on embedded data: motions, checks, a corpus, a score. No network, GPU or display needed.

    Args:
        out: where results go.
        fast: fewer variations of each motion.
    """
    robot = Robot.load("g1")
    say(f"1. The robot: {robot.name}, {robot.num_joints} joints from {robot.joint_names[0]} to {robot.joint_names[-1]}")
    _motions(robot, out)
    _checks(robot)
    _corpus(robot, out, 20 if fast else VARIATIONS)
    _score(robot, out)
    say(f"\nNext: pfmhr check YOUR_FILES, pfmhr score YOUR_FILES, pfmhr doctor. Results are in {out}/")
    return 0


def _motions(robot: Robot, out: Path) -> None:
    folder = out / "motions"
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name in CLIPS:
        motion = embedded_motion(name, robot)
        motion.write(folder / f"{name}.npz")
        speed = float(np.abs(np.diff(motion.joint_pos, axis=0)).max()) * motion.fps
        rows.append(
            [name, str(motion.num_frames), f"{motion.duration:.1f} s", "yes" if motion.loop else "no", f"{speed:.1f}"]
        )
    say(f"\n2. Embedded motions, written to {folder}")
    print_table("", ["clip", "frames", "length", "cycle", "fastest joint, rad/s"], rows)
    _picture(robot, out / "motions.png")
    say(f"   drawn in {out / 'motions.png'}")


def _picture(robot: Robot, path: Path) -> None:
    """Eight moments of every clip, drawn as robots."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    moments = 8
    figure, grid = plt.subplots(len(CLIPS), moments, figsize=(moments * 1.3, len(CLIPS) * 1.75), layout="constrained")
    pen = Pen(robot)
    for row, name in zip(grid, CLIPS, strict=True):
        motion = embedded_motion(name, robot)
        for axes, frame in zip(row, np.linspace(0, motion.num_frames - 1, moments).astype(int), strict=True):
            root = motion.root_pos[frame] * [0.0, 0.0, 1.0]
            pen.draw(axes, motion.joint_pos[frame], root, motion.root_quat[frame])
            frame_axes(axes)
        row[0].set_title(name, loc="left", fontsize=10)
    figure.savefig(path, dpi=80)
    plt.close(figure)


def _checks(robot: Robot) -> None:
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
    say("\n3. Checks: the walk, and broken copies of it")
    rows = []
    for what, motion in broken.items():
        faults = check_motion(motion, robot)
        rows.append([what, faults[0].code if faults else "sound", faults[0].message if faults else ""])
    print_table("", ["clip", "verdict", "because"], rows)


def _corpus(robot: Robot, out: Path, variations: int) -> None:
    folder = out / f"corpus-{variations}"
    say(f"\n4. A pose corpus: {len(CLIPS)} clips x {variations} variations")
    start = time.perf_counter()
    with progress_bar("making poses") as progress:
        corpus = build_corpus(folder, embedded_motions(variations, robot), robot, say=say, progress=progress)
    taken = time.perf_counter() - start
    say(f"   {len(corpus):,} poses in {taken:.1f} s; categories {', '.join(corpus.manifest.categories)}")
    _draw(corpus)


def _draw(corpus: PoseCorpus) -> None:
    start, size, steps = time.perf_counter(), 4096, 50
    for step in range(steps):
        corpus.batch(step, size, seed=0)
    rate = steps * size / (time.perf_counter() - start)
    say(f"   random batches of {size}: {rate / 1e6:.1f} M poses/s, each a function of (seed, step) alone")


def _score(robot: Robot, out: Path) -> None:
    """A clip against itself, and copies whose poses are all right but whose joints no longer move together."""
    import torch

    from pfmhr.prior import PosePrior
    from pfmhr.reward import Calibration, Ramp
    from pfmhr.reward.plots import timeline_plot
    from pfmhr.reward.timeline import score_motion
    from pfmhr.score import PoseGeometryScore

    walk, dt, ramp = embedded_motion("walk", robot), 1.0 / 30.0, Ramp()
    generator = torch.Generator().manual_seed(0)
    score = PoseGeometryScore(PosePrior.load("g1-small", robot))
    calibration = Calibration.fit(score, [walk], dt, generator)
    noise = np.random.default_rng(0).normal(scale=0.02, size=walk.joint_pos.shape)
    copies = {"as made": walk, "trembling, 0.02 rad": replace(walk, joint_pos=walk.joint_pos + noise)}
    say("\n5. The Pose Geometry Score of the bundled prior: do the joints change together as they should?")
    lines = {what: score_motion(score, calibration, motion, ramp, generator) for what, motion in copies.items()}
    columns = ("median_score", "mean_percentile", "mean_multiplier", "share_cut")
    rows = [[what, *(f"{line.summary()[name]:.3f}" for name in columns)] for what, line in lines.items()]
    print_table("", ["the walk", "score", "percentile of the walk", "factor on the reward", "share of steps cut"], rows)
    timeline_plot(out / "score.png", lines["trembling, 0.02 rad"], ramp)
    say(f"   the copy's timeline is drawn in {out / 'score.png'}")
