"""The distance network: its tree is the robot's, and each joint's feature knows the joints above it alone."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
import torch
from torch import Tensor

from pfmhr.distance import PoseDistanceField
from pfmhr.distance.network import DistanceNetwork, DistanceNetworkConfig, joint_parents
from pfmhr.robots import Robot

from ..score.priors import normal, seeded

G1_CHAINS = [
    *(
        [f"{side}_{joint}" for joint in ("hip_pitch", "hip_roll", "hip_yaw", "knee", "ankle_pitch", "ankle_roll")]
        for side in ("left", "right")
    ),
    *(
        [
            *("waist_yaw", "waist_roll", "waist_pitch"),
            *(f"{side}_shoulder_{axis}" for axis in ("pitch", "roll", "yaw")),
            *(f"{side}_{joint}" for joint in ("elbow", "wrist_roll", "wrist_pitch", "wrist_yaw")),
        ]
        for side in ("left", "right")
    ),
]
"""From the pelvis outwards."""

BRANCHES = """
<mujoco><worldbody><body name="root">{free}<geom size="0.1"/>
  <body name="ball"><joint name="swing" axis="1 0 0"/><joint name="twist" axis="0 0 1"/><geom size="0.1"/>
    <body name="plate"><geom size="0.1"/>
      <body name="bracket"><geom size="0.1"/>
        <body name="shin"><joint name="knee" axis="0 1 0"/><geom size="0.1"/>
          <body name="foot"><joint name="ankle" axis="0 1 0"/><geom size="0.1"/></body></body></body></body>
    <body name="fin"><joint name="fin" axis="0 1 0"/><geom size="0.1"/></body></body>
  <body name="stand"><geom size="0.1"/>
    <body name="arm"><joint name="arm" axis="0 1 0"/><geom size="0.1"/></body></body>
