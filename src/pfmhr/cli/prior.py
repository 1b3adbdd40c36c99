"""``pfmhr prior train | extend | eval | closed-form | sample | info``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, remark, say, teller, training_bar
from pfmhr.cli.options import given, use_threads

Corpus = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CORPUS")]
Prior = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PRIOR")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def train(
    corpus: Corpus,
    /,
    out: Out,
    preset: Literal["tiny", "small", "paper"] = "small",
    robot: str | None = None,
    steps: int | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    learning_rate: float | None = None,
    prediction: Literal["clean", "velocity"] = "clean",
    normalisation: Literal["standard", "limits"] | None = None,
    time_mean: float | None = None,
    time_std: float | None = None,
    linears_per_block: Literal[1, 2] = 2,
    held_out: float | None = None,
    distinct_times: int | None = None,
    schedule: Literal["cosine", "constant"] | None = None,
    compile: bool = False,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Train a pose prior on a corpus. The same command goes on after any interruption.

    Examples:
        pfmhr prior train corpora/mine -o runs/prior
        pfmhr prior train corpora/mine -o runs/prior --preset paper --steps 500000 --batch-size 4096
        torchrun --nproc-per-node 2 -m pfmhr prior train corpora/mine -o runs/prior

    Args:
        corpus: folder of a pose corpus.
        out: directory of the run; the prior itself is written there at the end.
        robot: path of the MJCF, for a robot that is not bundled.
        preset: size of the network: tiny (tests), small (6 x 256), paper (10 x 1024).
        steps: how many steps.
        batch_size: poses per step, over all processes.
        seed: decides initial weights, batches, times, noise and the held-out sources.
        learning_rate: peak of the learning rate.
        prediction: what the network predicts.
        normalisation: units of the poses: their spread over the data, or the joint ranges.
        time_mean: centre of the logit-normal flow times.
        time_std: spread of the logit-normal flow times.
        linears_per_block: linear maps in a residual block.
        held_out: share of the sources kept from training.
        distinct_times: flow times per batch.
        schedule: learning rate after the warm-up.
        compile: compile the training step.
        threads: threads to compute with; all cores unless said.
        json: print one JSON object.
    """
    from pfmhr.corpus import PoseCorpus
    from pfmhr.prior import PriorConfig, TrainConfig, train_prior
    from pfmhr.prior import preset as network_preset
    from pfmhr.prior.path import TimeSampling
    from pfmhr.robots import Robot

    use_threads(threads)
    opened = PoseCorpus.open(corpus)
    defaults = PriorConfig()
    config = replace(
        defaults,
        network=replace(network_preset(preset), linears_per_block=linears_per_block),
        prediction=prediction,
        normalisation=normalisation or defaults.normalisation,
        time=TimeSampling(
            defaults.time.mean if time_mean is None else time_mean, defaults.time.std if time_std is None else time_std
        ),
    )
    changes = {
        "steps": steps,
        "batch_size": batch_size,
        "learning_rate": learning_rate,
        "held_out": held_out,
        "distinct_times": distinct_times,
        "schedule": schedule,
    }
    training = replace(TrainConfig(seed=seed, compile=compile), **given(changes))
    with training_bar("training") as progress:
        body = Robot.load(robot or opened.manifest.robot)
        prior = train_prior(out, opened, body, config, training, teller(json), progress)
    if json:
        print_json({"path": str(out), **prior.about})
        return 0
    say(f"{out}: held-out loss {prior.about['held_out_loss']:.4f} per joint after {prior.about['steps']:,} steps")
    return 0


