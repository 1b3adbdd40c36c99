"""One core for each test worker; a small arm, a corpus on a line, and a field trained on it."""

from __future__ import annotations

import faiss
import numpy as np
import pytest
import torch

from pfmhr.corpus import PoseCorpus
from pfmhr.distance import DistanceConfig, PairConfig, PoseDistanceField, make_pairs, train_distance
from pfmhr.distance.network import DistanceNetworkConfig
from pfmhr.distance.pairs import Pairs
from pfmhr.robots import Robot

torch.set_num_threads(1)  # two test workers share two cores
faiss.omp_set_num_threads(1)

ARM = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="upper"><joint name="shoulder" range="-1 1"/><geom size="0.1"/>
    <body name="lower"><joint name="elbow" range="-1 1"/><geom size="0.1"/></body></body>
</worldbody></mujoco>"""


@pytest.fixture(scope="session")
def arm(tmp_path_factory: pytest.TempPathFactory) -> Robot:
    """Two hinges, each from −1 to 1 rad, the second below the first."""
    path = tmp_path_factory.mktemp("robot") / "arm.xml"
    path.write_text(ARM)
    return Robot.load(path)


@pytest.fixture(scope="session")
def line(tmp_path_factory: pytest.TempPathFactory, arm: Robot) -> PoseCorpus:
    """Poses with both angles the same: the distance of (a, b) to them is |a − b|/√2."""
    poses = np.repeat(np.linspace(-1.0, 1.0, 2001)[:, None], 2, axis=1)
    return PoseCorpus.from_array(tmp_path_factory.mktemp("line") / "corpus", poses, robot=arm)


@pytest.fixture(scope="session")
def line_pairs(tmp_path_factory: pytest.TempPathFactory, line: PoseCorpus, arm: Robot) -> Pairs:
    config = PairConfig(count=8000, uniform=0.3, scales=(0.1, 0.3, 0.8))
    return make_pairs(tmp_path_factory.mktemp("line") / "pairs", line, arm, config)


@pytest.fixture(scope="session")
def line_field(tmp_path_factory: pytest.TempPathFactory, line_pairs: Pairs, arm: Robot) -> PoseDistanceField:
    """300 steps of a small network: two seconds."""
    config = DistanceConfig(
        steps=300, batch_size=128, learning_rate=5e-3, warmup=20, weight_decay=0.0, eikonal=0.1, ema_decay=0.98
    )
    network = DistanceNetworkConfig(feature=8, hidden=8, head=(32, 32))
    return train_distance(tmp_path_factory.mktemp("line") / "run", line_pairs, arm, config, network)
