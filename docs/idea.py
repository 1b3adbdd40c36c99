"""The picture on the front page, from the bundled prior: python docs/idea.py"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import torch

from pfmhr import Calibration, PoseGeometryScore, PosePrior, Robot
from pfmhr.motion.embedded import embedded_motion
from pfmhr.reward import Ramp
from pfmhr.robots.drawing import Pen, frame_axes

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DT, GROWN = 1 / 30, 12.0
"""Control step in s; how much larger the joint changes are drawn than they are."""
GREY, GREEN, RED = (0.72, 0.73, 0.75), (0.33, 0.66, 0.47), (0.83, 0.36, 0.30)


def main() -> None:
    """Draw docs/figures/idea.png."""
    robot = Robot.load("g1")
    walk = embedded_motion("walk", robot).resample(1 / DT)
    score = PoseGeometryScore(PosePrior.load("g1-small"), samples=64)
    generator = torch.Generator().manual_seed(0)
    calibration = Calibration.fit(score, [walk], DT, generator)
    frame = 4
    pose, change = walk.joint_pos[frame], walk.joint_pos[frame + 1] - walk.joint_pos[frame]
    shuffles = np.stack([np.random.default_rng(seed).permutation(change) for seed in range(201)])
    scores = score(np.tile(pose, (len(shuffles), 1)), pose + shuffles, DT, generator=generator)
    shuffled = shuffles[int(scores.argsort()[len(shuffles) // 2])]  # a typical one, neither best nor worst
    figure, panels = plt.subplots(1, 4, figsize=(12.5, 3.7), layout="constrained", width_ratios=[1, 1, 1, 1.25])
    pen = Pen(robot)
    moved = {"a pose": (None, GREY), "a change from a walk": (change, GREEN), "its numbers shuffled": (shuffled, RED)}
    dots = []
    for panel, (title, (step, tint)) in zip(panels, moved.items(), strict=False):
        if step is None:
            pen.draw(panel, pose, tint=tint)
        else:
            for share, faint in ((0.0, 0.75), (0.5, 0.4), (1.0, 0.0)):
                colour = tuple(part + faint * (0.9 - part) for part in tint)
                pen.draw(panel, pose + GROWN * share * step, tint=colour)
            value = score(pose[None], (pose + step)[None], DT, generator=generator)
            place = float(calibration.percentile(value)[0])
            dots.append((place, float(Ramp().multiplier(torch.tensor([place]))[0]), tint))
            panel.text(0, -0.2, f"percentile {place:.2f} → reward × {dots[-1][1]:.2f}", ha="center", fontsize=10)
        frame_axes(panel)
        panel.set_title(title, fontsize=12)
    _ramp(panels[3], dots)
    path = Path(__file__).parent / "figures" / "idea.png"
    figure.savefig(path, dpi=110)
    print(path, dots)


def _ramp(panel: object, dots: list[tuple[float, float, tuple[float, ...]]]) -> None:
    places = np.linspace(0, 0.12, 200)
    panel.plot(places, Ramp().multiplier(torch.from_numpy(places)).numpy(), color="0.35")  # type: ignore[attr-defined]
    for place, factor, tint in dots:
        panel.plot([min(place, 0.117)], [factor], "o", color=tint, markersize=11)  # type: ignore[attr-defined]
    panel.set(  # type: ignore[attr-defined]
        xlabel="percentile among the reference's own scores",
        ylabel="factor on the tracking reward",
        ylim=(0.58, 1.03),
    )
    panel.set_title("what training sees", fontsize=12)  # type: ignore[attr-defined]
    panel.spines[["top", "right"]].set_visible(False)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
