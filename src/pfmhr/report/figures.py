"""Figures of the report that no study draws by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pfmhr.prior import PosePrior
from pfmhr.results.columns import BenchResult
from pfmhr.robots import Robot
from pfmhr.robots.drawing import Pen, frame_axes
from pfmhr.robots.naming import limbs, words
from pfmhr.score import PoseGeometryScore
from pfmhr.studies.plots import PAPER, Panels

METHOD_NAMES = {
    "fused_float32": "fused pass",
    "jvp": "autodiff",
    "jvp_with_a_time_per_pose": "autodiff, a time per pose",
    "three_denoiser_calls": "three denoiser calls (FM-Recon)",
}
METHOD_COLOURS = {"fused_float32": "#4c6a92", "three_denoiser_calls": "#d07b32"}
"""The two to be compared; the others stand back."""
MODE_STEP = 0.7
"""rad that the joint which moves most is turned along a mode in the picture."""


def latency_figure(path: Path, benches: Sequence[BenchResult]) -> None:
    """Time of each way to the score, in multiples of the bare matrix products of one pass."""
    with Panels(path, 1, len(benches), (3.9 * len(benches) + 1.6, 2.6)) as panels:
        names = [name for name in METHOD_NAMES if all(name in bench.ratio for bench in benches)]
        for panel, bench in zip(panels, benches, strict=True):
            values = [bench.ratio[name] for name in names]
            places = list(range(len(names)))[::-1]
            panel.barh(places, values, color=[METHOD_COLOURS.get(name, PAPER) for name in names], height=0.62)
            for place, value in zip(places, values, strict=True):
                panel.text(value, place, f" {value:.2f}", va="center", fontsize=9)
            panel.axvline(1.0, color="#000000", linewidth=0.8, linestyle=":")
            first = panel is panels[0]
            panel.set_yticks(places, [METHOD_NAMES[name] for name in names] if first else [""] * len(names))
            panel.set(title=f"{bench.preset}, {bench.batch:,} transitions", xlim=(0, 1.22 * max(values)))
        panels[0].set_xlabel("time / time of the bare products")


def correlation_figure(path: Path, prior: PosePrior, robot: Robot, poses: Mapping[str, Any]) -> None:
    """How joints vary together around each pose ``(J,)``: correlations of clean poses given a noisy one (Eq. 11)."""
    with Panels(path, 1, len(poses), (4.3 * len(poses) + 0.6, 4.2)) as panels:
        image = None
        for panel, (name, pose) in zip(panels, poses.items(), strict=True):
            covariance = _geometry(prior, pose).covariance[0].double().numpy()
            spread = np.sqrt(np.clip(np.diag(covariance), 1e-12, None))
            image = panel.imshow(covariance / np.outer(spread, spread), vmin=-1, vmax=1, cmap="RdBu_r", rasterized=True)
            ticks = {joints[0]: limb for limb, joints in limbs(robot.joint_names).items()}
            panel.set_xticks(list(ticks), list(ticks.values()), rotation=90, fontsize=8)
            panel.set_yticks(list(ticks), list(ticks.values()) if panel is panels[0] else [""] * len(ticks), fontsize=8)
            panel.set_title(name, fontsize=10)
            panel.spines[:].set_visible(False)
        panels[0].figure.colorbar(image, ax=panels, shrink=0.75, label="correlation")


def modes_figure(path: Path, prior: PosePrior, robot: Robot, pose: Any, count: int = 4) -> None:
    """The largest co-variation modes around a pose ``(J,)``: the robot moved both ways along each."""
    geometry = _geometry(prior, pose)
    modes = geometry.modes_in_radians[0].numpy()
    pen = Pen(robot)
    with Panels(path, 1, count, (2.5 * count, 3.2)) as panels:
        for number, panel in enumerate(panels):
            step = MODE_STEP * modes[:, number] / np.abs(modes[:, number]).max()
            for side, tint in ((-1.0, (0.85, 0.55, 0.35)), (1.0, (0.35, 0.52, 0.85))):
                pen.draw(panel, np.clip(pose + side * step, robot.lower, robot.upper), tint=tint)
            strongest = np.argsort(-np.abs(step))[:2]
            names = "\n".join(words(robot.joint_names[joint]) for joint in strongest)
            panel.set_title(f"mode {number + 1}\n{names}", fontsize=8)
            frame_axes(panel)


def _geometry(prior: PosePrior, pose: Any) -> Any:
    """Around the pose itself, without noise: what is seen does not depend on a draw."""
    import torch

    query = torch.as_tensor(np.asarray(pose, dtype=np.float32))[None]
    return PoseGeometryScore(prior).geometry(query, noise=torch.zeros(1, *query.shape))
