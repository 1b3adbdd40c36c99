"""The clips of a study: all, those a prior was trained on, or those it was not, by the prior's own list."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from tests.score.priors import refused

from pfmhr.corpus import build_corpus
from pfmhr.motion import Motion
from pfmhr.motion.embedded import embedded_motion
from pfmhr.prior import NetworkConfig, PosePrior, PriorConfig, TrainConfig, train_prior
from pfmhr.prior.normalisation import Normalisation
from pfmhr.prior.prior import new_denoiser
from pfmhr.robots import Robot
from pfmhr.studies.extension import extension_study
from pfmhr.studies.material import held_out_motions, study_motions

torch.set_num_threads(1)  # two test workers share two cores

TOY = PriorConfig(network=NetworkConfig(depth=1, width=8, time_features=8))


def prior_of(g1: Robot, **about: Any) -> PosePrior:
    return PosePrior(TOY, Normalisation.from_limits(g1), "g1", g1.joint_names, new_denoiser(TOY, 29), about)


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory, make_walk: Callable[..., Motion], g1: Robot) -> Path:
    """Twelve walks, named 00 to 11, in two folders."""
    folder = tmp_path_factory.mktemp("data") / "clips"
    for number in range(12):
        place = folder / ("a" if number < 6 else "b")
        place.mkdir(parents=True, exist_ok=True)
        make_walk(frames=40, stride=0.2 + 0.02 * number).write(place / f"{number:02d}.npz", g1)
    return folder


def names(motions: Sequence[Motion]) -> list[str]:
    return [motion.name for motion in motions]


EVERY = [f"{number:02d}" for number in range(12)]


def test_all_clips_in_order(clips: Path, g1: Robot) -> None:
    assert names(study_motions(prior_of(g1), [clips])) == EVERY
    assert names(study_motions(prior_of(g1), [clips / "b", clips / "a" / "01.npz"])) == [*EVERY[6:], "01"]


def test_the_priors_own_list_says_what_it_has_not_seen(clips: Path, g1: Robot) -> None:
    prior = prior_of(g1, held_out_sources=[["clips/a/03.npz", ""], ["clips/b/10.npz", ""]])
    assert names(study_motions(prior, [clips], "held-out")) == ["03", "10"]
    assert names(study_motions(prior, [clips], "trained")) == [name for name in EVERY if name not in ("03", "10")]
    assert names(study_motions(prior, [clips], "all")) == EVERY
    assert names(study_motions(prior, [clips / "b"], "held-out")) == ["10"]


def test_a_trained_priors_list_fits_the_files_it_was_trained_on(clips: Path, tmp_path: Path, g1: Robot) -> None:
    corpus = build_corpus(tmp_path / "corpus", [clips], g1)
    train = TrainConfig(steps=1, batch_size=8, distinct_times=4, held_out=0.3)
    prior = train_prior(tmp_path / "prior", corpus, g1, TOY, train)
    held_out = {Path(path).stem for path, _ in prior.about["held_out_sources"]}
    assert 0 < len(held_out) < 12
    loaded = PosePrior.load(tmp_path / "prior")
    assert set(names(study_motions(loaded, [clips], "held-out"))) == held_out
    assert set(names(study_motions(loaded, [clips], "trained"))) == set(EVERY) - held_out


def test_clips_of_one_file_are_told_apart(
    make_walk: Callable[..., Motion], raw: Any, tmp_path: Path, g1: Robot
) -> None:
    """Of the three clips of a file the prior has not seen the second."""
    motions = [make_walk(frames=40, stride=0.2 + 0.1 * number, name=f"clip{number}") for number in range(3)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "all.pkl").write_bytes(raw.asap(*motions))
    corpus = build_corpus(tmp_path / "corpus", [tmp_path / "data"], g1)
    assert [[source.path, source.clip] for source in corpus.sources][1] == ["data/all.pkl", "clip1"]
    prior = prior_of(g1, held_out_sources=[["data/all.pkl", "clip1"]])
    assert names(study_motions(prior, [tmp_path / "data"], "held-out")) == ["clip1"]
    assert names(study_motions(prior, [tmp_path / "data"], "trained")) == ["clip0", "clip2"]


def test_files_of_the_same_name_in_other_folders_are_told_apart(
    make_walk: Callable[..., Motion], tmp_path: Path, g1: Robot
) -> None:
    for number, folder in enumerate(("first", "second", "third")):
        (tmp_path / "data" / folder).mkdir(parents=True)
        make_walk(frames=40, stride=0.2 + 0.1 * number).write(tmp_path / "data" / folder / "take.npz", g1)
    corpus = build_corpus(tmp_path / "corpus", [tmp_path / "data"], g1)
    assert corpus.sources[1].path == "data/second/take.npz"
    prior = prior_of(g1, held_out_sources=[["data/second/take.npz", ""]])
    found = study_motions(prior, [tmp_path / "data"], "held-out")
    assert [Path(motion.source).parent.name for motion in found] == ["second"]
    others = study_motions(prior, [tmp_path / "data"], "trained")
    assert [Path(motion.source).parent.name for motion in others] == ["first", "third"]


@pytest.mark.parametrize("about", [{}, {"held_out_sources": []}])
def test_a_prior_without_a_list_is_refused_where_it_is_needed(about: dict[str, Any], clips: Path, g1: Robot) -> None:
    for seen in ("trained", "held-out"):
        with refused("bad_prior", "--clips all"):
            study_motions(prior_of(g1, **about), [clips], seen)
    assert len(study_motions(prior_of(g1, **about), [clips], "all")) == 12


def test_of_one_clip_none_is_left_to_study(g1: Robot, tmp_path: Path) -> None:
    embedded_motion("squat", g1).write(tmp_path / "squat.npz")
    corpus = build_corpus(tmp_path / "corpus", [tmp_path / "squat.npz"], g1)
    with refused("no_transitions", "of one clip none is left", "several clips"):
        held_out_motions([tmp_path / "squat.npz"], corpus, g1, TrainConfig())


def test_a_clip_of_which_the_beginning_was_seen_is_not_held_out(clips: Path, g1: Robot) -> None:
    prior = prior_of(g1, held_out_sources=[["clips/a/03.npz", "", 40], ["clips/b/10.npz", ""]])
    assert names(study_motions(prior, [clips], "held-out")) == ["10"]


def test_clips_that_make_no_two_halves_are_told(g1: Robot, tmp_path: Path) -> None:
    embedded_motion("squat", g1).write(tmp_path / "squat.npz")
    with refused("bad_input", "do not fall into two halves", "of 1 in the first half", "more clips"):
        extension_study([tmp_path / "squat.npz"], tmp_path / "out", g1, TrainConfig())


def test_at_most_so_many_are_chosen_by_the_seed_and_stay_in_order(clips: Path, g1: Robot) -> None:
    prior = prior_of(g1)
    chosen = names(study_motions(prior, [clips], most=5, seed=3))
    assert len(chosen) == 5 and chosen == sorted(set(chosen))
    assert names(study_motions(prior, [clips], most=5, seed=3)) == chosen
    assert len({tuple(names(study_motions(prior, [clips], most=5, seed=seed))) for seed in range(8)}) > 4
    assert names(study_motions(prior, [clips], most=12, seed=3)) == EVERY
    assert names(study_motions(prior, [clips], most=500, seed=3)) == EVERY


def test_the_choice_is_among_the_clips_that_count(clips: Path, g1: Robot) -> None:
    prior = prior_of(g1, held_out_sources=[[f"clips/a/{number:02d}.npz", ""] for number in range(4)])
    assert len(study_motions(prior, [clips], "held-out", most=3)) == 3
    assert set(names(study_motions(prior, [clips], "held-out", most=3))) < {"00", "01", "02", "03"}


def test_data_without_such_a_clip_is_refused(clips: Path, g1: Robot) -> None:
    prior = prior_of(g1, held_out_sources=[["clips/a/03.npz", ""]])
    with refused("no_transitions", "held-out", str(clips / "b")):
        study_motions(prior, [clips / "b"], "held-out")
    with refused("no_transitions", "trained"):
        study_motions(prior, [clips / "a" / "03.npz"], "trained")


def test_a_csv_without_a_frame_rate_is_read_at_30_hz(clips: Path, tmp_path: Path, raw: Any, g1: Robot) -> None:
    (tmp_path / "walk.csv").write_bytes(raw.unitree_csv(study_motions(prior_of(g1), [clips], most=1)[0]))
    (motion,) = study_motions(prior_of(g1), [tmp_path / "walk.csv"])
    assert motion.fps == 30.0 and motion.num_frames == 40
    assert "30 Hz assumed" in motion.notes[0]


def test_a_prior_for_other_joints_is_refused(clips: Path, g1: Robot) -> None:
    prior = prior_of(g1)
    prior.joint_names = tuple(reversed(prior.joint_names))
    with refused("wrong_robot"):
        study_motions(prior, [clips])


def test_poses_are_those_of_the_files(clips: Path, g1: Robot) -> None:
    motion = study_motions(prior_of(g1), [clips / "b"])[2]
    assert np.array_equal(motion.joint_pos, Motion.read(clips / "b" / "08.npz", g1).joint_pos)