</body></worldbody></mujoco>"""


def test_the_parents_of_the_g1_by_name(g1: Robot) -> None:
    expected: dict[str, str | None] = {}
    for chain in G1_CHAINS:
        expected |= {f"{joint}_joint": None if n == 0 else f"{chain[n - 1]}_joint" for n, joint in enumerate(chain)}
    parents = joint_parents(g1)
    found = {
        name: g1.joint_names[parent] if parent >= 0 else None
        for name, parent in zip(g1.joint_names, parents, strict=True)
    }
    assert found == expected
    assert parents.count(-1) == 3


@pytest.mark.parametrize("free", ["<freejoint/>", ""], ids=["floating", "fixed"])
def test_parents_across_fixed_bodies_and_two_hinges_on_one(free: str, tmp_path: Path) -> None:
    (tmp_path / "branches.xml").write_text(BRANCHES.format(free=free))
    robot = Robot.load(tmp_path / "branches.xml")
    assert robot.joint_names == ("swing", "twist", "knee", "ankle", "fin", "arm")
    assert joint_parents(robot) == (-1, 0, 1, 2, 1, -1)


def test_hinges_of_the_root_body_itself(tmp_path: Path) -> None:
    text = '<mujoco><worldbody><body><joint name="a"/><joint name="b"/><geom size="0.1"/></body></worldbody></mujoco>'
    (tmp_path / "post.xml").write_text(text)
    assert joint_parents(Robot.load(tmp_path / "post.xml")) == (-1, 0)


def test_the_size_of_the_papers_network(g1: Robot) -> None:
    """Per joint (1 or 17 → 17 → 16), then 464 → 512 → 256 → 128 → 1."""
    root, below = (1 + 1) * 17 + (17 + 1) * 16, (17 + 1) * 17 + (17 + 1) * 16
    head = (464 + 1) * 512 + (512 + 1) * 256 + (256 + 1) * 128 + 129
    network = DistanceNetwork(joint_parents(g1), DistanceNetworkConfig())
    count = sum(parameter.numel() for parameter in network.parameters())
    assert count == 3 * root + 26 * below + head == 418_843


def features(network: DistanceNetwork, poses: Tensor) -> Tensor:
    """What the head is given: ``(N, J, feature)``."""
    seen: list[Tensor] = []
    hook = network.head[0].register_forward_pre_hook(lambda _, given: seen.append(given[0]))
    network(poses)
    hook.remove()
    return seen[0].reshape(len(poses), network.joints, network.config.feature)


def ancestors(parents: tuple[int, ...]) -> list[set[int]]:
    """Each joint and those above it."""
    above: list[set[int]] = []
    for joint, parent in enumerate(parents):
        above.append({joint} | (above[parent] if parent >= 0 else set()))
    return above


@pytest.mark.parametrize("parents", [(-1, 0, 1, 2, 1, -1), (-1, -1, -1), (-1, 0, 1, 2, 3), None], ids=str)
def test_a_feature_depends_on_its_own_angle_and_those_above(parents: tuple[int, ...] | None, g1: Robot) -> None:
    tree = parents or joint_parents(g1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = DistanceNetwork(tree, DistanceNetworkConfig()).double()
    poses = normal(8, len(tree))
    plain = features(network, poses)
    for joint in range(len(tree)):
        moved = poses.clone()
        moved[:, joint] += 0.3
        changed = (features(network, moved) != plain).any(dim=-1).any(dim=0)
        assert set(changed.nonzero().flatten().tolist()) == {
            below for below, above in enumerate(ancestors(tree)) if joint in above
        }


def test_the_same_angles_in_the_same_places_give_the_same_features() -> None:
    """Two arms with equal weights, side by side: neither looks into the other."""
    network = DistanceNetwork((-1, 0, -1, 2), DistanceNetworkConfig())
    with torch.no_grad():
        for parameter in network.levels.parameters():
            parameter.copy_(parameter[:1].expand_as(parameter))
    poses = torch.randn(5, 2, generator=seeded(0)).repeat(1, 2)
    left, right = features(network, poses).split(2, dim=1)
    assert torch.allclose(left, right, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
def test_a_distance_is_never_negative(scale: float, g1: Robot) -> None:
    for seed in range(3):
        field = PoseDistanceField.new(g1, joint_parents(g1), DistanceNetworkConfig(), seed)
        with torch.no_grad():
            for parameter in field.network.parameters():
                parameter.mul_(3.0)
        distance = field(scale * normal(200, 29, seed=seed))
        assert bool((distance >= 0).all()) and bool(distance.isfinite().all())


def test_leading_dimensions_are_kept() -> None:
    network = DistanceNetwork((-1, 0, 0), DistanceNetworkConfig(feature=4, hidden=5, head=(8,)))
    poses = torch.randn(2, 5, 3, generator=seeded(0))
    assert network(poses).shape == (2, 5)
    assert torch.allclose(network(poses)[1, 3], network(poses[1, 3]), atol=1e-6)
    assert network(poses[:, :0]).shape == (2, 0)


def test_the_gradient_is_that_of_finite_differences(g1: Robot) -> None:
    """Central differences of 1e-6 rad in float64, at points where the network is far from flat."""
    field = PoseDistanceField.new(g1, joint_parents(g1), DistanceNetworkConfig(feature=8, hidden=9, head=(32, 16)))
    with torch.no_grad():
        for parameter in field.network.parameters():
            parameter.mul_(2.0)
    exact = copy.deepcopy(field.network).double()
    poses, step = normal(6, 29), 1e-6 * torch.eye(29, dtype=torch.float64)
    expected = (exact(poses[:, None] + step) - exact(poses[:, None] - step)) / 2e-6
    assert expected.norm(dim=1).min() > 0.01
    precise = poses.clone().requires_grad_(True)
    assert torch.allclose(torch.autograd.grad(exact(precise).sum(), precise)[0], expected, atol=1e-7, rtol=1e-5)
    distance, gradient = field.gradient(poses)
    assert torch.allclose(distance.double(), exact(poses), rtol=1e-3, atol=1e-5)
    assert torch.allclose(gradient.double(), expected, rtol=1e-2, atol=2e-3)


def test_initial_weights_follow_the_seed_and_touch_nobody_elses(arm: Robot) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fields = [PoseDistanceField.new(arm, (-1, 0), DistanceNetworkConfig(), seed) for seed in (0, 0, 1)]
    assert torch.equal(torch.rand(3), expected)
    assert fields[0].hash == fields[1].hash != fields[2].hash
