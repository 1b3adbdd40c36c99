"""Success and errors, on rollouts of which everything is known."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy.spatial.transform import Rotation
from torch import Tensor, nn

from pfmhr.motion import Motion
from pfmhr.results.evaluation import Evaluation
from pfmhr.robots import Robot
from pfmhr.tracking import EnvironmentConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.runs.evaluation import Evaluator, tracking_errors
from pfmhr.tracking.runs.training import samples_to

from .clips import still


class Script(nn.Module):
    """Does nothing, but for what ``deeds`` do to the actions or the simulation at their step."""

    def __init__(self, evaluator: Evaluator, deeds: dict[int, Callable[[TrackingEnvironment, Tensor], None]]) -> None:
        super().__init__()
        self.environment, self.deeds, self.step = evaluator.environment, deeds, 0

    def forward(self, observation: Tensor) -> Tensor:
        actions = torch.zeros(len(observation), 29)
        self.step += 1
        if self.step in self.deeds:
            self.deeds[self.step](self.environment, actions)
        return actions


def lose(*numbers: int) -> Callable[[TrackingEnvironment, Tensor], None]:
    """An action that is no number: the environment explodes in that step."""

    def deed(environment: TrackingEnvironment, actions: Tensor) -> None:
        actions[list(numbers)] = math.nan

    return deed


def push(number: int, metres: float) -> Callable[[TrackingEnvironment, Tensor], None]:
    """Sideways."""

    def deed(environment: TrackingEnvironment, actions: Tensor) -> None:
        environment.simulation.positions[number, 1] += metres

    return deed


def evaluator(robot: Robot, *motions: Motion, episodes: int = 4, **settings: float) -> Evaluator:
    return Evaluator(robot, motions, EnvironmentConfig(), episodes, threads=1, **settings)  # type: ignore[arg-type]


# Errors of one moment


def quat(axis: str, angle: float) -> list[float]:
    return Rotation.from_euler(axis, angle).as_quat(scalar_first=True).tolist()


def test_errors_by_hand() -> None:
    """Three bodies. Root 0.5 m off; the others, relative to it, 0.2 m and 0.1 m."""
    bodies = torch.tensor([[[0.3, 0.4, 0.0], [0.3, 0.4, 1.2], [0.3, 1.5, 0.0]]])
    body_pos = torch.tensor([[[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]])
    # The root turned by 0.3 rad, the second body with it and 0.6 more, the third not at all.
    turns = torch.tensor([[quat("z", 0.3), quat("z", 0.9), quat("z", 0.0)]])
    still = torch.tensor([[quat("z", 0.0)] * 3])
    found = tracking_errors(bodies, turns, torch.zeros(1, 3), body_pos, still)
    assert found.shape == (5, 1)
    # Seen from a root turned by 0.3 rad, the second body is where it was and the third has turned with its y of 1.1.
    aside = math.hypot(1.1 * math.sin(0.3), 1.1 * math.cos(0.3) - 1.0)
    expected = [(0.2 + 0.1 + 0.5) / 3, (0.6 + 0.3 + 0.3) / 3, 0.15, 0.5, (0.2 + aside + 0.5) / 3]
    assert found[:, 0].tolist() == pytest.approx(expected, abs=1e-6)


def test_a_turned_root_is_an_error_of_its_own_only() -> None:
    turns = torch.tensor([[quat("x", 0.8), quat("x", 0.8), quat("x", 0.8)]])
    places = torch.tensor([[[0.3, 0.4, 0.5], [0.3, 1.4, 0.5], [1.3, 0.4, 0.5]]])  # one body aside, one ahead
    found = tracking_errors(places, turns, places[:, 0], places - places[:, :1], torch.tensor([[quat("x", 0.0)] * 3]))
    assert found[:4, 0].tolist() == pytest.approx([0.0, 0.8 / 3, 0.0, 0.0], abs=1e-6)
    # Turned with the root, what is aside of it by a metre is off by a chord, and what is ahead is not.
    assert float(found[4]) == pytest.approx(2 * math.sin(0.4) / 3, abs=1e-6)


# Success


def test_success_is_the_mean_share_of_what_could_be_tracked(g1: Robot) -> None:
    """Half a second is 15 steps; one robot is lost in the 4th, one in the 10th."""
    made = evaluator(g1, still(g1))
    result = made.run(Script(made, {4: lose(1), 10: lose(2)}), start="beginning")
    assert result.success == pytest.approx((1.0 + 3 / 15 + 9 / 15 + 1.0) / 4)
    low, high = result.success_interval
    assert low < result.success < high <= 1.0
    assert (result.episodes, result.distance, result.start, result.horizon) == (4, 1.0, "beginning", 10.0)


def test_a_horizon_is_what_can_be_tracked_at_most(g1: Robot) -> None:
    for motion in (still(g1, seconds=1.0), still(g1, loop=True)):
        made = evaluator(g1, motion, horizon=0.2)
        result = made.run(Script(made, {4: lose(1)}), start="beginning")
        assert result.success == pytest.approx((3.0 + 3 / 6) / 4)


def test_horizons_share_their_episodes(g1: Robot) -> None:
    """Lost in the 4th and in the 10th step: the first second knows of both, the first 0.2 s of one."""
    made = evaluator(g1, still(g1, loop=True), horizon=1.0)
    short, long = made.run_each(Script(made, {4: lose(1), 10: lose(2)}), [0.2, 1.0], start="beginning")
    assert short.success == pytest.approx((3.0 + 3 / 6) / 4) and short.horizon == 0.2
    assert long.success == pytest.approx((2.0 + 3 / 30 + 9 / 30) / 4) and long.horizon == 1.0


def test_a_horizon_among_others_is_judged_as_if_alone(g1: Robot) -> None:
    """An unevenly moving robot, so that errors grow: the same numbers to the last bit."""
    motion, shoves = still(g1, loop=True), {2: push(0, 0.1), 20: push(1, 0.3), 25: push(2, 2.0)}
    among, alone = evaluator(g1, motion, horizon=1.0), evaluator(g1, motion, horizon=0.5)
    short, long = among.run_each(Script(among, shoves), [0.5, 1.0], seed=3)
    assert short == alone.run(Script(alone, shoves), seed=3)
    assert long.success < short.success == 1.0 and long.position_error > short.position_error > 0.0


def test_who_starts_late_has_less_to_track(g1: Robot) -> None:
    """Random starts: the denominators are what is left of the clip, in control steps rounded up."""
    made = evaluator(g1, still(g1), episodes=40)
    clip, frame = made.environment.library.draw(40, torch.Generator().manual_seed(5))
    steps = ((60 - frame) / 4).ceil()
    assert not clip.any() and len(set(steps.tolist())) > 8
    assert made.run(Script(made, {}), seed=5).success == 1.0
    result = made.run(Script(made, {4: lose(*range(40))}), seed=5)
    assert result.success == pytest.approx(float((steps.clamp(max=3) / steps).mean()), abs=1e-6)


def test_a_second_episode_does_not_count(g1: Robot) -> None:
    made = evaluator(g1, still(g1))
    twice = {2: lose(0), 6: lose(0, 3)}
    result = made.run(Script(made, twice), start="beginning")
    assert result.success == pytest.approx((1 / 15 + 1.0 + 1.0 + 5 / 15) / 4)


def test_success_at_half_a_metre_is_counted_too(g1: Robot) -> None:
    """0.7 m is within 1 m, but not within 0.5 m; coming back does not help."""
    made = evaluator(g1, still(g1))
    result = made.run(Script(made, {7: push(1, 0.7), 9: push(1, -0.7), 4: push(2, 0.3)}), start="beginning")
    assert result.success == 1.0
    assert result.success_strict == pytest.approx((3.0 + 6 / 15) / 4)
    closer = evaluator(g1, still(g1), distance=0.6)
    result = closer.run(Script(closer, {7: push(1, 0.7)}), start="beginning")
    assert result.success == result.success_strict == pytest.approx((3.0 + 6 / 15) / 4)
    assert result.distance == 0.6


def test_vaults_are_evaluated_at_half_a_metre(g1: Robot) -> None:
    assert evaluator(g1, still(g1, name="g1_double_kong")).distance == 0.5
    assert evaluator(g1, still(g1, name="walk")).distance == 1.0


def test_every_clip_is_begun(g1: Robot) -> None:
    made, seen = evaluator(g1, still(g1, seconds=0.2), still(g1, seconds=1.0), episodes=5), []
    made.run(Script(made, {1: lambda environment, _: seen.append(environment.clip.tolist())}), start="beginning")
    assert seen == [[0, 1, 0, 1, 0]]


def test_pooled_success_weighs_episodes_by_what_could_be_tracked(g1: Robot) -> None:
    """6 and 30 steps: of the short episode all is tracked, of the long one three steps. Mean 0.55, pooled a quarter."""
    made = evaluator(g1, still(g1, seconds=0.2), still(g1, seconds=1.0), episodes=2)
    result = made.run(Script(made, {4: lose(1)}), start="beginning")
    assert (result.success, result.success_pooled) == pytest.approx(((1.0 + 3 / 30) / 2, 9 / 36))


def test_every_tracked_frame_can_be_kept(g1: Robot) -> None:
    """The errors of an evaluation are the means of its frames; nothing is known of frames after a loss."""
    made = evaluator(g1, still(g1), episodes=2)
    (result,), episodes = made.trace(Script(made, {2: push(0, 0.3), 6: lose(1)}), [0.5], start="beginning")
    assert episodes.position_error.shape == (2, 15) and episodes.clip.tolist() == episodes.frame.tolist() == [0, 0]
    assert np.isfinite(episodes.position_error).sum(axis=1).tolist() == [15, 5]
    assert np.nanmean(episodes.position_error) == pytest.approx(result.position_error, rel=1e-5)
    assert np.nanmean(episodes.rotation_error) == pytest.approx(result.rotation_error, rel=1e-5)


# Errors over a rollout


def test_each_clip_has_its_own_share(g1: Robot) -> None:
    """Three clips, begun in turn; the second episode of the second is lost after 15 of its 30 steps."""
    clips = [still(g1, seconds=1.0) for _ in range(3)]
    made = evaluator(g1, *clips, episodes=5)
    assert made.run(Script(made, {16: lose(4)}), start="beginning").success_by_clip == (1.0, 0.75, 1.0)
    few = evaluator(g1, *clips, episodes=2)
    assert few.run(Script(few, {}), start="beginning").success_by_clip == (1.0, 1.0, None)


def test_errors_are_means_over_frames_before_a_loss(g1: Robot) -> None:
    """One robot 0.3 m off for all its 15 steps, the other not at all and lost in the 6th."""
    made = evaluator(g1, still(g1), episodes=2)
    result = made.run(Script(made, {1: push(0, 0.3), 6: lose(1)}), start="beginning")
    assert result.root_error == pytest.approx(0.3 * 15 / 20, abs=0.01)
    assert result.body_error < 0.05
    assert result.position_error == pytest.approx((29 * result.body_error + result.root_error) / 30, rel=1e-4)
    low, high = result.position_interval
    assert low < result.position_error < high
    assert 0.0 < result.rotation_error < 0.2


def test_a_robot_on_its_reference_has_no_error(g1: Robot) -> None:
    """Put back before each step, all that is left is one physics step of falling."""

    def back(environment: TrackingEnvironment, _: Tensor) -> None:
        positions, velocities = environment.library.at(environment.clip, environment.frame).states()
        environment.simulation.reset(torch.arange(2).numpy(), positions.numpy(), velocities.numpy())

    made = evaluator(g1, still(g1), episodes=2)
    result = made.run(Script(made, dict.fromkeys(range(1, 16), back)), start="beginning")
    assert result.success == 1.0
    assert max(result.position_error, result.root_error, result.body_error) < 0.005
    assert result.rotation_error < 0.02


def test_nothing_tracked_has_no_error_and_no_success(g1: Robot) -> None:
    made = evaluator(g1, still(g1))
    result = made.run(Script(made, {1: lose(0, 1, 2, 3)}), start="beginning")
    assert result.success == result.success_strict == 0.0
    assert result.position_error is None and result.rotation_error is None


def test_an_evaluation_repeats(g1: Robot, walking: Motion) -> None:
    made = evaluator(g1, walking, horizon=0.5)
    first, again, other = (made.run(Script(made, {}), seed=seed) for seed in (0, 0, 1))
    assert first == again != other
    made.run(Script(made, {2: lose(0)}), seed=3)
    assert made.run(Script(made, {}), seed=0) == first


# Samples to success


def curve(*points: tuple[int, float]) -> list[Evaluation]:
    return [Evaluation(samples=samples, success=success) for samples, success in points]


def test_samples_are_interpolated_between_evaluations() -> None:
    found = samples_to(curve((0, 0.1), (1000, 0.6), (2000, 1.0), (3000, 0.2), (4000, 1.0)))
    assert found == pytest.approx(1500.0)
    assert samples_to(curve((0, 0.1), (1000, 0.8), (2000, 0.9))) == 1000.0
    assert samples_to(curve((0, 0.1), (1000, 0.6)), success=0.5) == pytest.approx(800.0)


def test_success_at_once_and_never() -> None:
    assert samples_to(curve((500, 0.9), (1000, 0.1))) == 500.0
    assert samples_to(curve((0, 0.1), (1000, 0.79))) is None
    assert samples_to([]) is None
