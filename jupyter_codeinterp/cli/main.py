"""Which command, and what its end means to a shell."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..core.errors import CodeInterpError
from . import arguments
from .local import grammar
from .local.problems import FAILED, INTERRUPTED, Problem
from .terminal.stopping import Stopping

if TYPE_CHECKING:
    import argparse

COMMANDS = {
    "run": "run",
    "replay": "replay",
    "sessions": "conversations",
    "export": "conversations",
    "key": "keys",
    "doctor": "doctor",
}
"""The module of each, which has a function of its name."""
SELDOM = (50_000, 50, 100)
"""How seldom garbage is looked for. Imports make some 300,000 objects, all of which stay: to look
through them again and again is a fifth of the time they take."""

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    gc.set_threshold(*SELDOM)
    stopping = Stopping()
    stopping.listen()
    try:
        options = arguments.parser().parse_args(argv)
        _log(options.verbose)
        code = _command(options.command)(options, stopping)
        sys.stdout.flush()
        return code
    except Problem as problem:
        return _say(problem.words, problem.code)
    except CodeInterpError as error:
        return _say(error.message, FAILED)
    except (KeyboardInterrupt, asyncio.CancelledError):
        return _say("Interrupted.", INTERRUPTED)
    except BrokenPipeError:
        return INTERRUPTED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}.", FAILED)
    except Exception as error:
        log.exception("The command failed")
        return _say(f"Something went wrong here ({error!r}). --verbose says more.", FAILED)
    finally:
        _close_output()
        gc.freeze()  # Else the interpreter looks through everything again as it ends.


def _command(name: str) -> Callable[[argparse.Namespace, Stopping], int]:
    # Each imports what it needs, which is much for some of them.
    grammar.leave_out()
    found: Any = getattr(import_module(f".commands.{COMMANDS[name]}", __package__), name)
    command: Callable[[argparse.Namespace, Stopping], int] = found
    return command


def _say(words: str, code: int) -> int:
    from .terminal.inert import inert

    with suppress(OSError, ValueError):
        print(f"jupyter codeinterp: {inert(words)}", file=sys.stderr, flush=True)
    return code


def _log(verbose: bool) -> None:
    """Nowhere, or on standard error; never on standard output."""
    logging.captureWarnings(True)
    handler: logging.Handler = logging.NullHandler()
    if verbose:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Inert("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler])


class _Inert(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        from .terminal.inert import inert

        return inert(super().format(record))


def _close_output() -> None:
    """Nothing is left to be written as the interpreter ends: a closed pipe would be told of."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
