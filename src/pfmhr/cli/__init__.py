"""The command line: one file per command, one clear message per error."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

from pfmhr.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run ``pfmhr``. Exit codes: 0 done, 1 a check found faults, 2 wrong use or bad input."""
    from pfmhr.cli.commands import run

    given = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in given
    try:
        code = run([argument for argument in given if argument != "--debug"])
    except InputError as error:
        if debug:
            traceback.print_exc()
        print(f"pfmhr: {error}", file=sys.stderr)
        code = 2
    except KeyboardInterrupt:
        print("pfmhr: interrupted; the same command goes on where it can", file=sys.stderr)
        code = 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of our output has gone: nothing left to say
        code = 0
    if arguments is None:
        sys.exit(code)
    return code
