"""``pfmhr track train``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import tyro

from pfmhr.cli.console import measured, print_json, remark, say, teller, training_bar
from pfmhr.cli.options import tracking_extra, use_threads
from pfmhr.cli.tracker_settings import as_options, changes_of, options_of

if TYPE_CHECKING:  # what is made of them has the same fields
    from pfmhr.results.run_result import RunResult
    from pfmhr.tracking.config import AdversaryConfig as Adversary
    from pfmhr.tracking.config import AgentConfig as Agent
    from pfmhr.tracking.config import EnvironmentConfig as Environment
    from pfmhr.tracking.config import ModulatorConfig as Modulation
    from pfmhr.tracking.run_options import RunOptions as Options
else:
    from pfmhr.cli.tracker_settings import Adversary, Agent, Environment, Modulation, Options

Motions = Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="MOTION...")]
Out = Annotated[Path, tyro.conf.arg(aliases=["-o"])]


def train(
    motions: Motions,
    /,
    out: Out,
    options: Annotated[Options, tyro.conf.arg(name="")] = Options(),  # noqa: B008
    environment: Environment = Environment(),  # noqa: B008
    agent: Agent = Agent(),  # noqa: B008
    adversary: Adversary = Adversary(),  # noqa: B008
    modulation: Annotated[Modulation, tyro.conf.arg(name="modulator")] = Modulation(),  # noqa: B008
    threads: int | None = None,
    json: bool = False,
) -> int:
    """Train a physics tracker on one or several motions. The same command goes on after any interruption.

    Examples:
        pfmhr track train embedded:walk -o runs/walk
        pfmhr track train walk.pkl -o runs/walk-prior --prior g1-small
        pfmhr track train lafan1_g1/dance1_subject1.csv.gz -o runs/dance --fps 30 --trim 20 30
        pfmhr track train embedded:walk -o runs/walk-short --agent.discount 0.95 --agent.hidden 512 256

    Args:
        motions: motion files, or embedded clips as embedded:walk.
        out: directory of the run.
        threads: threads for physics and networks; default: as many as there are cores.
        json: print the result as one JSON object.
    """
    from pfmhr.provenance import provenance
    from pfmhr.results.records import to_json

    with tracking_extra():
        import pfmhr.tracking.runs  # noqa: F401  what is missing is told before anything else

    use_threads(threads)
    chosen = options_of(options)
    sections = {"environment": environment, "agent": agent, "adversary": adversary, "modulator": modulation}
    spec = chosen.spec(motions, [change for name, given in sections.items() for change in changes_of(name, given)])
    if chosen.set:
        remark(f"--set goes with the next release; write {as_options(chosen.set)}")
    with training_bar("training") as progress:
        result = spec.train(out, threads, teller(json), progress, provenance())
    if json:
        print_json(to_json(result))
        return 0
    say(f"{out}: {_outcome(result)}")
    return 0


def _outcome(result: RunResult) -> str:
    """What came of a run, in a line."""
    reached, end = result.samples_to_80, result.end
    when = f"80 % tracked after {reached / 1e6:.2f} M samples" if reached is not None else "80 % never reached"
    return f"{when}; at the end {end.success:.1%}, E_pos {measured(end.position_error, 1000.0, 1)} mm"
