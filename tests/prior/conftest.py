"""Small priors and corpora for tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from pfmhr.corpus import PoseCorpus
from pfmhr.prior import NetworkConfig, PriorConfig, TrainConfig
from pfmhr.robots import Robot

torch.set_num_threads(1)  # two test workers share two cores

SMALL_RUN = TrainConfig(
    steps=40,
    batch_size=64,
    distinct_times=8,
    warmup=5,
    checkpoint_every=10,
    evaluate_every=20,
    log_every=5,
    ema_decay=0.9,
)
TOY = PriorConfig(network=NetworkConfig(depth=2, width=16, time_features=8))


@pytest.fixture
def toy_corpus(tmp_path: Path, g1: Robot) -> PoseCorpus:
    """A thousand poses around the default pose."""
    generator = np.random.default_rng(0)
    return PoseCorpus.from_array(tmp_path / "toy", g1.default_pose + 0.1 * generator.normal(size=(1000, 29)), robot=g1)
