"""``pfmhr bench``: speed, measured in one run and given as ratios."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pfmhr.cli.console import print_json, remark, write_result
from pfmhr.cli.options import at_least_one, refuse_replacing, tracking_extra


def _tell(result: dict[str, Any], output: Path | None) -> int:
    """Written before it is printed: an error in between leaves stdout to its own JSON object."""
    write_result(output, result)
    print_json(result)
    return 0


def _keep(data: Path | None, output: Path | None) -> None:
    """Refuse to write the figures over what they are measured on."""
    if data is not None and output is not None:
        refuse_replacing([output], [data] if data.is_file() else data.rglob("*"))


def corpus(
    data: Path | None = None,
    rows: int = 4_000_000,
    repeats: int = 3,
    output: Path | None = None,
    json: bool = False,
) -> int:
    """Measure building a corpus against np.loadtxt merely reading the same files, and random access.

    Prints one JSON object. Ratios are taken within this run, on the same files, best of the repeats.

    Examples:
        pfmhr bench corpus --data lafan1_g1
        pfmhr bench corpus --rows 60000000

    Args:
        data: a folder of Unitree csv files (gzipped ones are unpacked first); default: embedded motions.
        rows: size of the corpus for random access.
        repeats: how often each thing is measured.
        output: also write the JSON here; default: nowhere.
        json: taken as elsewhere; a bench prints its JSON with or without it.
    """
    at_least_one(rows=rows, repeats=repeats)
    _keep(data, output)
    from pfmhr.bench.corpus import bench_corpus

    return _tell(bench_corpus(data, rows, repeats, say=remark), output)


def prior(
    presets: tuple[Literal["tiny", "small", "paper"], ...] = ("small", "paper"),
    batch: int = 4096,
    repeats: int = 7,
    compile: bool = False,
    output: Path | None = None,
    json: bool = False,
) -> int:
    """Measure a training step against the bare matrix products of its blocks, forward and backward.

    Prints one JSON object; ratios are medians within this run.

    Examples:
        pfmhr bench prior --presets small --batch 2048

    Args:
        presets: which networks.
        batch: poses per step.
        repeats: how often each thing is measured.
        compile: measure the compiled step too.
        output: also write the JSON here; default: nowhere.
        json: taken as elsewhere; a bench prints its JSON with or without it.
    """
    at_least_one(batch=batch, repeats=repeats)
    from pfmhr.bench.prior import bench_prior

    return _tell(bench_prior(presets, batch, repeats, compile), output)


def score(
    preset: Literal["tiny", "small", "paper"] = "small",
    batch: int = 4096,
    repeats: int = 7,
    bfloat16: bool | None = None,
    threads: int | None = None,
    data: Path | None = None,
    output: Path | None = None,
    json: bool = False,
) -> int:
    """Measure the Pose Geometry Score against the bare matrix products of one pass of poses and directions.

    Prints one JSON object; ratios are medians within this run.

    Examples:
        pfmhr bench score --preset paper --batch 4096
        pfmhr bench score --preset small --batch 256

    Args:
        preset: which network.
        batch: transitions scored at once.
        repeats: how often each thing is measured.
        bfloat16: measure the bfloat16 pass too; default: where the processor has such units.
        threads: threads to compute with; default: as many as there are cores.
        data: motions to measure the accuracy on; default: embedded ones.
        output: also write the JSON here; default: nowhere.
        json: taken as elsewhere; a bench prints its JSON with or without it.
    """
    at_least_one(batch=batch, repeats=repeats, threads=threads)
    _keep(data, output)
    from pfmhr.bench.score import bench_score

    return _tell(bench_score(preset, batch, repeats, bfloat16, threads, data), output)


def distance(
    corpus: Path | None = None,
    poses: int = 265_000,
    queries: int = 20_000,
    output: Path | None = None,
    json: bool = False,
) -> int:
    """Measure labelling poses with their distance to a corpus, against comparing with every pose of it.

    Prints one JSON object: labels per second for corpora of 1, 4 and 16 times the size, and what 60 million
    poses would take.

    Examples:
        pfmhr bench distance --corpus corpora/lafan1

    Args:
        corpus: a pose corpus; default: embedded motions.
        poses: at most this many of its poses, at growth 1.
        queries: how many poses to label.
        output: also write the JSON here; default: nowhere.
        json: taken as elsewhere; a bench prints its JSON with or without it.
    """
    at_least_one(poses=poses, queries=queries)
    from pfmhr.bench.distance import bench_distance

    return _tell(bench_distance(corpus, poses, queries), output)


def sim(
    environments: tuple[int, ...] = (64, 256, 512),
    seconds: float = 10.0,
    threads: int | None = None,
    output: Path | None = None,
    json: bool = False,
) -> int:
    """Measure stepping environments together against a loop of mj_step on one thread, and a tracker's own share.

    Prints one JSON object; ratios are medians within this run. Standing and moving differ in the noise on the
    joint targets. The tracker's step is timed at 256 environments: how much of it is not physics.

    Examples:
        pfmhr bench sim
        pfmhr bench sim --environments 64 --seconds 2 --threads 1

    Args:
        environments: how many are stepped together, one or more numbers.
        seconds: how long each comparison is measured.
        threads: threads to step with; default: as many as there are cores.
        output: also write the JSON here; default: nowhere.
        json: taken as elsewhere; a bench prints its JSON with or without it.
    """
    at_least_one(threads=threads)
    with tracking_extra():
        from pfmhr.bench.sim import bench_sim

    return _tell(bench_sim(environments, seconds, threads), output)


def retarget(
    data: Path | None = None,
    clips: int = 20,
    robot: str = "g1",
    output: Path | None = None,
    json: bool = False,
) -> int:
    """Measure putting human motion on a robot, and its solver against mink frame by frame on the same targets.

    Prints one JSON object. Times are processor time of one process: frames per second of reading, retargeting, checking
    and writing together; frames per second of the first solution of whole clips, and of mink with daqp, which goes on
    from the last frame's solution for up to ten steps.

    Examples:
        pfmhr bench retarget --data cmu --clips 20

    Args:
        data: a folder of human motion; default: a BVH file made here.
        clips: how many of its files, drawn at random.
        robot: a robot's name or the path of its MJCF.
        output: also write the JSON here; default: nowhere.
        json: taken as elsewhere; a bench prints its JSON with or without it.
    """
    at_least_one(clips=clips)
    _keep(data, output)
    from pfmhr.bench.retarget import bench_retarget

    return _tell(bench_retarget(data, clips, robot, say=remark), output)
