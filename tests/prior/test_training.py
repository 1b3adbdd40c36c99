"""Training: repeatable to the bit, killable, resumable, and it learns what is known."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from pfmhr.corpus import PoseCorpus, add_to_corpus, build_corpus
from pfmhr.corpus.split import held_out_sources, split_by_source
from pfmhr.errors import InputError
from pfmhr.learning.logging import read_metrics
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import PosePrior, PriorConfig, TrainConfig, extend_prior, preset, train_prior
from pfmhr.prior.batches import draw_batch
from pfmhr.prior.heldout import held_out_loss
from pfmhr.robots import Robot

from .conftest import SMALL_RUN, TOY


class Stop:
    """Interrupts training, as Ctrl-C does, when a step is reached."""

    def __init__(self, *steps: int) -> None:
        self.steps = steps

    def __call__(self, step: int, total: int, remark: str) -> None:
        if step in self.steps:
            raise KeyboardInterrupt


def test_a_run_interrupted_twice_ends_with_the_same_bits(toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    straight = train_prior(tmp_path / "straight", toy_corpus, g1, TOY, SMALL_RUN)
    said: list[str] = []
    for step in (15, 25):
        with pytest.raises(KeyboardInterrupt):
            train_prior(tmp_path / "broken", toy_corpus, g1, TOY, SMALL_RUN, said.append, Stop(step))
    resumed = train_prior(tmp_path / "broken", toy_corpus, g1, TOY, SMALL_RUN, said.append)
    assert resumed.hash == straight.hash
    assert "going on after step 25 of 40" in said[-1]
    metrics = [
        [
            {key: value for key, value in line.items() if key != "poses_per_second"}
            for line in read_metrics(tmp_path / run)
        ]
        for run in ("straight", "broken")
    ]
    assert metrics[0] == metrics[1]


@pytest.mark.parametrize("within", ["step", "update_parameters"])
def test_ctrl_c_within_a_step_waits_for_its_end(
    toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot, monkeypatch: pytest.MonkeyPatch, within: str
) -> None:
    """Pressed while weights are changed, or half of what follows from them: that step is done, or not at all."""
    straight = train_prior(tmp_path / "straight", toy_corpus, g1, TOY, SMALL_RUN)
    owner = torch.optim.AdamW if within == "step" else torch.optim.swa_utils.AveragedModel
    whole, calls = getattr(owner, within), iter(range(100))

    def pressed(*things: Any, **others: Any) -> Any:
        done = whole(*things, **others)
        if next(calls) == 11:
            signal.raise_signal(signal.SIGINT)
        return done

    monkeypatch.setattr(owner, within, pressed)
    said: list[str] = []
    with pytest.raises(KeyboardInterrupt):
        train_prior(tmp_path / "broken", toy_corpus, g1, TOY, SMALL_RUN, said.append)
    assert "stopped after step 12;" in said[-1]
    assert train_prior(tmp_path / "broken", toy_corpus, g1, TOY, SMALL_RUN).hash == straight.hash


def test_ctrl_c_pressed_twice_within_a_step_leaves_the_last_checkpoint(
    toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second press does not wait, and half a step is no state to go on from."""
    straight = train_prior(tmp_path / "straight", toy_corpus, g1, TOY, SMALL_RUN)
    whole, calls = torch.optim.AdamW.step, iter(range(100))

    def pressed(*things: Any, **others: Any) -> Any:
        done = whole(*things, **others)
        if next(calls) == 11:
            signal.raise_signal(signal.SIGINT)
            signal.raise_signal(signal.SIGINT)
        return done

    said: list[str] = []
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(torch.optim.AdamW, "step", pressed)
        train_prior(tmp_path / "broken", toy_corpus, g1, TOY, SMALL_RUN, said.append)
    assert not any("stopped after" in line for line in said)
    assert train_prior(tmp_path / "broken", toy_corpus, g1, TOY, SMALL_RUN).hash == straight.hash


