"""Training a tracker: one loop that tells the whole story."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from pfmhr.errors import InputError
from pfmhr.learning.interruption import deferred_interruption
from pfmhr.learning.logging import RunLog
from pfmhr.learning.state import load_state, save_state
from pfmhr.motion import Motion
from pfmhr.results.evaluation import Evaluation, with_horizons
from pfmhr.results.records import from_json, to_json
from pfmhr.results.run_result import CONVERGED
from pfmhr.robots import Robot
from pfmhr.tracking.config import TrackerConfig
from pfmhr.tracking.env.environment import TrackingEnvironment
from pfmhr.tracking.modulation import make_modulator
from pfmhr.tracking.ppo.algorithm import TrackerPPO
from pfmhr.tracking.ppo.networks import Policy
from pfmhr.tracking.rewards import reward_kind
from pfmhr.tracking.runs.evaluation import Evaluator

CHECKPOINT = "checkpoint.safetensors"
UNSTABLE = 0.25
"""Share of an iteration's steps after which a simulation may be none, by NaN or impossible speeds."""

Say = Callable[[str], object]
Progress = Callable[[int, int, str], object]


class Training:
    """A tracker in training: environment, algorithm, evaluation and where they stand."""

    def __init__(
        self, directory: Path, robot: Robot, motions: Sequence[Motion], config: TrackerConfig, threads: int | None
    ) -> None:
        torch.manual_seed(config.seed)
        self.directory, self.config, self.motions = directory, config, tuple(motions)
        self.environment = TrackingEnvironment(
            robot,
            motions,
            config.environment,
            seed=config.seed,
            threads=threads,
            body_motion="body_motion" in reward_kind(config.reward).needs,
        )
        modulator = make_modulator(config.modulator, motions, self.environment.dt)
        self.algorithm = TrackerPPO(self.environment, config, modulator)
        self.evaluator = Evaluator(
            robot,
            motions,
            config.environment,
            config.evaluation_episodes,
            horizon=max(config.evaluated),
            threads=threads,
            library=self.environment.library,
        )
        self.iteration = 0
        self.seconds = {"simulation": 0.0, "evaluation": 0.0, "inference": 0.0}
        self.evaluations: list[Evaluation] = []
        self._elapsed, self._begun = 0.0, time.perf_counter()

    @property
    def elapsed(self) -> float:
        """s this run has taken all in all: up to the last checkpoint of earlier processes, and since we began."""
        return self._elapsed + time.perf_counter() - self._begun

    @property
    def samples(self) -> int:
        """Transitions seen."""
        return self.iteration * self.config.samples_per_iteration

    def run(self, say: Say = lambda _: None, progress: Progress | None = None) -> None:
        """Train, or go on training, to the end; safe to kill at any moment, Ctrl-C saves first."""
        self._restore(say)
        log = RunLog(self.directory, self.samples if self.evaluations else -1)
        started, first, whole = time.perf_counter(), self.samples, True
        self.algorithm.train_mode()
        try:
            if not self.iteration and not self.evaluations:
                self._evaluate(log)
            observations = self.environment.get_observations()
            while self.iteration < self.config.iterations:
                with deferred_interruption() as interruption:
                    whole = False
                    exploded = self.environment.counts["exploded"]
                    observations = self._collect(observations)
                    self._refuse_explosions(self.environment.counts["exploded"] - exploded)
                    figures = self.algorithm.update()
                    self.iteration += 1
                    self._refuse_divergence(figures)
                    speed = (self.samples - first) / (time.perf_counter() - started)
                    about = {"iteration": self.iteration, "samples_per_second": speed}
                    log.write(self.samples, **about, **figures, **self._shares())
                    last = self.iteration == self.config.iterations
                    if last or self.iteration % self.config.evaluate_every == 0:
                        self._evaluate(log)
                    whole = True
                    if last or self.iteration % self.config.checkpoint_every == 0:
                        self.save()
                if progress:
                    success = self.evaluations[-1].success
                    text = f"success {success:.0%}, {speed:,.0f} samples/s"
                    progress(self.samples, self.config.iterations * self.config.samples_per_iteration, text)
                interruption.check()
        except KeyboardInterrupt:
            if whole:  # otherwise the last checkpoint stays: half an iteration is no state to go on from
                self.save()
                say(f"stopped after {self.samples:,} samples; the same command goes on from there")
            raise
        finally:
            log.close()

    def _collect(self, observations: Any) -> Any:
        with torch.no_grad():
            for _ in range(self.config.agent.steps):
                begun = time.perf_counter()
                actions = self.algorithm.act(observations)
                middle = time.perf_counter()
                observations, rewards, dones, extras = self.environment.step(actions)
                self.seconds["inference"] += middle - begun
                self.seconds["simulation"] += time.perf_counter() - middle
                self.algorithm.process_env_step(observations, rewards, dones, extras)
            self.algorithm.compute_returns(observations)
        return observations

    def _evaluate(self, log: RunLog) -> None:
        begun = time.perf_counter()
        self.algorithm.eval_mode()
        result = with_horizons(self.evaluator.run_each(self.policy(), self.config.evaluated))
        self.algorithm.train_mode()
        self.evaluations.append(replace(result, samples=self.samples))
        numbers = {f"evaluation_{name}": value for name, value in _numbers(result)}
        for each in result.horizons:
            numbers |= {f"evaluation_{each.horizon:g}s_{name}": value for name, value in _numbers(each)}
        log.write(self.samples, **numbers)
        self.seconds["evaluation"] += time.perf_counter() - begun

    def policy(self) -> Policy:
        """The deterministic policy as it is now."""
        return Policy(self.algorithm.actor)  # type: ignore[arg-type]

    def _shares(self) -> dict[str, float]:
        """Where the time goes, and how episodes end."""
        spent = {**self.seconds, **self.algorithm.seconds}
        total = max(1e-9, sum(spent.values()))
        shares = {f"time_{name}": value / total for name, value in spent.items()}
        return shares | {f"ended_{name}": float(count) for name, count in self.environment.counts.items()}

    def _refuse_explosions(self, exploded: int) -> None:
        """Stop at the first iteration in which the physics itself fails: nothing could be learned from it."""
        steps = self.config.samples_per_iteration
        if exploded > UNSTABLE * steps:
            fix = "Raise environment.physics_rate, or look at the robot's masses, armature and gains."
            raise InputError(
                f"unstable physics: {exploded:,} of the {steps:,} steps of iteration {self.iteration + 1} exploded",
                where=self.environment.robot.path,
                expected=f"at most {UNSTABLE:.0%}",
                fix=fix,
                code="unstable",
            )

    def _refuse_divergence(self, figures: dict[str, float]) -> None:
        bad = [name for name, value in figures.items() if not math.isfinite(value)]
        broken = self.algorithm.not_finite()
        if bad or broken:
            checkpoint = self.directory / CHECKPOINT
            kept = f"The last good state is in {checkpoint}. " if checkpoint.exists() else ""
            raise InputError(
                f"training diverged in iteration {self.iteration}",
                where=self.directory,
                expected="finite numbers",
                got=", ".join([*bad, *broken])[:200],
                fix=f"{kept}Lower the learning rate.",
                code="diverged",
            )

    def save(self) -> None:
        """Everything, to the bit."""
        state = {
            "iteration": self.iteration,
            "evaluations": [to_json(each) for each in self.evaluations],
            "seconds": {**self.seconds, **self.algorithm.seconds},
            "elapsed": self.elapsed,
            "algorithm": self.algorithm.save(),
            "environment": self.environment.state_dict(),
            "random": torch.get_rng_state(),
        }
        save_state(self.directory / CHECKPOINT, state)

    def _restore(self, say: Say) -> None:
        path = self.directory / CHECKPOINT
        if not path.exists():
            return
        state = load_state(path)
        self.iteration = int(state["iteration"])
        self.evaluations = [from_json(Evaluation, each, path, "bad_checkpoint") for each in state["evaluations"]]
        for name, value in state["seconds"].items():
            (self.seconds if name in self.seconds else self.algorithm.seconds)[name] = value
        self._elapsed = float(state["elapsed"])
        self.algorithm.load(state["algorithm"])
        self.environment.load_state_dict(state["environment"])
        torch.set_rng_state(state["random"])
        if self.iteration < self.config.iterations:
            # A run that was to be shorter was judged at its end, where a longer one is not.
            grid = self.config.evaluate_every * self.config.samples_per_iteration
            self.evaluations = [each for each in self.evaluations if (each.samples or 0) % grid == 0]
            say(f"going on after {self.samples:,} samples")


def _numbers(evaluation: Evaluation) -> list[tuple[str, float]]:
    """The figures that are curves in a log."""
    return [(name, value) for name, value in vars(evaluation).items() if isinstance(value, float)]


def samples_to(evaluations: Sequence[Evaluation], success: float = CONVERGED) -> float | None:
    """Samples at which the success rate first reached ``success``, interpolated between evaluations; or None."""
    before: Evaluation | None = None
    for now in evaluations:
        if now.success >= success:
            if before is None:
                return float(now.samples or 0)
            share = (success - before.success) / (now.success - before.success)
            return (before.samples or 0) + share * ((now.samples or 0) - (before.samples or 0))
        before = now
    return None
