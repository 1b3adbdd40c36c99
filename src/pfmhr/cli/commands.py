"""All commands, in the order of the paper's pipeline, and how a command line finds its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module

import pfmhr
from pfmhr.errors import InputError, unknown_name


@dataclass(frozen=True)
class Command:
    """One command. Its module is imported when it is run: the list of all commands should not wait for any."""

    name: str
    place: str
    """Module of this package and function in it, as in an entry point."""
    summary: str
    """What it is for, in the 55 characters a terminal leaves."""

    @property
    def function(self) -> Callable[..., int]:
        """What the command runs; its signature is its options, its docstring its help."""
        module, name = self.place.split(":")
        return getattr(import_module(f"pfmhr.cli.{module}"), name)


COMMANDS: dict[str, tuple[Command, ...]] = {
    "motion files": (
        Command("check", "check:check", "Is each motion file what it claims to be?"),
        Command("convert", "convert:convert", "Write a motion in another format, at another rate"),
        Command("retarget", "retarget:retarget", "Put human motion on a robot: BVH, MimicKit, SMPL"),
    ),
    "poses": (
        Command("corpus build", "corpus:build", "Collect the poses of motion files and folders"),
        Command("corpus add", "corpus:add", "Append motions; what is there stays as it is"),
        Command("corpus subset", "corpus:subset", "Draw a random subset; subsets of one seed nest"),
        Command("corpus info", "corpus:info", "What a corpus holds, and whether a byte has changed"),
    ),
    "the prior": (
        Command("prior train", "prior:train", "Learn a pose prior by flow matching"),
        Command("prior extend", "prior:extend", "Go on training a prior on a larger corpus"),
        Command("prior eval", "prior_quality:evaluate", "Judge a prior on poses it has not seen"),
        Command("prior sample", "prior:sample", "Draw new poses"),
        Command("prior info", "prior:info", "Network, data, training and hash of a prior"),
    ),
    "the score, and its rival": (
        Command("score", "score:score", "Do the joints of a motion move together rightly?"),
        Command("calibrate", "score:calibrate", "Keep the scores of reference motions"),
        Command("distance train", "distance:train", "Train a pose distance field (PDF-HR)"),
    ),
    "tracking": (
        Command("track train", "tracker_training:train", "Train a physics tracker, with or without a prior"),
        Command("track eval", "track:evaluate", "Success and errors of a tracker, with intervals"),
        Command("track compare", "track:compare", "Finished runs side by side, over their seeds"),
        Command("track play", "track:play", "Film an episode beside its reference"),
        Command("track export", "track:export", "Write a policy as ONNX"),
    ),
    "experiments": (
        Command("experiment run", "experiment:run", "Run a declared matrix of tracking runs"),
        Command("experiment report", "experiment:report", "Tables, figures and a verdict from what is done"),
    ),
    "looking": (
        Command("report", "report:report", "Everything measured on one page, beside the paper's"),
        Command("view", "view:view", "Motions, rollouts and modes of a prior in a browser"),
    ),
    "studies": (
        Command("study timestep", "score_study:timestep", "At which flow time does the score tell best?"),
        Command("study noise", "score_study:noise", "Is one corruption sample enough?"),
        Command("study perturbation", "score_study:perturbation", "What do turned or shuffled changes score?"),
        Command("study plausibility", "score_study:plausibility", "Which score sees bad poses, which bad changes?"),
        Command("study rollouts", "rollout_study:rollouts", "Would a prior cut anything a tracker does?"),
        Command("study data-scale", "study:data_scale", "How does the best time move with more data?"),
        Command("study extension", "study:extension", "Is extending a prior cheaper than training anew?"),
    ),
    "the project": (
        Command("demo", "demo:demo", "The whole pipeline on motions made here"),
        Command("doctor", "doctor:doctor", "What is installed, and what is missing for what"),
        Command("bench corpus", "bench:corpus", "Speed of building and reading a corpus"),
        Command("bench prior", "bench:prior", "Speed of a training step"),
        Command("bench score", "bench:score", "Speed of the score"),
        Command("bench distance", "bench:distance", "Speed of labelling poses with distances"),
        Command("bench retarget", "bench:retarget", "Speed of putting human motion on a robot"),
        Command("bench sim", "bench:sim", "Speed of stepping many robots"),
        Command("completion", "completion:completion", "A script that lets a shell complete all of this"),
    ),
}


def all_commands() -> dict[str, Command]:
    """Every command by its name."""
    return {command.name: command for group in COMMANDS.values() for command in group}


def run(arguments: Sequence[str]) -> int:
    """Run one command line; returns its exit code."""
    words = list(arguments)
    if words[:1] == ["help"]:  # pfmhr help corpus build
        words = [*words[1:], "--help"]
    if words[:1] in (["-V"], ["--version"]):
        print(f"pfmhr {pfmhr.__version__}")
        return 0
    command, rest = find(words)
    if command is None:
        print(overview(words[0] if words and not words[0].startswith("-") else ""))
        return 0
    from pfmhr.cli.parsing import bind

    return int(bind(command, rest)() or 0)


def find(words: Sequence[str]) -> tuple[Command | None, list[str]]:
    """The command that a line begins with and the words after it; None where only an overview is asked for."""
    commands = all_commands()
    for count in (2, 1):
        name = " ".join(words[:count])
        if name in commands:
            return commands[name], list(words[count:])
    if not words or words[0] in ("-h", "--help"):
        return None, []
    if words[0].startswith("-"):
        raise InputError(f"the command comes first, then '{words[0]}'", fix="`pfmhr` alone lists them.", code="usage")
    below = [name.split()[1] for name in commands if name.startswith(f"{words[0]} ")]
    if not below:
        raise unknown_name("command", words[0], dict.fromkeys(name.split()[0] for name in commands))
    if len(words) == 1 or words[1] in ("-h", "--help"):
        return None, []
    raise unknown_name(f"command of 'pfmhr {words[0]}':", words[1], below)


def overview(first_word: str = "") -> str:
    """One line per command, by groups; only those that begin with a word if one is given."""
    lines = ["pfmhr: pose flow matching for humanoid robots", "", "usage: pfmhr COMMAND [OPTIONS]"]
    width = max(map(len, all_commands()))
    for group, commands in COMMANDS.items():
        shown = [command for command in commands if first_word in ("", command.name.split()[0])]
        if shown:
            lines += ["", f"{group}:", *(f"  {command.name:<{width}}  {command.summary}" for command in shown)]
    lines += ["", "Each explains itself: pfmhr corpus build --help. With --debug, errors do too."]
    return "\n".join(lines)