def extend(
    prior: Prior,
    corpus: Corpus,
    /,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    robot: str | None = None,
    steps: int | None = None,
    batch_size: int | None = None,
    learning_rate: float | None = None,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Go on training a prior on a larger corpus, with the same normalisation, into a directory of its own.

    Examples:
        pfmhr prior extend runs/prior corpora/more

    Args:
        prior: a directory, a bundled prior's name, or a Hugging Face repository id.
        corpus: the corpus to go on with: old data and new.
        out: directory of the new run; PRIOR-extended unless said.
        robot: path of the MJCF, for a robot that is not bundled.
        steps: how many steps.
        batch_size: poses per step, over all processes.
        learning_rate: peak of the learning rate.
        seed: decides batches, times, noise and the held-out sources.
        threads: threads to compute with; all cores unless said.
        json: print one JSON object.
    """
    from pfmhr.corpus import PoseCorpus
    from pfmhr.prior import PosePrior, TrainConfig, extend_prior
    from pfmhr.robots import Robot

    use_threads(threads)
    start, opened = PosePrior.load(prior), PoseCorpus.open(corpus)
    target = out or Path(f"{prior.rstrip('/')}-extended")
    changes = {"steps": steps, "batch_size": batch_size, "learning_rate": learning_rate}
    training = replace(TrainConfig(seed=seed), **given(changes))
    with training_bar("extending") as progress:
        body = Robot.load(robot or opened.manifest.robot)
        grown = extend_prior(start, target, opened, body, training, teller(json), progress)
    if json:
        print_json({"path": str(target), **grown.about})
        return 0
    say(f"{target}: held-out loss {grown.about['held_out_loss']:.4f} per joint")
    return 0


def evaluate(
    prior: Prior,
    corpus: Corpus,
    /,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    robot: str | None = None,
    poses: int = 4000,
    seed: int = 0,
    json: bool = False,
) -> int:
    """Judge a prior on poses it has not seen: held-out loss, the shape of its Jacobian, its samples.

    The sources held out in training are held out here. The yardstick beside the samples' figures is
    the same comparison between two halves of the data.

    Examples:
        pfmhr prior eval runs/prior corpora/mine -o runs/prior/eval

    Args:
        prior: a directory, a bundled prior's name, or a Hugging Face repository id.
        corpus: the corpus it was trained on, or another one.
        out: folder for eval.json and a page of plots.
        robot: path of the MJCF, for a robot that is not bundled.
        poses: how many held-out poses and samples.
        seed: of the samples.
        json: print one JSON object.
    """
    from pfmhr.bench.machine import provenance
    from pfmhr.corpus import PoseCorpus
    from pfmhr.files import write_json
    from pfmhr.prior import PosePrior
    from pfmhr.prior.evaluation import evaluate_prior
    from pfmhr.robots import Robot

    loaded, opened = PosePrior.load(prior), PoseCorpus.open(corpus)
    result = evaluate_prior(loaded, opened, Robot.load(robot or loaded.robot), poses, seed, out) | provenance()
    if out is not None:
        write_json(out / "eval.json", result)
    if json:
        print_json(result)
        return 0
    _show_evaluation(result)
    if out is not None:
        say(f"{out}/eval.json, {out}/eval.png")
    return 0


def closed_form(
    out: Out,
    preset: Literal["tiny", "small", "paper"] = "small",
    steps: int = 8000,
    seed: int = 0,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Train on a mixture of Gaussians, where the right Jacobian is known, and say how far off ours is.

    Examples:
        pfmhr prior closed-form -o runs/closed-form

    Args:
        out: directory of the run.
        preset: size of the network.
        steps: how many steps.
        seed: of the mixture and the training.
        threads: threads to compute with; all cores unless said.
        json: print one JSON object.
    """
    from pfmhr.bench.machine import provenance
    from pfmhr.files import write_json
    from pfmhr.prior import PriorConfig, TrainConfig
    from pfmhr.prior import preset as network_preset
    from pfmhr.prior.closed_form import closed_form_check
    from pfmhr.robots import Robot

    use_threads(threads)
    config, training = PriorConfig(network=network_preset(preset)), TrainConfig(steps=steps, seed=seed)
    with training_bar("training") as progress:
        result = closed_form_check(out, Robot.load("g1"), config, training, 8, seed, remark, progress)
    result |= {"steps": steps, "batch_size": training.batch_size, "seed": seed, **provenance()}
    write_json(out / "closed_form.json", result)
    if json:
        print_json(result)
        return 0
    figures = list(next(iter(result["by_time"].values())))
    rows = [[time, *(f"{errors[name]:.4f}" for name in figures)] for time, errors in result["by_time"].items()]
    print_table("", ["flow time", *(name.replace("_", " ") for name in figures)], rows)
    return 0


def sample(
    prior: Prior,
    /,
    out: Out,
    robot: str | None = None,
    count: int = 1000,
    seed: int = 0,
    steps: int = 50,
    json: bool = False,
) -> int:
    """Draw new poses from a prior into an npz of one pose per frame.

    Examples:
        pfmhr prior sample g1-small -o poses.npz --count 100

    Args:
        prior: a directory, a bundled prior's name, or a Hugging Face repository id.
        out: the npz to write.
        robot: path of the MJCF, for a robot that is not bundled.
        count: how many poses.
        seed: another seed, other poses.
        steps: integration steps.
        json: print one JSON object.
    """
    import torch

    from pfmhr.motion import Motion
    from pfmhr.prior import PosePrior
    from pfmhr.robots import Robot

    loaded = PosePrior.load(prior)
    poses = loaded.sample(count, generator=torch.Generator().manual_seed(seed), steps=steps)
    Motion.from_arrays(Robot.load(robot or loaded.robot), poses.numpy(), fps=1.0).write(out)
    if json:
        print_json({"path": str(out), "poses": count, "seed": seed, "steps": steps})
        return 0
    say(f"{out}: {count} poses")
    return 0


def info(prior: Prior, /, json: bool = False) -> int:
    """Say what a prior is: network, data, training, hash.

    Examples:
        pfmhr prior info g1-small

    Args:
        prior: a directory, a bundled prior's name, or a Hugging Face repository id.
        json: print one JSON object.
    """
    from dataclasses import asdict

    from pfmhr.prior import PosePrior

    loaded = PosePrior.load(prior)
    facts: dict[str, Any] = {
        "robot": loaded.robot,
        "joints": len(loaded.joint_names),
        "parameters": sum(parameter.numel() for parameter in loaded.denoiser.parameters()),
        "hash": loaded.hash,
        **asdict(loaded.config),
        "about": loaded.about,
    }
    if json:
        print_json(facts)
    else:
        print_table("", ["", ""], [[name, str(value)] for name, value in facts.items()])
    return 0


def _show_evaluation(result: dict[str, Any]) -> None:
    losses = result["loss_by_time"]
    print_table(
        "held-out velocity loss per joint", ["t", *losses], [["loss", *(f"{loss:.3f}" for loss in losses.values())]]
    )
    shapes = result["jacobian"]
    names = list(next(iter(shapes.values())))
    rows = [[time, *(f"{shape[name]:.4f}" for name in names)] for time, shape in shapes.items()]
    print_table("shape of the Jacobian", ["t", *(name.replace("_", " ") for name in names)], rows)
    comparisons = ("samples_against_held_out", "data_against_held_out", "two_halves_of_the_data")
    figures = list(result[comparisons[0]])
    rows = [[name.replace("_", " "), *(f"{result[which][name]:.4f}" for which in comparisons)] for name in figures]
    print_table("likeness", ["", *(which.replace("_", " ") for which in comparisons)], rows)
