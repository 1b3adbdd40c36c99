"""docs/figures/retargeted.png: clips of MimicKit's humanoid on the G1, moment by moment.

Run with the folder of MimicKit's humanoid pickles: ``python docs/retarget_sheet.py PATH``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from pfmhr.files import save_figure
from pfmhr.retarget import Body, RetargetConfig, read_human, retarget
from pfmhr.robots import Robot
from pfmhr.robots.drawing import Pen

CLIPS = ("jump", "backflip", "sideflip")
MOMENTS = 9
APART = 1.15
"""m between two moments in the picture."""


def draw(folder: Path, target: Path) -> None:
    """One row of moments per clip, each where it is above the floor."""
    robot = Robot.load("g1")
    body = Body.of(robot)
    figure, rows = plt.subplots(len(CLIPS), 1, figsize=(13.0, 2.1 * len(CLIPS)))
    for name, axes in zip(CLIPS, rows, strict=True):
        source = read_human(folder / f"humanoid_{name}.pkl")
        motion = retarget(source.human, body, RetargetConfig(fps=None), source.skeleton).motion
        # The side on which it moves most; sideflips are seen from the front.
        pen = Pen(robot, azimuth=0.0 if name == "sideflip" else 90.0, elevation=6.0)
        axes.axhline(0.0, color="0.75", linewidth=1.0, zorder=0)
        for place, frame in enumerate(np.linspace(0, motion.num_frames - 1, MOMENTS).round().astype(int)):
            root = motion.root_pos[frame] * [0.0, 0.0, 1.0]
            pen.draw(axes, motion.joint_pos[frame], root, motion.root_quat[frame], offset=APART * place)
            axes.text(APART * place, -0.17, f"{frame / motion.fps:.2f} s", ha="center", fontsize=8, color="0.4")
        axes.set_xlim(-0.7, APART * (MOMENTS - 1) + 0.7)
        axes.set_ylim(-0.22, 1.75)
        axes.set_aspect("equal")
        axes.axis("off")
        axes.set_title(name, loc="left", fontsize=10)
    figure.tight_layout()
    save_figure(figure, target, dpi=110)


if __name__ == "__main__":
    draw(Path(sys.argv[1]), Path(__file__).parent / "figures" / "retargeted.png")
