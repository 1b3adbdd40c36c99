"""All commands, in the order of the pipeline."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import tyro

import pfmhr
from pfmhr.cli import (
    bench,
    check,
    convert,
    corpus,
    demo,
    distance,
    doctor,
    experiment,
    prior,
    score,
    score_study,
    study,
    track,
)
from pfmhr.cli.console import say
from pfmhr.errors import InputError

COMMANDS: dict[str, dict[str, Callable[..., int]]] = {
    "motion files": {"check": check.check, "convert": convert.convert},
    "poses": {
        "corpus build": corpus.build,
        "corpus add": corpus.add,
        "corpus subset": corpus.subset,
        "corpus info": corpus.info,
    },
    "the prior": {
        "prior train": prior.train,
        "prior extend": prior.extend,
        "prior eval": prior.evaluate,
        "prior closed-form": prior.closed_form,
        "prior sample": prior.sample,
        "prior info": prior.info,
    },
    "the score": {"score": score.score, "calibrate": score.calibrate},
    "tracking": {
        "track train": track.train,
        "track eval": track.evaluate,
        "track compare": track.compare,
        "track play": track.play,
        "track export": track.export,
    },
    "experiments": {"experiment run": experiment.run, "experiment report": experiment.report},
    "the rival": {"distance train": distance.train},
    "studies": {
        "study timestep": score_study.timestep,
        "study noise": score_study.noise,
        "study perturbation": score_study.perturbation,
        "study plausibility": score_study.plausibility,
        "study data-scale": study.data_scale,
        "study extension": study.extension,
        "study prior-choices": study.prior_choices,
        "study shared-times": study.shared_times,
    },
    "the project": {
        "demo": demo.demo,
        "doctor": doctor.doctor,
        "bench corpus": bench.corpus,
        "bench prior": bench.prior,
        "bench score": bench.score,
        "bench distance": bench.distance,
        "bench sim": bench.sim,
    },
}


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code."""
    commands = {name: function for group in COMMANDS.values() for name, function in group.items()}
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        return _help()
    if arguments[0] in ("-V", "--version"):
        say(f"pfmhr {pfmhr.__version__}")
        return 0
    for words in (2, 1):
        name = " ".join(arguments[:words])
        if name in commands:
            return _call(name, commands[name], list(arguments[words:]))
    below = [name for name in commands if name.startswith(f"{arguments[0]} ")]
    given = " ".join(arguments[: 2 if below else 1])
    raise InputError(
        f"unknown command '{given}'", fix=f"Available: {', '.join(below or commands)}.", code="unknown_name"
    )


def _call(name: str, function: Callable[..., int], arguments: list[str]) -> int:
    result = tyro.cli(
        function,
        prog=f"pfmhr {name}",
        # The whole docstring up to its arguments: tyro by itself would leave the examples out.
        description=(inspect.getdoc(function) or "").split("\nArgs:", 1)[0].strip(),
        args=arguments,
        config=(tyro.conf.FlagCreatePairsOff, tyro.conf.OmitArgPrefixes),
    )
    return int(result or 0)


def _help() -> int:
    say("pfmhr: pose flow matching for humanoid robots\n")
    for group, commands in COMMANDS.items():
        say(f"{group}:")
        for name, function in commands.items():
            summary = (inspect.getdoc(function) or "").split("\n", 1)[0]
            say(f"  pfmhr {name:<15} {summary}")
        say("")
    say("Each explains itself: pfmhr corpus build --help. With --debug an error shows where it came from.")
    return 0
