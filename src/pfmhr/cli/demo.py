"""``pfmhr demo``: the whole pipeline on data the project makes itself."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import tyro

from pfmhr.cli.console import print_table, say, training_bar
from pfmhr.cli.demo_data import make_corpus, show_checks, show_motions
from pfmhr.cli.options import tracking_extra, use_threads
from pfmhr.errors import InputError
from pfmhr.files import write_atomically
from pfmhr.motion import Motion
from pfmhr.motion.checks.paths import available_cores
from pfmhr.motion.embedded import CLIPS, embedded_motion
from pfmhr.robots import Robot

if TYPE_CHECKING:
    from pfmhr.corpus import PoseCorpus
    from pfmhr.report.page import Section

TREMBLE = 0.05
"""rad of noise on every joint of the broken copy."""
DT = 1.0 / 30.0


@dataclass(frozen=True)
class Length:
    """How much of everything: the whole takes about ten minutes on two cores, the fast one about three."""

    variations: int = 115
    prior_steps: int = 400
    """0: take the prior that comes with the package."""
    clip: str = "walk"
    """What the trackers follow."""
    samples: int = 900_000
    """Per tracker."""
    evaluate_every: int = 20
    """Iterations of training between evaluations."""


FAST = Length(variations=20, prior_steps=0, clip="squat", samples=180_000, evaluate_every=4)


def demo(out: Annotated[Path, tyro.conf.arg(aliases=["-o"])] = Path("demo"), fast: bool = False) -> int:
    """Run the whole pipeline on embedded data: corpus, prior, score, trackers with and without it, a report.

    No network, GPU or display needed. The same command goes on after an interruption.

    Examples:
        pfmhr demo
        pfmhr demo --fast -o demo-fast

    Args:
        out: where results go.
        fast: a smaller corpus, the prior that comes with the package, shorter training.
    """
    length = FAST if fast else Length()
    use_threads(None)
    robot = Robot.load("g1")
    say(f"1. The robot: {robot.name}, {robot.num_joints} joints from {robot.joint_names[0]} to {robot.joint_names[-1]}")
    step("2. Motions the project makes itself")
    show_motions(robot, out)
    step("3. Checks: the walk, and broken copies of it")
    show_checks(robot)
    step(f"4. A pose corpus: {len(CLIPS)} clips x {length.variations} variations")
    corpus = make_corpus(robot, out / f"corpus-{length.variations}", length.variations)
    prior = _prior(robot, corpus, out, length)
    intact = _score(robot, prior, embedded_motion("walk", robot), out)
    runs = _trackers(length, prior, out)
    page = _report(runs, prior, intact, out)
    step(f"Next: pfmhr check YOUR_FILES, pfmhr view, pfmhr track train YOUR_CLIP -o runs/x --prior {prior}")
    say(str(page))
    return 0


def _prior(robot: Robot, corpus: PoseCorpus, out: Path, length: Length) -> str:
    """Directory of a prior trained on the corpus, or the name of the bundled one."""
    if not length.prior_steps:
        step("5. The prior: g1-small, which comes with the package")
        return "g1-small"
    from pfmhr.prior import PriorConfig, TrainConfig, preset, train_prior

    step(f"5. A prior of these poses: 6 x 256, {length.prior_steps} steps (a real one takes thousands)")
    config = PriorConfig(network=preset("small"))
    folder = out / f"prior-{length.prior_steps}"
    with training_bar("training the prior") as progress:
        # So few steps need a quick start, and an average that forgets where it began.
        train = TrainConfig(steps=length.prior_steps, learning_rate=1e-3, warmup=40, ema_decay=0.98)
        prior = train_prior(folder, corpus, robot, config, train, say, progress)
    say(f"   held-out loss {prior.about['held_out_loss']:.3f} per joint")
    return str(folder)


def _score(robot: Robot, name: str, clip: Motion, out: Path) -> Section:
    """A clip against itself and a trembling copy: every pose is near a real one, but the joints no longer agree."""
    import torch

    from pfmhr.prior import PosePrior
    from pfmhr.reward import Calibration, Ramp
    from pfmhr.reward.timeline import score_motion
    from pfmhr.score import PoseGeometryScore

    with tracking_extra():
        from pfmhr.report.page import Section, Text
        from pfmhr.report.watching import clips_player

    prior = PosePrior.load(name, robot)
    generator, ramp = torch.Generator().manual_seed(0), Ramp()
    score = PoseGeometryScore(prior)
    calibration = Calibration.fit(score, [clip], DT, generator)
    calibration.save(out / "calibration.npz")
    noise = np.random.default_rng(0).normal(scale=TREMBLE, size=clip.joint_pos.shape)
    clips = {"as made": clip, "trembling": replace(clip, joint_pos=clip.joint_pos + noise)}
    step("6. The Pose Geometry Score: do the joints change together as they should?")
    columns = ("median_score", "mean_percentile", "mean_multiplier", "share_cut")
    rows = []
    for what, motion in clips.items():
        summary = score_motion(score, calibration, motion, ramp, generator).summary()
        rows.append([what, *(f"{summary[column]:.3f}" for column in columns)])
    print_table("", [f"the {clip.name}", "score", "percentile", "factor on the reward", "share of steps cut"], rows)
    caption = (
        f"The embedded {clip.name.split('-')[0]} and a copy with {TREMBLE} rad of noise on every joint. Each single "
        "pose of the copy is all right; what is wrong is how the joints change together, and that the score sees."
    )
    parts = [Text(caption), clips_player(prior, robot, clips, DT, "As made in blue, trembling in grey.")]
    return Section("A clip and a broken copy", parts)


MATRIX = """# Two trackers that differ in the prior only. Again, or with other settings: pfmhr experiment run {path}
name = "demo"
actions = ["residual"]
evaluate_every = {every}
[methods]
add = {{}}
pfm = {{ prior = {prior} }}
[skills]
{clip} = {{ motion = "embedded:{clip}", samples = {samples} }}
"""


def _trackers(length: Length, prior: str, out: Path) -> list[Path]:
    """The same training with and without the prior in the loop, side by side on one core each."""
    with tracking_extra():
        from pfmhr.experiments import Matrix, run_matrix
        from pfmhr.results.comparing import COLUMNS, as_text, compare

    step(f"7. Two trackers of the {length.clip}, {length.samples:,} samples each: ADD without and with the prior")
    declared, folder = out / "trackers.toml", out / f"trackers-{length.samples}"
    quoted = json.dumps(prior, ensure_ascii=False)  # a string of toml is written like one of JSON
    about = {"clip": length.clip, "samples": length.samples, "every": length.evaluate_every}
    text = MATRIX.format(path=declared, prior=quoted, **about)
    write_atomically(declared, lambda handle: handle.write(text.encode()))
    matrix = Matrix.read(declared)
    with training_bar("training trackers", remaining=False) as progress:
        outcomes = run_matrix(matrix, folder, workers=available_cores(), progress=progress)
    for outcome in outcomes:
        if not outcome.finished:
            raise InputError(f"training failed: {outcome.said}", where=folder / outcome.cell.name, code="failed")
    runs = [folder / cell.name for cell in matrix.cells]
    print_table("", COLUMNS, [as_text(row) for row in compare(runs).rows])
    say("   one seed and a short budget say little about the prior: see the report of an experiment for that")
    return runs


def step(title: str) -> None:
    """The title of one step, a blank line before it."""
    say("")
    say(title)


def _report(runs: list[Path], prior: str, intact: Section, out: Path) -> Path:
    from pfmhr.report import build_report

    step("8. The report")
    page = out / "report.html"
    build_report(runs, page, prior, "PFM-HR: the demo", before=[intact], say=lambda text: say(f"   {text}"))
    return page
