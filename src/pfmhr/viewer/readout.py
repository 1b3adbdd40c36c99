"""The numbers beside the picture, as HTML: the present step of each clip, and what the colours mean."""

from __future__ import annotations

import html

import numpy as np

from pfmhr.robots.naming import words
from pfmhr.text import printable
from pfmhr.viewer.colours import GREY, HOT, WARM, css
from pfmhr.viewer.modes import PoseDesk
from pfmhr.viewer.takes import Take

LINES = ("#3e63a0", "#e07b39")
"""Colour of each clip's line."""
TOP_JOINTS = 3
_CELL = "padding:1px 0;text-align:right;font-variant-numeric:tabular-nums"
_TEXT = "font-size:12.5px;line-height:1.5;padding:2px 12px"


def about(*lines: str) -> str:
    """Sentences at the top of the page; names in them may hold anything."""
    return f'<div style="{_TEXT}">{"".join(f"<div>{escape(line)}</div>" for line in lines if line)}</div>'


def step_numbers(takes: list[Take], frame: int, rate: float) -> str:
    """Score, percentile and multiplier of the step that ends at a frame, and the joints that contribute most."""
    heads = "".join(f'<th style="{_CELL}">{head}</th>' for head in ("score", "percentile", "multiplier"))
    rows = "".join(_row(take, colour, frame) for take, colour in zip(takes, LINES, strict=False))
    clock = f'<th style="text-align:left">{frame / rate:.2f} s</th>'
    table = f'<table style="width:100%;border-collapse:collapse"><tr>{clock}{heads}</tr>{rows}</table>'
    joints = "".join(
        f'<div style="opacity:0.75">{_dot(colour)} {escape(top_joints(take, frame))}</div>'
        for take, colour in zip(takes, LINES, strict=False)
    )
    return f'<div style="{_TEXT}">{table}{joints}</div>'


def top_joints(take: Take, frame: int) -> str:
    """The joints that contribute most to a step, with their shares of the score."""
    if take.scores is None:
        return ""
    parts = take.scores.parts[min(frame, len(take.positions) - 1)]
    if not parts.sum() > 0:
        return "no step ends here" if frame == 0 else "nothing moves here"
    names = [words(name) for name in take.joint_names]
    order = parts.argsort()[::-1][:TOP_JOINTS]
    return ", ".join(f"{names[joint]} {parts[joint] / parts.sum():.0%}" for joint in order)


def mode_table(desk: PoseDesk, chosen: int) -> str:
    """The modes: their spread in the prior's units, and the joints that turn most; the chosen one is bold."""
    cell = "padding:1px 8px 1px 0;vertical-align:top"
    heads = "".join(f'<th style="{cell};text-align:left">{head}</th>' for head in ("mode", "spread", "turns most"))
    rows = ""
    for mode in range(desk.count):
        weight = "600" if mode == chosen else "400"
        texts = (str(mode + 1), f"{desk.spread[mode]:.2f}", escape(desk.describe(mode)))
        cells = "".join(f'<td style="{cell}">{text}</td>' for text in texts)
        rows += f'<tr style="font-weight:{weight}">{cells}</tr>'
    return f'<div style="{_TEXT}"><table style="border-collapse:collapse"><tr>{heads}</tr>{rows}</table></div>'


def colour_key() -> str:
    """A bar from cold to hot."""
    stops = ", ".join(css(np.array(colour)) for colour in (GREY, WARM, HOT))
    bar = f'<span style="flex:1;height:8px;border-radius:4px;background:linear-gradient(90deg, {stops})"></span>'
    style = f"{_TEXT};display:flex;align-items:center;gap:8px"
    return f'<div style="{style}"><span>contributes little</span>{bar}<span>much</span></div>'


def _row(take: Take, colour: str, frame: int) -> str:
    scores = take.scores
    if scores is None:
        return ""
    row = min(frame, len(take.positions) - 1)
    numbers = (
        f"{scores.score[row]:.3f}",
        f"{100.0 * scores.percentile[row]:.1f} %",
        f"{scores.multiplier[row]:.3f}",
    )
    shown = ("–",) * 3 if np.isnan(scores.score[row]) else numbers
    cells = "".join(f'<td style="{_CELL}">{number}</td>' for number in shown)
    name = f"{_dot(colour)} {escape(take.name)}"
    return f'<tr><td style="max-width:150px;overflow:hidden;white-space:nowrap">{name}</td>{cells}</tr>'


def escape(text: str) -> str:
    """Text that may hold anything, as HTML that a page can take: what is no character would end its connection."""
    return html.escape(printable(text))


def _dot(colour: str) -> str:
    return f'<span style="color:{colour}">●</span>'
