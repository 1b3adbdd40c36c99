"""Training pairs of a distance field: poses near and far, each labelled with its distance to the corpus.

Three kinds: poses of the corpus (distance 0); corpus poses pushed away, the length of the push drawn first and
then its direction, over all joints or a few; and poses uniform within the joint limits. Every pose is clipped to
the limits and labelled by its nearest neighbours, so that a push that lands near another pose is not mislabelled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfmhr.corpus import PoseCorpus
from pfmhr.corpus.sampling import batch_rows
from pfmhr.distance.neighbours import Metric, NeighbourIndex, require_neighbours
from pfmhr.errors import InputError
from pfmhr.files import exclusive, write_atomically, write_json
from pfmhr.foreign import load_npy, read_file, read_json, require_header
from pfmhr.learning import claim, is_done
from pfmhr.resuming import require_same
from pfmhr.robots import Robot

MANIFEST, FORMAT = "pairs.json", "pfmhr-pairs"
RECALL_SAMPLE = 1000
MAX_SHARD_BYTES = 4 * 2**30


@dataclass(frozen=True)
class PairConfig:
    """What pairs to make."""

    count: int = 524_288
    """How many labelled poses."""
    metric: Metric = "l2"
    """Of the labels, in rad: L2 over the joints agrees with the unit gradient the field is trained to; or L1."""
    neighbours: int = 1
    """The label is the mean distance to so many nearest poses."""
    on_manifold: float = 0.15
    """Share of corpus poses, labelled 0."""
    uniform: float = 0.1
    """Share of poses uniform within the limits; the rest are corpus poses pushed away."""
    scales: tuple[float, ...] = (0.1, 0.3, 0.8, 2.0)
    """rad: a push's length is half-normal with one of these spreads."""
    few_joints: float = 0.3
    """Share of the pushes that move between one and five joints only."""
    seed: int = 0
    """Decides poses and pushes."""
    shard: int = 65_536
    """Pairs in one file."""

    def __post_init__(self) -> None:
        counts = min(self.count, self.neighbours, self.shard) >= 1 and self.seed >= 0
        shares = self.on_manifold >= 0 and self.uniform >= 0 and self.on_manifold + self.uniform <= 1
        pushes = 0 <= self.few_joints <= 1 and len(self.scales) > 0 and all(0 < s < math.inf for s in self.scales)
        if not (counts and shares and pushes):
            raise InputError("impossible pairs", got=self, code="bad_config")


@dataclass(frozen=True)
class Pairs:
    """N poses and their distances to a corpus."""

    poses: NDArray[np.float32]
    """(N, J) rad."""
    distance: NDArray[np.float32]
    """(N,) rad."""
    about: dict[str, Any]

    @staticmethod
    def open(directory: Path) -> Pairs:
        """Read finished pairs."""
        try:
            path = directory / MANIFEST
            about = require_header(read_json(path, "bad_pairs"), "pairs", FORMAT, where=path, code="bad_pairs")
            names = about["shards"]
            if any("/" in name or "\\" in name for name in names):
                raise ValueError("a shard lies outside the directory")
            table = np.concatenate([load_npy(read_file(directory / name, MAX_SHARD_BYTES)) for name in names])
            if table.ndim != 2 or len(table) != about["pairs"]["count"]:
                raise ValueError(f"{table.shape} in the shards")
        except FileNotFoundError as error:
            raise InputError("no finished pairs here", where=directory, code="not_found") from error
        except InputError as error:
            raise error.at(directory, code="bad_pairs") from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(f"unreadable pairs: {error}", where=directory, code="bad_pairs") from error
        return Pairs(np.ascontiguousarray(table[:, :-1]), table[:, -1].copy(), about)


