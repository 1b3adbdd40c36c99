"""What the tutorial and the guides show works as shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.docs.snippets import DOCS, PAGES, alike, assert_shown, name_of, run_console, run_page, snippets

NOT_RUN: dict[str, list[str]] = {
    # MimicKit's agents and Isaac Lab's and mjlab's environments want GPUs; what the blocks do is tested below in
    # such that do not.
    "howto/own-rl-loop.md": ["class ModulatedAgent(ADDAgent):  # learning.add_agent", "import functools"],
    # BONES-SEED is 60 million poses that are not ours to ship, and torchrun starts processes on GPUs.
    "howto/sixty-million-poses.md": [
        "$ pfmhr corpus build corpora/seed bones-seed/ --category-from metadata --unmirrored",
        "$ torchrun --nproc-per-node 8 -m pfmhr prior train corpora/seed -o runs/prior --preset paper \\",
    ],
}
"""First lines of the blocks that cannot run here, and why."""


@pytest.fixture(autouse=True)
def few_threads() -> Iterator[None]:
    """Commands choose torch's threads; what they leave behind is no business of other tests."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_runs_from_top_to_bottom(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_page_has_something_to_run_in_a_language_that_is_run(page: Path) -> None:
    found = list(snippets(page))
    assert {snippet.kind for snippet in found} <= {"python", "console", "text", "{include}"}
    assert any(snippet.runs and snippet.kind in ("python", "console") for snippet in found)


def test_blocks_that_are_not_run_are_few_and_named() -> None:
    marked = {name_of(page): [s.body.splitlines()[0] for s in snippets(page) if not s.runs] for page in PAGES}
    assert {page: lines for page, lines in marked.items() if lines} == NOT_RUN


class Agent:
    """As MimicKit's: what is recorded at each step of a rollout, and rewards of all rows at once after it."""

    def __init__(self) -> None:
        self.pose, self.kept = torch.zeros(2, 1), {}
        engine = SimpleNamespace(get_dof_pos=lambda character: self.pose if character == 7 else None)
        self._env = SimpleNamespace(_engine=engine, _get_char_id=lambda: 7, _motion_ids=torch.tensor([0, 1]))
        self._exp_buffer = SimpleNamespace(
            record=lambda name, values: self.kept.setdefault(name, []).append(values),
            get_data_flat=lambda name: torch.cat(self.kept[name]),
        )

    def _record_data_pre_step(self, obs: str, info: str, action: str, action_info: str) -> None:
        self._exp_buffer.record("obs", torch.zeros(2))

    def _record_data_post_step(self, next_obs: str, r: str, done: str, next_info: str) -> None:
        self._exp_buffer.record("done", torch.zeros(2))

    def _calc_disc_rewards(self, norm_diff: torch.Tensor) -> torch.Tensor:
        return 10.0 * norm_diff

    def rollout(self) -> torch.Tensor:
        """Two steps of one joint, which goes up by one; after the first, the second robot starts anew at −7."""
        for _ in range(2):
            self._record_data_pre_step("obs", "info", "action", "action_info")
            self.pose += 1.0
            self._record_data_post_step("obs", "r", "done", "info")
            self.pose[1], self._env._motion_ids[1] = -7.0, 3
        return self._calc_disc_rewards(torch.ones(4))


def test_the_block_for_mimickit_pairs_poses_of_one_episode() -> None:
    block, _ = [snippet.body for snippet in snippets(DOCS / "howto" / "own-rl-loop.md") if not snippet.runs]
    names: dict[str, Any] = {"ADDAgent": Agent}
    exec(block, names)
    agent, seen = names["ModulatedAgent"](), []

    def modulator(before: torch.Tensor, after: torch.Tensor, dt: float, motion_id: torch.Tensor) -> torch.Tensor:
        seen.append((before.flatten().tolist(), after.flatten().tolist(), dt, motion_id.tolist()))
        return torch.tensor([1.0, 0.5, 1.0, 0.7])

    agent.modulator = modulator
    assert agent.rollout().tolist() == pytest.approx([10.0, 5.0, 10.0, 7.0])
    assert seen == [([0.0, 0.0, 1.0, -7.0], [1.0, 1.0, 2.0, -6.0], 1 / 30, [0, 1, 0, 3])]
    assert len(agent.kept["obs"]) == len(agent.kept["done"]) == 2  # and what MimicKit keeps is kept


