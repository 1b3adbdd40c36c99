"""``pfmhr prior train | extend | sample | info``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from pfmhr.cli.console import print_json, print_table, say, teller, training_bar
from pfmhr.cli.options import given, use_threads
from pfmhr.cli.values import Flat, with_presets
from pfmhr.errors import InputError
from pfmhr.layout import HUB
from pfmhr.prior import PriorConfig, TrainConfig
from pfmhr.prior.network import PRESETS

Corpus = Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="CORPUS")]
Prior = Annotated[tyro.conf.Positional[str], tyro.conf.arg(metavar="PRIOR")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


@with_presets(config={name: PriorConfig(network=network) for name, network in PRESETS.items()})
def train(
    corpus: Corpus,
    /,
    out: Out,
    preset: Literal["tiny", "small", "paper"] = "small",
    config: Flat[PriorConfig] = PriorConfig(),  # noqa: B008
    training: Flat[TrainConfig] = TrainConfig(),  # noqa: B008
    robot: str | None = None,
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
        preset: size of the network: tiny (tests), small (6 x 256), paper (10 x 1024).
        robot: path of the MJCF, for a robot that is not bundled; default: the corpus's robot.
        threads: threads to compute with; default: as many as there are cores.
        json: print one JSON object.
    """
    from pfmhr.corpus import PoseCorpus
    from pfmhr.prior import train_prior

    use_threads(threads)
    opened = PoseCorpus.open(corpus)
    with training_bar("training") as progress:
        body = opened.load_robot(robot)
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
    steps: int = TrainConfig.steps,
    batch_size: int = TrainConfig.batch_size,
    learning_rate: float = TrainConfig.learning_rate,
    distinct_times: int | None = None,
    seed: int | None = None,
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Go on training a prior on a larger corpus, with the same normalisation, into a directory of its own.

    Examples:
        pfmhr prior extend runs/prior corpora/more

    Args:
        prior: a directory, a bundled prior's name, or hf:owner/name.
        corpus: the corpus to go on with: old data and new.
        out: directory of the new run; default: PRIOR-extended.
        robot: path of the MJCF, for a robot that is not bundled; default: the corpus's robot.
        steps: how many steps.
        batch_size: poses per step, over all processes.
        learning_rate: peak of the learning rate.
        distinct_times: flow times per batch; default: the prior's own.
        seed: decides batches, times, noise and the held-out sources; default: the prior's own.
        threads: threads to compute with; default: as many as there are cores.
        json: print one JSON object.
    """
    from pfmhr.corpus import PoseCorpus
    from pfmhr.prior import PosePrior, extend_prior

    use_threads(threads)
    start, opened = PosePrior.load(prior), PoseCorpus.open(corpus)
    if out is None and prior.startswith(HUB):
        raise InputError("name a directory for the extended prior", where=prior, fix="With -o.", code="usage")
    target = out or Path(f"{prior.rstrip('/')}-extended")
    # The same share of sources is held out, or it would learn what it is judged by.
    before = start.about.get("training", {})
    own = {"seed": seed, "distinct_times": distinct_times, "held_out": None}
    kept = given({name: before.get(name) if value is None else value for name, value in own.items()})
    training = TrainConfig(steps=steps, batch_size=batch_size, learning_rate=learning_rate, **kept)
    with training_bar("extending") as progress:
        body = opened.load_robot(robot)
        grown = extend_prior(start, target, opened, body, training, teller(json), progress)
    if json:
        print_json({"path": str(target), **grown.about})
        return 0
    say(f"{target}: held-out loss {grown.about['held_out_loss']:.4f} per joint")
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
        prior: a directory, a bundled prior's name, or hf:owner/name.
        out: the npz to write.
        robot: path of the MJCF, for a robot that is not bundled; default: the prior's robot.
        count: how many poses.
        seed: another seed, other poses.
        steps: integration steps.
        json: print one JSON object.
    """
    import torch

    from pfmhr.motion import Motion
    from pfmhr.prior import PosePrior

    loaded = PosePrior.load(prior)
    body = loaded.load_robot(robot)
    loaded.require(body)  # or the joints would get the names of another's
    poses = loaded.sample(count, generator=torch.Generator().manual_seed(seed), steps=steps)
    Motion.from_arrays(body, poses.numpy(), fps=1.0).write(out)
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
        prior: a directory, a bundled prior's name, or hf:owner/name.
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