def make_pairs(
    directory: Path,
    corpus: PoseCorpus,
    robot: Robot,
    config: PairConfig,
    say: Callable[[str], object] = lambda _: None,
    progress: Callable[[int, int], object] = lambda done, total: None,
) -> Pairs:
    """Write pairs into ``directory``, shard by shard; the same call goes on after any interruption."""
    corpus.require(robot)
    about = {"format": FORMAT, "corpus": corpus.manifest.fingerprint, "poses": len(corpus), "pairs": _json(config)}
    if (directory / MANIFEST).exists():
        return _accept(directory, about)
    # What can be wrong is found before anything is written.
    is_done(directory, about, finished=MANIFEST)
    require_neighbours(len(corpus), config.neighbours)
    with exclusive(directory):
        claim(directory, about, finished=MANIFEST)
        index = NeighbourIndex(np.asarray(corpus.poses[:]), config.metric, config.seed)
        names = [f"pairs-{number:05d}.npy" for number in range(-(-config.count // config.shard))]
        for number, name in enumerate(names):
            progress(number * config.shard, config.count)
            if (directory / name).exists():
                continue
            rows = min(config.shard, config.count - number * config.shard)
            table = _labelled(corpus, robot, config, index, number, rows)
            write_atomically(directory / name, lambda handle, table=table: np.save(handle, table))
        sample = draw_poses(corpus.rows, len(corpus), robot, config, len(names), RECALL_SAMPLE)[0]
        recall = index.recall(sample, config.neighbours)
        say(f"{recall:.4f} of the labels are within 1 % of brute force")
        write_json(directory / MANIFEST, {**about, "recall": recall, "shards": names})
    return Pairs.open(directory)


def _labelled(
    corpus: PoseCorpus, robot: Robot, config: PairConfig, index: NeighbourIndex, number: int, rows: int
) -> NDArray[np.float32]:
    """One shard: poses and, as the last column, their labels."""
    poses, on_manifold = draw_poses(corpus.rows, len(corpus), robot, config, number, rows)
    distance = np.zeros(rows, dtype=np.float32)
    distance[~on_manifold] = index.distances(poses[~on_manifold], config.neighbours).mean(axis=1)
    return np.concatenate([poses, distance[:, None]], axis=1)


def draw_poses(
    read: Callable[[NDArray[np.int64]], NDArray[np.float32]],
    available: int,
    robot: Robot,
    config: PairConfig,
    number: int,
    rows: int,
) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
    """Poses of one shard, a function of (seed, number), and which of them are the corpus's own.

    ``read`` gives the corpus poses of given row numbers below ``available``.
    """
    generator = np.random.default_rng([config.seed, number])
    poses = read(batch_rows(available, number, rows, config.seed))
    kind = generator.random(rows)
    on_manifold, uniform = kind < config.on_manifold, kind >= 1.0 - config.uniform
    pushed = poses + _pushes(generator, rows, poses.shape[1], config)
    anywhere = generator.uniform(robot.lower, robot.upper, size=poses.shape)
    moved = np.where(uniform[:, None], anywhere, pushed)
    clipped = np.clip(moved, robot.lower, robot.upper).astype(np.float32)
    return np.where(on_manifold[:, None], poses, clipped), on_manifold


def _pushes(generator: np.random.Generator, rows: int, joints: int, config: PairConfig) -> NDArray[np.float64]:
    """Random directions, over all joints or a few, times half-normal lengths; ``(rows, joints)`` rad."""
    direction = generator.normal(size=(rows, joints))
    few = generator.random(rows) < config.few_joints
    chosen = generator.random((rows, joints)).argsort(axis=1) < generator.integers(1, 6, size=(rows, 1))
    direction = np.where(few[:, None] & ~chosen, 0.0, direction)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    length = np.abs(generator.normal(size=rows)) * generator.choice(config.scales, size=rows)
    return direction * length[:, None]


def _accept(directory: Path, about: dict[str, Any]) -> Pairs:
    pairs = Pairs.open(directory)
    require_same({key: pairs.about.get(key) for key in about}, about, "other pairs are", where=directory)
    return pairs


def _json(config: PairConfig) -> dict[str, Any]:
    return {**asdict(config), "scales": list(config.scales)}