def test_the_same_command_accepts_its_result_and_another_is_refused(
    toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train_prior(tmp_path / "run", toy_corpus, g1, TOY, SMALL_RUN)
    said: list[str] = []
    assert train_prior(tmp_path / "run", toy_corpus, g1, TOY, SMALL_RUN, said.append).hash == first.hash
    assert "already trained" in said[0]
    monkeypatch.setattr("pfmhr.prior.runs.exclusive", lambda _: pytest.fail("wanted to write"))
    assert train_prior(tmp_path / "run", toy_corpus, g1, TOY, SMALL_RUN).hash == first.hash  # nor does it have to
    with pytest.raises(InputError, match="seed 0 → 1"):
        train_prior(tmp_path / "run", toy_corpus, g1, TOY, replace(SMALL_RUN, seed=1))


def test_seeds_decide_the_result(toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    hashes = {
        train_prior(tmp_path / f"run{n}", toy_corpus, g1, TOY, replace(SMALL_RUN, seed=seed)).hash
        for n, seed in enumerate((0, 0, 1))
    }
    assert len(hashes) == 2


KILLED_RUN = """
    import sys
    from pathlib import Path
    import torch
    from pfmhr import PoseCorpus, Robot
    from pfmhr.prior import NetworkConfig, PriorConfig, TrainConfig, train_prior

    torch.set_num_threads(1)
    config = PriorConfig(network=NetworkConfig(depth=2, width=16, time_features=8))
    train = TrainConfig(steps=400, batch_size=64, distinct_times=8, warmup=5, checkpoint_every=3, evaluate_every=50)
    print("ready", flush=True)
    prior = train_prior(Path(sys.argv[2]), PoseCorpus.open(sys.argv[1]), Robot.load("g1"), config, train)
    print(prior.hash, flush=True)
"""


def test_killed_and_resumed_ends_with_the_same_bits(toy_corpus: PoseCorpus, tmp_path: Path) -> None:
    def start(run: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", textwrap.dedent(KILLED_RUN), str(toy_corpus.path), str(tmp_path / run)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    straight = start("straight")
    whole = straight.communicate()[0].split()[-1]
    for delay in (0.3, 0.8):
        process = start("killed")
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    out, errors = start("killed").communicate()
    assert out.split()[-1] == whole, errors


def test_divergence_stops_the_run_and_says_where(toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    wild = replace(SMALL_RUN, learning_rate=1e20, warmup=1, gradient_clip=1e30, gradient_limit=1e6)
    with pytest.raises(InputError, match=r"diverged at step \d+.*batch rows \d+.*checkpoint") as error:
        train_prior(tmp_path / "run", toy_corpus, g1, TOY, wild)
    assert error.value.code == "diverged"
    assert not (tmp_path / "run" / "config.json").exists()


def test_a_run_that_failed_before_its_first_checkpoint_does_not_block_the_corrected_one(
    toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot
) -> None:
    wild = replace(SMALL_RUN, learning_rate=1e20, warmup=1, gradient_clip=1e30)
    with pytest.raises(InputError, match="diverged"):
        train_prior(tmp_path / "run", toy_corpus, g1, TOY, wild)
    corrected = train_prior(tmp_path / "run", toy_corpus, g1, TOY, SMALL_RUN)
    assert corrected.hash == train_prior(tmp_path / "straight", toy_corpus, g1, TOY, SMALL_RUN).hash
    steps = [[line["step"] for line in read_metrics(tmp_path / name)] for name in ("run", "straight")]
    assert steps[0] == steps[1]


def test_a_run_that_failed_after_a_checkpoint_stays_what_it_is(
    toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot
) -> None:
    def fail(step: int, total: int, remark: str) -> None:
        if step == 15:
            raise OSError("a terminal that is gone")

    with pytest.raises(OSError, match="gone"):
        train_prior(tmp_path / "run", toy_corpus, g1, TOY, SMALL_RUN, progress=fail)
    with pytest.raises(InputError, match="seed 0 → 1"):
        train_prior(tmp_path / "run", toy_corpus, g1, TOY, replace(SMALL_RUN, seed=1))


def test_a_corpus_too_small_to_hold_any_out_leaves_nothing_behind(tmp_path: Path, g1: Robot) -> None:
    one = PoseCorpus.from_array(tmp_path / "one", g1.default_pose[None], robot=g1)
    with pytest.raises(InputError, match="too few poses"):
        train_prior(tmp_path / "run", one, g1, TOY, SMALL_RUN)
    assert not (tmp_path / "run").exists()


def test_any_number_of_processes_draws_the_same_batch(toy_corpus: PoseCorpus) -> None:
    rows = split_by_source(toy_corpus, 0.05, 0).train
    whole = draw_batch(toy_corpus, rows, TOY.time, SMALL_RUN, step=7)
    for world in (2, 4):
        parts = [draw_batch(toy_corpus, rows, TOY.time, SMALL_RUN, 7, rank, world) for rank in range(world)]
        for name in ("poses", "noise", "flow_time"):
            assert torch.equal(torch.cat([getattr(part, name) for part in parts]), getattr(whole, name))


def test_two_processes_learn_what_one_learns(toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    one = train_prior(
        tmp_path / "one", toy_corpus, g1, replace(TOY, network=preset("tiny")), replace(SMALL_RUN, steps=20)
    )
    arguments = [
        *("prior", "train", str(toy_corpus.path), "-o", str(tmp_path / "two"), "--preset", "tiny"),
        *("--steps", "20", "--batch-size", "64", "--distinct-times", "8", "--threads", "1"),
    ]
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "-m", "pfmhr"]
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    settings = json.loads((tmp_path / "two" / "run.json").read_text())["training"]
    alone = train_prior(
        tmp_path / "alone", toy_corpus, g1, replace(TOY, network=preset("tiny")), TrainConfig(**settings)
    )
    two = PosePrior.load(tmp_path / "two")
    for name, value in alone.denoiser.state_dict().items():
        assert torch.allclose(two.denoiser.state_dict()[name], value, atol=2e-5), name
    assert two.normalisation == one.normalisation
    again = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    assert again.returncode == 0 and again.stdout.count("already trained") == 1, again.stderr[-2000:]


def test_extending_keeps_the_normalisation_and_the_old_prior(tmp_path: Path, g1: Robot) -> None:
    clips = [embedded_motion(name, g1, seed=seed) for name in ("walk", "squat") for seed in range(4)]
    corpus = build_corpus(tmp_path / "corpus", clips[:4], g1)
    first = train_prior(tmp_path / "first", corpus, g1, TOY, SMALL_RUN)
    grown = add_to_corpus(tmp_path / "corpus", clips, g1)
    second = extend_prior(first, tmp_path / "second", grown, g1, SMALL_RUN)
    assert second.normalisation == first.normalisation
    assert second.hash != first.hash == PosePrior.load(tmp_path / "first").hash
    assert second.about["extends"] == first.hash


def test_a_source_is_never_on_both_sides_and_keeps_its_side_as_the_corpus_grows(tmp_path: Path, g1: Robot) -> None:
    clips = [embedded_motion("squat", g1, seed=seed) for seed in range(12)]
    small = build_corpus(tmp_path / "corpus", clips[:8], g1)
    sides = []
    for corpus in (small, add_to_corpus(tmp_path / "corpus", clips, g1)):
        split = split_by_source(corpus, 0.3, seed=1)
        train = set(split.train.rows(np.arange(len(split.train))))
        held = set(split.held_out.rows(np.arange(len(split.held_out))))
        assert not train & held and len(train | held) == len(corpus)
        side = {source.path: source.start in held for source in corpus.sources}
        for source in corpus.sources:
            rows = set(range(source.start, source.start + source.rows))
            assert rows <= (held if side[source.path] else train)
        sides.append(side)
    assert {path: sides[1][path] for path in sides[0]} == sides[0]
    assert any(sides[1].values())


def test_a_clip_that_was_cut_stays_cut_as_the_corpus_grows(tmp_path: Path, g1: Robot) -> None:
    """The only clip at first: its beginning was trained on, and its end is held out for good."""
    clips = [embedded_motion("squat", g1, seed=seed) for seed in range(12)]
    alone = build_corpus(tmp_path / "corpus", clips[:1], g1)
    first = train_prior(tmp_path / "first", alone, g1, TOY, SMALL_RUN)
    kept = len(split_by_source(alone, SMALL_RUN.held_out, SMALL_RUN.seed).train)
    assert first.about["held_out_sources"] == [[alone.sources[0].path, "", kept]]
    grown = add_to_corpus(tmp_path / "corpus", clips, g1)
    for fraction in (0.05, 0.9):  # by its hash it would be trained on, or held out
        split = split_by_source(grown, fraction, 0, first.about["held_out_sources"])
        train, held = (set(side.rows(np.arange(len(side)))) for side in (split.train, split.held_out))
        assert set(range(kept)) <= train and set(range(kept, len(alone))) <= held
        assert not train & held and len(train | held) == len(grown)
        again = split_by_source(grown, fraction, 0, held_out_sources(grown, split))
        assert np.array_equal(again.held_out.starts, split.held_out.starts)


def test_what_was_held_out_for_want_of_others_stays_so(tmp_path: Path, g1: Robot) -> None:
    """Of eight clips none is among the lowest 5 % of hashes, so the lowest is taken; a later one lies lower."""
    clips = [embedded_motion("squat", g1, seed=seed) for seed in range(12)]
    first = train_prior(tmp_path / "first", build_corpus(tmp_path / "corpus", clips[:8], g1), g1, TOY, SMALL_RUN)
    (kept,) = first.about["held_out_sources"]
    grown = add_to_corpus(tmp_path / "corpus", clips, g1)
    train = split_by_source(grown, 0.05, 0).train
    place = {source.path: source.start for source in grown.sources}
    assert place[kept[0]] in train.rows(np.arange(len(train)))  # by the hash alone it would be trained on
    second = extend_prior(first, tmp_path / "second", grown, g1, SMALL_RUN)
    assert kept in second.about["held_out_sources"]


def test_held_out_clips_are_seen_at_all_times() -> None:
    """A loss that tells at which time it saw which pose: two clips, one after the other, have the same mean time."""
    seen: dict[int, list[float]] = {0: [], 1: []}

    class Watching:
        def loss(self, poses: torch.Tensor, noise: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
            at_each = times.expand(poses.shape[:2]).flatten().tolist()
            for clip, at in zip(poses[..., 0].flatten().tolist(), at_each, strict=True):
                seen[int(clip)].append(at)
            return torch.zeros(poses.shape[:2])

    clips = torch.arange(2).repeat_interleave(640)[:, None].float()
    held_out_loss(Watching(), clips, TOY.time)  # type: ignore[arg-type]
    means = [sum(times) / len(times) for times in seen.values()]
    assert len(seen[0]) == len(seen[1]) == 640 and means[0] == pytest.approx(means[1], abs=0.03)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"prediction": "x"}, "clean, velocity"),
        ({"normalisation": "limit"}, "Did you mean 'limits'"),
    ],
)
def test_a_prior_of_an_unknown_kind_is_refused(change: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError, match=told):
        PriorConfig(**change)


@pytest.mark.parametrize(
    "change",
    [
        *({"schedule": "const"}, {"checkpoint_every": 0}, {"evaluate_every": 0}, {"log_every": 0}, {"warmup": -1}),
        *({"weight_decay": -0.1}, {"weight_decay": math.nan}, {"gradient_clip": 0.0}, {"gradient_limit": math.nan}),
        *({"ema_decay": 1.0}, {"ema_decay": math.nan}, {"held_out": -1.0}, {"learning_rate": math.inf}),
    ],
    ids=str,
)
def test_training_that_cannot_be_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        TrainConfig(**change)


def test_it_learns_the_posterior_of_a_gaussian(tmp_path: Path, g1: Robot) -> None:
    """For x ~ N(0, s²) per joint, F(z, t) = t·s²·z/(t²s² + (1 − t)²): here s = 1 after normalisation."""
    poses = np.random.default_rng(0).normal(size=(20_000, 29)) * np.linspace(0.1, 1.0, 29)
    corpus = PoseCorpus.from_array(tmp_path / "gaussian", poses, robot=g1)
    train = TrainConfig(steps=600, batch_size=256, distinct_times=32, warmup=50, ema_decay=0.98, learning_rate=3e-3)
    prior = train_prior(tmp_path / "run", corpus, g1, PriorConfig(network=preset("tiny")), train)
    generator = torch.Generator().manual_seed(0)
    for flow_time in (0.5, 0.75):
        spread = flow_time**2 + (1 - flow_time) ** 2
        noisy = spread**0.5 * torch.randn(500, 29, generator=generator)
        expected = flow_time / spread * noisy
        error = (prior.denoise(noisy, flow_time) - expected).norm() / expected.norm()
        assert float(error) < 0.15


def test_two_processes_cannot_train_in_one_directory(toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    refused: list[InputError] = []

    def intrude(step: int, total: int, remark: str) -> None:
        with pytest.raises(InputError, match="another process is writing here") as caught:
            train_prior(tmp_path / "run", toy_corpus, g1, TOY, SMALL_RUN)
        refused.append(caught.value)

    train_prior(tmp_path / "run", toy_corpus, g1, TOY, SMALL_RUN, progress=intrude)
    assert refused and all(error.code == "locked" for error in refused)


def test_a_prior_knows_which_sources_it_was_not_trained_on(tmp_path: Path, g1: Robot) -> None:
    motions = [embedded_motion(name, g1) for name in ("walk", "run", "squat", "bow", "wave", "march")]
    corpus = PoseCorpus.build(tmp_path / "corpus", motions, robot=g1)
    prior = train_prior(tmp_path / "run", corpus, g1, TOY, replace(SMALL_RUN, held_out=0.4))
    split = split_by_source(corpus, 0.4, SMALL_RUN.seed)
    expected = [[s.path, s.clip] for s in corpus.sources if s.start in split.held_out.starts]
    assert expected and prior.about["held_out_sources"] == expected
    assert PosePrior.load(tmp_path / "run").about["held_out_sources"] == expected


@pytest.mark.slow
def test_a_compiled_step_learns_the_same(toy_corpus: PoseCorpus, tmp_path: Path, g1: Robot) -> None:
    """Compilation reorders sums: losses agree to 1e-4 of themselves, the final clean poses to 1e-3."""
    plain = train_prior(tmp_path / "plain", toy_corpus, g1, TOY, SMALL_RUN)
    compiled = train_prior(tmp_path / "compiled", toy_corpus, g1, TOY, replace(SMALL_RUN, compile=True))
    losses = [
        [line["loss"] for line in read_metrics(tmp_path / run) if "loss" in line] for run in ("plain", "compiled")
    ]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    poses = torch.randn(64, 29, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(plain.denoise(poses, 0.75), compiled.denoise(poses, 0.75), atol=1e-3)
