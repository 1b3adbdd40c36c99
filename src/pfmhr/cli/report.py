"""``pfmhr report``: everything measured, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import tyro

from pfmhr.cli.console import print_json, remark, say
from pfmhr.cli.options import refuse_replacing, tracking_extra, use_threads

Paths = Annotated[tuple[Path, ...], tyro.conf.Positional]


def report(
    paths: Paths,
    /,
    out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("report.html"),
    prior: str = "g1-small",
    title: str = "PFM-HR: what was measured",
    json: bool = False,
) -> int:
    """Put runs and stored results on one page that needs no network: tables beside the paper's, figures, a 3-D player.

    Examples:
        pfmhr report results -o report.html
        pfmhr report runs/walk runs/walk-with-prior runs/prior -o walk.html

    Args:
        paths: finished tracking runs, priors, JSON files of studies, benches, comparisons or experiments, or folders
            of these.
        out: the page; its figures go beside it as SVG and PDF.
        prior: scores the episodes and shows its geometry, unless a prior is among the paths.
        title: of the page.
        json: print one JSON object with what was written.
    """
    with tracking_extra():
        from pfmhr.report import build_report

    inside = [file for path in paths for depth in ("*.json", "*/*.json") for file in path.glob(depth)]
    refuse_replacing([out], [*paths, *inside])
    use_threads(None)
    written = build_report(paths, out, prior, title, say=(lambda _: None) if json else remark)
    if json:
        print_json({"page": str(out), "figures": [str(path) for path in written[1:]]})
        return 0
    say(f"{out} ({out.stat().st_size / 1e6:.1f} MB), {len(written) - 1} figure files beside it")
    return 0
