"""The timeline of a scored clip as a picture."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from pfmhr.files import save_figure
from pfmhr.reward.ramp import Ramp
from pfmhr.reward.timeline import TOP_JOINTS, Timeline

LINE, FAULT, BAND = "#4c6a92", "#c0392b", "#f3d9d4"
MARKED = 5


def timeline_plot(path: Path, timeline: Timeline, ramp: Ramp) -> None:
    """Score, reference percentile and multiplier over time; the worst transitions marked and named."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 7.5), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    time, worst = timeline.time.numpy(), timeline.worst(MARKED)
    panels: Any = zip(axes, (timeline.score, timeline.percentile, timeline.multiplier), strict=True)
    for panel, values in panels:
        panel.plot(time, values.numpy(), color=LINE, linewidth=0.9)
        panel.scatter(time[worst], values[worst], color=FAULT, s=22, zorder=3)
        panel.spines[["top", "right"]].set_visible(False)
    axes[0].set(ylabel="score", title=f"{timeline.name}: how well each change of pose fits the prior")
    axes[1].set(ylabel="percentile of the reference", ylim=(-0.03, 1.03))
    axes[1].axhspan(0.0, ramp.p_good, color=BAND, label="reward is cut")
    axes[1].legend(loc="upper right", frameon=False)
    axes[2].set(ylabel="reward multiplier", xlabel="seconds", ylim=(0.97 * math.exp(-ramp.alpha), 1.03))
    _name_worst(axes[0], timeline, worst)
    save_figure(figure, path, dpi=110)


def _name_worst(panel: Any, timeline: Timeline, worst: Any) -> None:
    """A number at each marked transition, and beside the panel the joints that moved the prior most there."""
    lines = []
    for place, index in enumerate(worst.tolist(), start=1):
        at = (float(timeline.time[index]), float(timeline.score[index]))
        panel.annotate(str(place), at, textcoords="offset points", xytext=(4, 5), fontsize=8, color=FAULT)
        joints = timeline.contributions[index].topk(min(TOP_JOINTS, len(timeline.joint_names))).indices.tolist()
        names = ", ".join(timeline.joint_names[joint].removesuffix("_joint") for joint in joints)
        lines.append(f"{place}  {at[0]:.2f} s  {names}")
    panel.text(
        1.01, 1.0, "lowest scores, and where the\nresponse there comes from\n" + "\n".join(lines),
        transform=panel.transAxes, va="top", fontsize=7.5,
    )  # fmt: skip
