"""One page that shows what a prior has learned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.files import save_figure
from pfmhr.robots import Robot
from pfmhr.robots.drawing import Pen, frame_axes

DATA, PRIOR = "#4c6a92", "#d07b32"


def evaluation_page(
    path: Path, robot: Robot, held_out: NDArray[np.float32], samples: NDArray[np.float32], figures: dict[str, Any]
) -> None:
    """Marginals, correlations side by side, loss by time, and sampled poses drawn as robots, as one picture."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 19), layout="constrained")
    areas: Any = figure.subfigures(3, 1, height_ratios=[8, 5, 6])
    top, middle, bottom = areas
    _marginals(top, robot, held_out, samples)
    _correlations(middle, held_out, samples, figures)
    _robots(bottom, robot, samples)
    save_figure(figure, path, dpi=90)


def _marginals(area: Any, robot: Robot, held_out: Any, samples: Any) -> None:
    area.suptitle("Joint angles in rad: held-out poses and samples of the prior")
    for joint, axes in enumerate(area.subplots(-(-robot.num_joints // 6), 6, squeeze=False).flat):
        if joint >= robot.num_joints:
            axes.axis("off")
            continue
        low, high = np.quantile(np.concatenate([held_out[:, joint], samples[:, joint]]), (0.001, 0.999))
        edges = np.linspace(low, high, 40)
        axes.hist(held_out[:, joint], edges, density=True, color=DATA, alpha=0.6, label="held out")
        axes.hist(samples[:, joint], edges, density=True, histtype="step", color=PRIOR, linewidth=1.5, label="prior")
        axes.set_title(robot.joint_names[joint].removesuffix("_joint"), fontsize=8)
        axes.tick_params(labelsize=6)
        axes.set_yticks([])
        if joint == 0:
            axes.legend(fontsize=6)


def _correlations(area: Any, held_out: Any, samples: Any, figures: dict[str, Any]) -> None:
    axes = area.subplots(1, 3)
    for panel, poses, title in ((axes[0], held_out, "held out"), (axes[1], samples, "prior")):
        image = panel.imshow(np.corrcoef(poses, rowvar=False), cmap="RdBu_r", vmin=-1, vmax=1)
        panel.set_title(f"Correlation of joints: {title}", fontsize=10)
        panel.set_xticks([])
        panel.set_yticks([])
    area.colorbar(image, ax=axes[:2], shrink=0.8)
    losses = figures["loss_by_time"]
    axes[2].plot([float(time) for time in losses], list(losses.values()), marker="o", color=PRIOR)
    axes[2].set_xlabel("flow time")
    axes[2].set_ylabel("held-out velocity loss per joint")
    axes[2].grid(alpha=0.3)


def _robots(area: Any, robot: Robot, samples: Any) -> None:
    area.suptitle("Poses drawn from the prior")
    pen = Pen(robot)
    for number, axes in enumerate(area.subplots(2, 10).flat):
        if number >= len(samples):
            axes.axis("off")
            continue
        pen.draw(axes, samples[number])
        frame_axes(axes)
