"""What makes a difference believable: areas, pooled success, errors on common ground, and what the pairs could find."""

from __future__ import annotations

from collections.abc import Sequence

from pfmhr.results.common import CommonErrors
from pfmhr.results.statistics import PairedDifference
from pfmhr.results.summary import Row
from pfmhr.results.wording import NONE, figure, interval

EVIDENCE = (
    "skill",
    "actions",
    "method",
    "seeds",
    "area, %",
    "area more than plain, %",
    "success %",
    "pooled %",
    "detectable, M",
    "detectable area, %",
    "E_pos in common, mm",
    "E_rot in common, rad",
)
"""Columns of :func:`evidence_lines`."""
EXPLAINED = (
    "The area is that under the success curve, as a share of the budget; every run has one, also those that never got "
    "to 80 %. Pooled success is tracked time of all episodes over the time that could be tracked. Detectable is the "
    "true difference that as many pairs of seeds, varying as they do, find in four experiments of five (paired t-test, "
    "5 %). Errors in common are over the frames that both this policy and the plain one of the same seed tracked: ours "
    "/ the plain one's."
)


def evidence_lines(rows: Sequence[Row]) -> list[list[str]]:
    """A line per row that has more than the plain method's to tell; none if no row has an area."""
    return [_line(row) for row in rows if row.area is not None]


def _line(row: Row) -> list[str]:
    names = [row.skill, row.actions, row.method, str(row.seeds)]
    success = [figure(row, "success", 1, 100.0), figure(row, "success_pooled", 1, 100.0)]
    detectable = [_detectable(row.difference, 2), _detectable(row.area_difference, 1, 100.0)]
    return [
        *names,
        figure(row, "area", 1, 100.0),
        _gap(row.area_difference),
        *success,
        *detectable,
        *_common(row.common),
    ]


def _gap(gap: PairedDifference | None) -> str:
    """Percentage points more than the plain method, with Student's interval."""
    return "" if gap is None else f"{100.0 * gap.mean:+.1f}{interval(gap.low, gap.high, '+.1f', 100.0)}"


def _detectable(gap: PairedDifference | None, digits: int, unit: float = 1.0) -> str:
    return NONE if gap is None or gap.detectable is None else f"{unit * gap.detectable:.{digits}f}"


def _common(errors: CommonErrors | None) -> tuple[str, str]:
    if errors is None:
        return NONE, NONE
    position = f"{1000.0 * errors.position_error:.1f} / {1000.0 * errors.plain_position_error:.1f}"
    return position, f"{errors.rotation_error:.3f} / {errors.plain_rotation_error:.3f}"
