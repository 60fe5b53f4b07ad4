"""Parses the command line."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, NoReturn

from .._version import __version__
from ..wiring import offering

EXITS = """\
exit codes:
  0 done, 1 the model or the code failed, 2 wrong usage, 3 limit reached, 130 interrupted
"""
FIRST_STEPS = """\
first steps:
  jupyter codeinterp doctor       check the installation
  jupyter codeinterp key set      save an API key
  jupyter codeinterp run sales.ipynb "Which region grew fastest?"

jupyter codeinterp COMMAND --help lists the options of a command.

"""


_SETTING = re.compile(r"\{(model|max_steps|turn_timeout|cell_timeout)\}")
YES = {"--yes": "run", "-y": "run", "--yes=edits": "edits", "--yes=all": "all"}
"""The narrowest first. What each covers: ``terminal/fronts.py``."""


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """Options from words. PROMPT may stand anywhere after NOTEBOOK."""
    whole = parser()
    options, others = whole.parse_known_args(argv)
    takes = options.command == "run" and options.prompt is None
    # Before Python 3.12, argparse takes no optional positional argument after an option.
    if takes and others and (others[0] == "-" or not others[0].startswith("-")):
        options.prompt = others.pop(0)
    if others:
        whole.error(f"unrecognized arguments: {' '.join(others)}")
    return options


def parser() -> argparse.ArgumentParser:
    whole = _Parser(
        prog="jupyter codeinterp",
        description="A code interpreter that lives in the notebook: a model writes cells, you "
        "review them, they run.",
        epilog=FIRST_STEPS + EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=__version__)
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, command in COMMANDS.items():
        command.options(_command(commands, name, command.help))
    for add in offering("commands"):
        add(Commands(commands, add.__module__))
    return whole


class Commands:
    """Where a feature adds its commands. The function that runs a command has its name, and is in
    the feature's module ``command``."""

    def __init__(self, commands: argparse._SubParsersAction[_Parser], feature: str) -> None:
        self._commands = commands
        self._feature = feature

    def add(self, name: str, words: str) -> argparse.ArgumentParser:
        command = _command(self._commands, name, words)
        command.set_defaults(feature=self._feature)
        return command


class _Widest(argparse.Action):
    """Of several ``--yes``, the one that covers the most holds."""

    def __call__(
        self,
        parser: object,
        namespace: argparse.Namespace,
        values: object,
        option: str | None = None,
    ) -> None:
        order = [None, *dict.fromkeys(YES.values())]
        namespace.yes = max(namespace.yes, YES[option or "--yes"], key=order.index)


class _Parser(argparse.ArgumentParser):
    """Refuses abbreviated options: a new option would change their meaning in scripts."""

    def __init__(self, *args: object, **given: object) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **given})  # type: ignore[arg-type]

    def format_help(self) -> str:
        """The help with this machine's settings in place of ``{…}``."""
        words = super().format_help()
        if not _SETTING.search(words):
            return words
        from ..app import config

        settings = config.settings(config.load())
        return _SETTING.sub(lambda found: _shown(getattr(settings, found[1])), words)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.format_usage()}{self.prog}: {message}. See: {self.prog} --help\n")


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, words: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
    )
    command.add_argument("--verbose", action="store_true", help="write the log to standard error")
    return command


def _run(run: argparse.ArgumentParser) -> None:
    run.add_argument("notebook", metavar="NOTEBOOK", help="the notebook; a new one is made")
    run.add_argument(
        "prompt", metavar="PROMPT", nargs="?", help="the task; - reads it from standard input"
    )
    _turns(run)
    run.add_argument(
        "--json", action="store_true", help=("print events as lines of JSON and nothing else")
    )


def _chat(chat: argparse.ArgumentParser) -> None:
    chat.add_argument("notebook", metavar="NOTEBOOK", help="the notebook; a new one is made")
    chat.set_defaults(json=False)
    _turns(chat)


