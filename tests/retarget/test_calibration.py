"""How a skeleton's joints are turned, found without being told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from pfmhr.errors import InputError
from pfmhr.retarget import Body, Human, SkeletonMap, load_map, retarget
from pfmhr.retarget.bvh import parse_bvh
from pfmhr.retarget.calibration import calibrate
from pfmhr.retarget.example import BONES, bvh_of_a_walk
from pfmhr.retarget.linkage import Pose
from pfmhr.retarget.maps import BUILT_IN, find_map
from pfmhr.retarget.maps.guessing import guess
from pfmhr.retarget.parts import SEGMENTS
from pfmhr.retarget.rotations import compose, inverse, logarithm

Swing = Callable[..., Pose]
Make = Callable[..., Human]


def scrambled(human: Human, seed: int = 0) -> Human:
    """The same motion by a skeleton whose frames are turned in any way, as in files whose zero pose says nothing."""
    assert human.rotations is not None
    turns = Rotation.random(len(human.names), random_state=seed).as_matrix()
    return replace(human, rotations=human.rotations @ turns)


def degrees_apart(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return np.degrees(np.linalg.norm(logarithm(compose(one, inverse(other))), axis=0))


def test_the_turns_since_a_known_zero_pose_are_exact(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    pose = swinging()
    _, links = toy.linkage.forward(pose)
    found = calibrate(human_of(pose), skeleton)
    for segment in SEGMENTS:
        assert degrees_apart(found.turns[segment], links[toy.link[segment]]).max() < 1e-4, segment
    assert found.leg == pytest.approx(0.8)


def test_without_a_t_pose_the_motion_shows_how_joints_are_turned(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    """Arms, thighs and shins bend about their hinges: exact up to what the trunk and the wrists do on average."""
    pose = swinging(300)
    _, links = toy.linkage.forward(pose)
    found = calibrate(scrambled(human_of(pose)), skeleton, "auto")
    apart = {segment: degrees_apart(found.turns[segment], links[toy.link[segment]]).max() for segment in SEGMENTS}
    for segment in SEGMENTS:
        # Feet that never stand still on a floor say nothing of their pitch.
        most = 45.0 if segment.endswith("foot") else 20.0 if segment.endswith("hand") else 1.0
        assert apart[segment] < most, (segment, apart[segment])


def test_a_frame_in_t_pose_may_be_named(toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make) -> None:
    pose = swinging()
    joints, turn = pose.joints.copy(), pose.root_rot.copy()
    joints[:, 7], turn[..., 7] = 0.0, np.eye(3)
    pose = Pose(pose.root_pos, turn, joints)
    _, links = toy.linkage.forward(pose)
    found = calibrate(scrambled(human_of(pose)), skeleton, 7)
    for segment in SEGMENTS:
        assert degrees_apart(found.turns[segment], links[toy.link[segment]]).max() < 1e-4, segment
    with pytest.raises(InputError, match="frame 8 is no T-pose") as caught:
        calibrate(scrambled(human_of(pose)), skeleton, 8)
    assert caught.value.code == "no_t_pose"
    with pytest.raises(InputError, match="no such frame"):
        calibrate(human_of(pose), skeleton, 99)


def test_an_artificial_first_frame_shows_the_t_pose_and_is_no_part_of_the_motion(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    pose = swinging()
    joints, turn = pose.joints.copy(), pose.root_rot.copy()
    joints[:, 0], turn[..., 0] = 0.0, np.eye(3)
    human = scrambled(human_of(Pose(pose.root_pos, turn, joints)))
    motion = retarget(human, toy, None, replace(skeleton, rest="first-frame")).motion
    assert motion.num_frames == 59
    whole = retarget(human_of(Pose(pose.root_pos[:, 1:], turn[..., 1:], joints[:, 1:])), toy, None, skeleton).motion
    assert np.abs(motion.joint_pos - whole.joint_pos).max() < 1e-4


def test_positions_alone_are_enough(toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make) -> None:
    pose = swinging()
    human = replace(human_of(pose), rotations=None)
    result = retarget(human, toy, None, skeleton)
    names = toy.linkage.robot.joint_names
    for joint in ("left_shin_y", "right_shin_y", "left_lower_arm_z", "right_lower_arm_z"):
        error = result.motion.joint_pos[:, names.index(joint)] - pose.joints[names.index(joint)]
        assert np.abs(error).mean() < 0.05, joint


def test_an_ankle_turned_by_half_a_turn_is_mended_from_the_toes(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    human = human_of(swinging())
    assert human.rotations is not None
    ankle = human.names.index("left_ankle")
    along = human.positions[:, human.names.index("left_toe")] - human.positions[:, ankle]
    half = Rotation.from_rotvec(np.pi * along / np.linalg.norm(along, axis=1, keepdims=True)).as_matrix()
    rotations = human.rotations.copy()
    rotations[20:35, ankle] = half[20:35] @ rotations[20:35, ankle]
    broken = calibrate(replace(human, rotations=rotations), skeleton)
    sound = calibrate(human, skeleton)
    assert broken.rolled == 15 and sound.rolled == 0
    assert any("15 frames" in note for note in broken.notes)
    assert degrees_apart(broken.turns["left_foot"], sound.turns["left_foot"])[20:35].max() < 15.0
    assert np.array_equal(broken.turns["left_foot"][..., :20], sound.turns["left_foot"][..., :20])


def test_a_foot_that_points_backward_takes_its_angles_from_the_frames_around(
    toy: Body, skeleton: SkeletonMap, swinging: Swing, human_of: Make
) -> None:
    human = human_of(swinging())
    assert human.rotations is not None
    ankle, toe = human.names.index("left_ankle"), human.names.index("left_toe")
    back = Rotation.from_euler("z", 180, degrees=True).as_matrix()
    rotations, positions = human.rotations.copy(), human.positions.copy()
    rotations[30:33, ankle] = rotations[30:33, ankle] @ back
    positions[30:33, toe] = positions[30:33, ankle] + (rotations[30:33, ankle] @ [0.1, 0.0, -0.04])
    mended = calibrate(replace(human, rotations=rotations, positions=positions), skeleton)
    sound = calibrate(human, skeleton)
    assert mended.rolled == 3
    assert degrees_apart(mended.turns["left_foot"], sound.turns["left_foot"]).max() < 5.0


def test_what_is_not_finite_is_refused_where_it_matters(skeleton: SkeletonMap, swinging: Swing, human_of: Make) -> None:
    human = human_of(swinging())
    assert human.rotations is not None
    broken = human.rotations.copy()
    broken[:, human.names.index("neck")] = np.nan  # MimicKit's walk has such a head; it moves nothing we use
    calibrate(replace(human, rotations=broken), skeleton)
    positions = human.positions.copy()
    positions[12, human.names.index("left_knee")] = np.inf
    with pytest.raises(InputError, match="'left_knee' is not finite in frame 12") as caught:
        calibrate(replace(human, positions=positions), skeleton)
    assert caught.value.code == "not_finite"


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_built_in_map_is_found_by_its_own_names(name: str) -> None:
    skeleton = load_map(name)
    assert find_map(tuple(reversed(skeleton.joints.values()))) == skeleton


def test_a_prefix_is_left_away() -> None:
    bvh = parse_bvh(bvh_of_a_walk(3, prefix="mixamorig:").encode())
    assert find_map(tuple(joint.name for joint in bvh.joints)) == load_map("mixamo")


def test_an_unknown_skeleton_is_refused_with_its_joints_and_a_guess() -> None:
    ours = {"LeftUpLeg": "thigh_l", "LeftLeg": "shin_l", "LeftFoot": "foot_l", "Hips": "pelvis"}
    names = tuple(ours.get(name, name) for name, _, _ in BONES)
    with pytest.raises(InputError, match="unknown skeleton") as caught:
        find_map(names)
    said = str(caught.value)
    assert "thigh_l" in said and 'left_hip = "thigh_l"' in said and "--map" in said
    assert guess(names)["right_hip"] == "RightUpLeg" and guess(names)["left_knee"] == "shin_l"


@pytest.mark.parametrize(
    ("joints", "rest", "words"),
    [
        ({}, "auto", "lacks joints"),
        ({"tail": "Tail"}, "auto", "unknown joint 'tail'"),
        (None, "t-pose", "unknown rest pose"),
        (None, -1, "unknown rest pose"),
    ],
)
def test_a_map_that_cannot_be_is_refused(joints: dict[str, str] | None, rest: str | int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        SkeletonMap(load_map("cmu").joints if joints is None else joints, rest=rest)
