"""What the paper leaves open: units of the poses, distribution of flow times, linear maps per block.

``python experiments/prior_choices.py lafan1_g1 g1_moves`` made results/prior_choices.json; docs/priors.md says what
was decided by it.

Losses of different units and times cannot be compared. What can: samples against held-out poses in
radians, the shape of the Jacobian, and how well the score tells spoilt changes from real ones.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import tyro

from pfmhr.corpus import BuildConfig, PoseCorpus, build_corpus
from pfmhr.files import write_json
from pfmhr.motion import Motion
from pfmhr.motion.checks import find_motion_files
from pfmhr.prior import PosePrior, PriorConfig, TrainConfig, preset, train_prior
from pfmhr.prior.evaluation import evaluate_prior
from pfmhr.prior.path import TimeSampling
from pfmhr.provenance import provenance
from pfmhr.robots import Robot
from pfmhr.studies.material import held_out_motions
from pfmhr.studies.timestep import timestep_study
from pfmhr.studies.transitions import Transitions

GRID = {
    "normalisation": ("standard", "limits"),
    "time": (TimeSampling(0.0, 1.0), TimeSampling(-0.8, 0.8), TimeSampling(0.8, 0.8)),
    "linears_per_block": (2, 1),
}


def study_choices(
    data: tyro.conf.Positional[tuple[Path, ...]],
    /,
    out: Path = Path("runs/prior-choices"),
    steps: int = 1500,
    batch_size: int = 2048,
    size: str = "small",
    transitions: int = 4000,
) -> None:
    """Train the grid (each run resumable) and measure every prior alike.

    Args:
        data: motion files and folders.
        out: where corpus, runs and the result go.
        steps: of each run.
        batch_size: poses per step.
        size: preset of the network.
        transitions: how many, from clips that no prior has seen.
    """
    robot = Robot.load("g1")
    train = TrainConfig(steps=steps, batch_size=batch_size, ema_decay=0.995, held_out=0.1)
    files = find_motion_files(data)
    corpus = build_corpus(out / "corpus", files, robot, BuildConfig(drop_jumps=True), print)
    held_out = held_out_motions(files, corpus, robot, train)
    runs = []
    for normalisation, time, linears in product(*GRID.values()):
        name = f"{normalisation}_{time.mean:g}_{time.std:g}_{linears}"
        network = replace(preset(size), linears_per_block=linears)
        config = PriorConfig(network=network, normalisation=normalisation, time=time)  # type: ignore[arg-type]
        print(name)
        prior = train_prior(out / name, corpus, robot, config, train, print)
        runs.append({"name": name, **_measure(prior, corpus, robot, held_out, transitions)})
        result = {"runs": runs, "steps": train.steps, "batch_size": train.batch_size, **provenance()}
        write_json(out / "prior_choices.json", result)


def _measure(
    prior: PosePrior, corpus: PoseCorpus, robot: Robot, motions: list[Motion], transitions: int
) -> dict[str, object]:
    drawn = Transitions.draw(motions, transitions)
    figures = evaluate_prior(prior, corpus, robot, poses=2000)
    return {
        "held_out_loss": prior.about["held_out_loss"],
        "jacobian": figures["jacobian"],
        "samples": figures["samples_against_held_out"],
        "yardstick": figures["two_halves_of_the_data"],
        "timestep": timestep_study(prior, drawn),
    }


if __name__ == "__main__":
    tyro.cli(study_choices)