def _turns(command: argparse.ArgumentParser) -> None:
    """Options of ``run`` and ``chat``. ``_Parser.format_help`` fills in ``{…}``."""
    asks = command.add_mutually_exclusive_group()
    asks.add_argument(
        *YES,
        action=_Widest,
        nargs=0,
        help="run code without asking; with edits also change your own cells; with all also "
        "install packages, delete cells and do all that asks, not what an admin's settings bar",
    )
    asks.add_argument("--plan", action="store_true", help="plan only: run and change nothing")
    command.add_argument(
        "-m", "--model", metavar="MODEL", help="the model to use (default: {model})"
    )
    command.add_argument(
        "--continue",
        dest="continued",
        action="store_true",
        help="go on with the notebook's latest conversation; the kernel is new",
    )
    kernel = command.add_mutually_exclusive_group()
    kernel.add_argument(
        "--kernel", metavar="NAME", help="the kernelspec to use (default: the notebook's)"
    )
    kernel.add_argument(
        "--sandbox",
        action="store_true",
        help="use the sandboxed kernel, which sandbox install adds",
    )
    kernel.add_argument(
        "--existing",
        action="store_true",
        help="use the notebook's kernel in a running server, if no page has the notebook open",
    )
    command.add_argument(
        "--max-steps",
        metavar="N",
        type=_steps,
        help="model calls in a turn, at most {max_steps} here (the default); limits in seconds "
        "with --yes: {turn_timeout} for a turn, {cell_timeout} for a cell",
    )


def _verify(verify: argparse.ArgumentParser) -> None:
    verify.add_argument("notebook", metavar="NOTEBOOK", help="the notebook file to verify")
    verify.add_argument(
        "--kernel", metavar="NAME", default="", help="the kernelspec to use (default: its own)"
    )
    verify.add_argument(
        "--in-place", action="store_true", help="run in the notebook's folder instead of a copy"
    )
    verify.add_argument("--json", action="store_true", help="print the result as JSON")


def _key(key: argparse.ArgumentParser) -> None:
    what = key.add_subparsers(dest="what", metavar="set|delete|list", required=True)
    setting = what.add_parser(
        "set", help="read a key from the terminal or standard input, test it and save it"
    )
    setting.add_argument(
        "--url", metavar="URL", default="", help=("address of the server that the key is for")
    )
    deleting = what.add_parser("delete", help="delete the saved key")
    for one in (setting, deleting):
        one.add_argument(
            "--provider",
            metavar="NAME",
            default="",
            help="the provider of the key, as in its model ids (default: the default provider)",
        )
    what.add_parser("list", help="show where keys come from and where they are sent")


def _sandbox(sandbox: argparse.ArgumentParser) -> None:
    what = sandbox.add_subparsers(
        dest="what", metavar="install|doctor|changes|confirm", required=True
    )
    installing = what.add_parser("install", help="add a sandboxed kernel to the kernel menu")
    where = installing.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user")
    where.add_argument(
        "--sys-prefix", action="store_true", help="for this Python environment (the default)"
    )
    installing.add_argument(
        "--kernel",
        metavar="NAME",
        default="python3",
        help="the Python kernelspec to put into a sandbox (default: %(default)s)",
    )
    installing.add_argument(
        "--overlay",
        action="store_true",
        help="its files wait outside of the notebook's folder until you keep them",
    )
    what.add_parser("doctor", help="say whether a sandboxed kernel can run here, or what to repair")
    changes = what.add_parser("changes", help="list files that wait in overlays; keep or drop them")
    changes.add_argument(
        "layer", metavar="LAYER", nargs="?", help="one of them (default: all; the list has names)"
    )
    does = changes.add_mutually_exclusive_group()
    does.add_argument(
        "--commit", action="store_true", help="copy the files into the notebook's folder; asks"
    )
    does.add_argument("--discard", action="store_true", help="delete the files; asks")
    changes.add_argument("--yes", "-y", action="store_true", help="do it without asking")
    confirm = what.add_parser("confirm", help="confirm that files of custom instructions are yours")
    confirm.add_argument(
        "files", metavar="FILE", nargs="+", help="AGENTS.md, or one in .codeinterp"
    )


def _steps(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else "none" if value is None else str(value)


class Subcommand(NamedTuple):
    """``module``: of ``commands/``. It has a function with the command's name."""

    module: str
    help: str
    options: Callable[[argparse.ArgumentParser], None] = lambda parser: None


COMMANDS = {
    "run": Subcommand("run", "work on a task in a notebook", _run),
    "chat": Subcommand("chat", "talk about a notebook in this terminal", _chat),
    "verify": Subcommand("verify", "run a notebook afresh and compare its outputs", _verify),
    "key": Subcommand("keys", "set, delete or list API keys; keys are never shown", _key),
    "doctor": Subcommand("doctor", "check the installation and suggest fixes"),
    "sandbox": Subcommand(
        "sandbox", "install a sandboxed kernel, or check that one can run", _sandbox
    ),
}
