"""``pfmhr corpus build | add | subset | info``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import tyro

from pfmhr.cli.console import print_json, print_table, progress_bar, say, teller
from pfmhr.cli.options import tell_assumed
from pfmhr.corpus import BuildConfig, PoseCorpus, add_to_corpus, build_corpus, make_subset
from pfmhr.robots import Robot

Out = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OUT")]
Paths = Annotated[tyro.conf.Positional[tuple[Path, ...]], tyro.conf.arg(metavar="PATH...")]
Corpus = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CORPUS")]
Config = Annotated[BuildConfig, tyro.conf.arg(name="")]


def build(
    out: Out,
    paths: Paths,
    /,
    config: Config = BuildConfig(),  # noqa: B008
    robot: str = "g1",
    json: bool = False,
) -> int:
    """Build a pose corpus from motion files and folders.

    Files are read and checked in parallel; those that fail a check are left out and listed with the
    reason in the manifest. Interrupted at any moment, the same command goes on where it stopped.

    Examples:
        pfmhr corpus build corpora/lafan data/lafan1_g1 --fps 30
        pfmhr corpus build corpora/seed bones-seed/ --category-from metadata --unmirrored

    Args:
        out: folder of the corpus.
        paths: motion files, and folders searched all the way down.
        robot: a robot's name or the path of its MJCF.
        json: print one JSON object.
    """
    with progress_bar("reading") as progress:
        corpus = build_corpus(out, paths, Robot.load(robot), config, say=teller(json), progress=progress)
    tell_assumed(source.notes for source in corpus.manifest.sources)
    return _show(corpus, json)


def add(
    out: Out,
    paths: Paths,
    /,
    config: Config = BuildConfig(),  # noqa: B008
    robot: str = "g1",
    json: bool = False,
) -> int:
    """Append motion files to a corpus; its existing poses are never rewritten.

    Examples:
        pfmhr corpus add corpora/mine more_motions/

    Args:
        out: folder of the corpus.
        paths: motion files, and folders searched all the way down.
        robot: a robot's name or the path of its MJCF.
        json: print one JSON object.
    """
    with progress_bar("reading") as progress:
        corpus = add_to_corpus(out, paths, Robot.load(robot), config, say=teller(json), progress=progress)
    tell_assumed(source.notes for source in corpus.manifest.sources)
    return _show(corpus, json)


def subset(
    corpus: Corpus,
    out: Out,
    /,
    size: int,
    stratify: tuple[str, ...] = (),
    categories: tuple[str, ...] = (),
    seed: int = 0,
    json: bool = False,
) -> int:
    """Write a random subset as a corpus of its own. Subsets of one seed nest: the smaller lies in the larger.

    Examples:
        pfmhr corpus subset corpora/seed corpora/seed15 --size 15000000 --stratify category

    Args:
        corpus: the corpus to draw from.
        out: folder of the subset.
        size: how many poses.
        stratify: "category" to take equally from every category until one runs out; default: by size.
        categories: take poses from these categories only; default: all.
        seed: another seed, another subset.
        json: print one JSON object.
    """
    from pfmhr.errors import unknown_name

    for by in stratify:
        if by != "category":
            raise unknown_name("stratification", by, ["category"])
    whole = PoseCorpus.open(corpus)
    return _show(make_subset(whole, out, size, seed, bool(stratify), categories or None), json)


def info(corpus: Corpus, /, verify: bool = False, rejected: bool = False, json: bool = False) -> int:
    """Say what a corpus holds, and with --verify whether a single byte of it has changed.

    Examples:
        pfmhr corpus info corpora/mine --verify
        pfmhr corpus info corpora/mine --rejected

    Args:
        corpus: folder of the corpus.
        verify: read everything and compare with the checksums; exits with 1 on a difference.
        rejected: list every clip that was left out, with its reason.
        json: print one JSON object.
    """
    opened = PoseCorpus.open(corpus)
    damaged: list[str] | None = None
    if verify:
        with progress_bar("verifying") as progress:
            damaged = opened.verify(progress)
    _show(opened, json, damaged)
    if rejected and not json:
        left_out = [[entry.path, entry.clip, entry.reason] for entry in opened.manifest.rejected]
        print_table("left out", ["file", "clip", "reason"], left_out)
    if verify and not json:
        say(f"damaged: {', '.join(damaged)}" if damaged else "every byte is as it was written")
    return 1 if damaged else 0


def _summary(corpus: PoseCorpus) -> dict[str, Any]:
    manifest = corpus.manifest
    return {
        "path": str(corpus.path),
        "robot": manifest.robot,
        "poses": len(corpus),
        "joints": len(manifest.joint_names),
        "megabytes": round(len(corpus) * len(manifest.joint_names) * 4 / 1e6, 1),
        "sources": len(manifest.sources),
        "categories": dict(sorted(manifest.categories.items(), key=lambda pair: -pair[1])),
        "rejected": dict(Counter(entry.code for entry in manifest.rejected).most_common()),
        "skipped": manifest.skipped,
        "fingerprint": manifest.fingerprint,
    }


def _show(corpus: PoseCorpus, json: bool, damaged: list[str] | None = None) -> int:
    summary = _summary(corpus)
    if json:
        print_json(summary if damaged is None else {**summary, "damaged": damaged})
        return 0
    say(
        f"{corpus.path}: {summary['poses']:,} poses of robot '{summary['robot']}' ({summary['megabytes']:,} MB), "
        f"{summary['sources']:,} clips"
    )
    for title in ("categories", "rejected", "skipped"):
        if summary[title]:
            say(f"  {title}: " + ", ".join(f"{name} {count:,}" for name, count in summary[title].items()))
    return 0
