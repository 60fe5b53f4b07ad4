"""Runs a command and returns its exit code."""

from __future__ import annotations

import asyncio
import gc
import io
import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..base.errors import CodeInterpError
from ..base.visible import visible, visible_line
from . import arguments
from .local.problems import FAILED, INTERRUPTED, Problem
from .terminal.stopping import Stopping

if TYPE_CHECKING:
    import argparse


# -------------------------------------------------------------------------------------------------
# Imports ``jsonschema`` without ``rfc3987_syntax``, which saves each command a second.
#
# With that package, which jupyter_server installs, ``jsonschema`` builds a grammar of
# international addresses at import. That takes longer than all other imports together, and no
# notebook schema needs it.

NAME = "rfc3987_syntax"


def import_jsonschema() -> None:
    modules: dict[str, Any] = sys.modules
    if NAME in modules or "jsonschema" in modules:
        return
    modules[NAME] = None  # as if it were not installed
    try:
        with suppress(ImportError):
            import jsonschema  # noqa: F401
    finally:
        del modules[NAME]


GC_THRESHOLDS = (50_000, 50, 100)
"""Imports create 300,000 permanent objects. With the default thresholds, garbage collection takes
a fifth of the import time."""

log = logging.getLogger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    gc.set_threshold(*GC_THRESHOLDS)
    _write_all_characters()
    stopping = Stopping()
    stopping.listen()
    try:
        options = arguments.parse(argv)
        _log(options.verbose)
        _say_that_it_starts(options)
        code = _command(options)(options, stopping)
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
        return _say(f"Internal error ({error!r}). Run with --verbose for details.", FAILED)
    finally:
        _close_output()
        gc.freeze()  # Otherwise the interpreter runs a full collection at exit.


def _say_that_it_starts(options: argparse.Namespace) -> None:
    """In a terminal, print a line at once: imports and the kernel take seconds."""
    if options.command in ("run", "chat") and sys.stderr.isatty():
        does = "Opening" if options.existing else "Starting a kernel for"
        print(f"{does} {visible_line(options.notebook)} …", file=sys.stderr, flush=True)


def _command(options: argparse.Namespace) -> Callable[[argparse.Namespace, Stopping], int]:
    import_jsonschema()
    name, feature = options.command, getattr(options, "feature", "")
    module = f"{feature}.command" if feature else f".commands.{arguments.COMMANDS[name].module}"
    found: Any = getattr(import_module(module, __package__), name)
    command: Callable[[argparse.Namespace, Stopping], int] = found
    return command


def _say(words: str, code: int) -> int:
    with suppress(OSError, ValueError):
        print(f"jupyter codeinterp: {visible(words)}", file=sys.stderr, flush=True)
    return code


def _log(verbose: bool) -> None:
    """Send the log to standard error or nowhere, never to standard output."""
    logging.captureWarnings(True)
    handler: logging.Handler = logging.NullHandler()
    if verbose:
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(_Inert("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO if verbose else logging.WARNING, handlers=[handler])


class _Inert(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _write_all_characters() -> None:
    """Write characters that the encoding lacks as escapes: a person must see the whole code, and
    no character may end the turn."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _close_output() -> None:
    """Flush standard output, so that the interpreter reports no closed pipe at exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