class ManagedEnvironment:
    """As Isaac Lab's and mjlab's: rewards by terms, then resets, all within a step."""

    def __init__(self) -> None:
        self.scene = {"robot": SimpleNamespace(data=SimpleNamespace(joint_pos=torch.zeros(2, 3)))}
        self.step_dt, self.terms = 0.02, []

    def step(self, action: torch.Tensor) -> list[torch.Tensor]:
        robot = self.scene["robot"].data
        robot.joint_pos += action
        rewards = [term(self, 10.0) for term in self.terms]
        robot.joint_pos[1] = -7.0  # a reset
        return rewards


def test_the_block_for_isaac_lab_and_mjlab_pairs_poses_of_one_episode() -> None:
    """The joints at 2 and 0, before a step and before its reset, once for all terms."""
    _, block = [snippet.body for snippet in snippets(DOCS / "howto" / "own-rl-loop.md") if not snippet.runs]
    names: dict[str, Any] = {"ManagerBasedRlEnv": ManagedEnvironment}
    exec(block, names)
    seen: list[tuple[list[list[float]], list[list[float]], float]] = []

    def modulator(before: torch.Tensor, after: torch.Tensor, dt: float) -> torch.Tensor:
        seen.append((before.tolist(), after.tolist(), dt))
        return torch.tensor([0.5, 1.0])

    environment = names["Modulated"]()
    environment.index, environment.modulator = [2, 0], modulator
    environment.terms = [names["modulated"](lambda env, weight: weight * torch.ones(2)), lambda env, weight: -weight]
    rewards = environment.step(torch.tensor([[1.0, 2.0, 3.0]] * 2))
    assert rewards[0].tolist() == [5.0, 10.0] and rewards[1] == -10.0
    environment.terms.append(environment.terms[0])
    environment.step(torch.ones(2, 3))
    assert seen == [
        ([[0.0, 0.0]] * 2, [[3.0, 1.0]] * 2, 0.02),
        ([[3.0, 1.0], [-7.0, -7.0]], [[4.0, 2.0], [-6.0, -6.0]], 0.02),
    ]


@pytest.mark.parametrize(
    ("shown", "real", "same"),
    [
        ("walk 0.93", "walk   0.93", True),
        ("walk 0.93", "walk 0.95", True),
        ("walk 0.93", "walk 0.80", False),
        ("walk 0.93", "run 0.93", False),
        ("walk 0.93", "walk 0.93 m", False),
        ("walk 0.93 …", "walk 0.93 m and more", True),
        ("2,016 poses", "2,016 poses", True),
        ("2,016 poses", "2,500 poses", False),
        ("(29,) −0.70", "(29,) -0.70", True),
        ("9 of 10", "9 of 11", False),
    ],
)
def test_shown_numbers_are_the_printed_ones(shown: str, real: str, same: bool) -> None:
    assert alike(shown, real) is same


def test_shown_lines_come_in_order() -> None:
    assert_shown("one\nthree\n", "one\ntwo\nthree\n", "here")
    with pytest.raises(AssertionError, match="here: shows\none"):
        assert_shown("three\none\n", "one\ntwo\nthree\n", "here")


def test_a_command_that_fails_or_says_something_else_is_found() -> None:
    with pytest.raises(AssertionError, match="not a tracking run"):
        run_console("$ pfmhr track eval nowhere\n", "here")
    with pytest.raises(AssertionError, match="but this was printed"):
        run_console("$ pfmhr --version\nsomething else\n", "here")
