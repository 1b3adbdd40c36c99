"""``pfmhr bench``: speed, measured in one run and given as ratios."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pfmhr.cli.console import print_json, remark


def corpus(data: Path | None = None, rows: int = 4_000_000, repeats: int = 3, output: Path | None = None) -> int:
    """Measure building a corpus against np.loadtxt merely reading the same files, and random access.

    Prints one JSON object. Ratios are taken within this run, on the same files, best of the repeats.

    Examples:
        pfmhr bench corpus --data lafan1_g1
        pfmhr bench corpus --rows 60000000

    Args:
        data: a folder of Unitree csv files (gzipped ones are unpacked first); embedded motions if left away.
        rows: size of the corpus for random access.
        repeats: how often each thing is measured.
        output: also write the JSON here.
    """
    from pfmhr.bench.corpus import bench_corpus
    from pfmhr.files import write_json

    result = bench_corpus(data, rows, repeats, say=remark)
    print_json(result)
    if output is not None:
        write_json(output, result)
    return 0


def prior(
    presets: tuple[Literal["tiny", "small", "paper"], ...] = ("small", "paper"),
    batch: int = 4096,
    repeats: int = 7,
    compile: bool = False,
    output: Path | None = None,
) -> int:
    """Measure a training step against the bare matrix products of its blocks, forward and backward.

    Prints one JSON object; ratios are medians within this run.

    Args:
        presets: which networks.
        batch: poses per step.
        repeats: how often each thing is measured.
        compile: measure the compiled step too.
        output: also write the JSON here.
    """
    from pfmhr.bench.prior import bench_prior
    from pfmhr.files import write_json

    result = bench_prior(presets, batch, repeats, compile)
    print_json(result)
    if output is not None:
        write_json(output, result)
    return 0
