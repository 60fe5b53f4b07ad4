"""What can be asked for on the command line."""

from __future__ import annotations

import argparse
import math

from .._version import __version__

EXITS = """\
exit codes:
  0 done, 1 the model or the code failed, 2 usage, 3 a limit was reached, 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    whole = _Parser(
        prog="jupyter codeinterp",
        description="A code interpreter that lives in the notebook: a model writes cells, you "
        "review them, they run.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    whole.add_argument("--version", action="version", version=__version__)
    commands = whole.add_subparsers(dest="command", metavar="COMMAND", required=True)
    _run(_command(commands, "run", "work on a task in a notebook"))
    _replay(_command(commands, "replay", "play a recorded conversation; its code runs now"))
    _sessions(_command(commands, "sessions", "list conversations, newest first"))
    _export(_command(commands, "export", "write a conversation to standard output"))
    _key(_command(commands, "key", "set, delete or list the models' keys; none is ever shown"))
    _command(commands, "doctor", "what is installed, and what to do about each problem")
    return whole


class _Parser(argparse.ArgumentParser):
    """No options by their first letters: a script would mean another one after an update."""

    def __init__(self, *args: object, **given: object) -> None:
        super().__init__(*args, **{"allow_abbrev": False, **given})  # type: ignore[arg-type]


def _command(
    commands: argparse._SubParsersAction[_Parser], name: str, words: str
) -> argparse.ArgumentParser:
    command = commands.add_parser(
        name,
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
        epilog=EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument(
        "--verbose", action="store_true", help="say on standard error what is logged"
    )
    return command


def _run(run: argparse.ArgumentParser) -> None:
    run.add_argument("notebook", metavar="NOTEBOOK", help="its file, which is worked in")
    run.add_argument("prompt", metavar="PROMPT", help="what is to be done")
    asks = run.add_mutually_exclusive_group()
    asks.add_argument("--yes", "-y", action="store_true", help="run cells without asking")
    asks.add_argument("--plan", action="store_true", help="run and change nothing")
    run.add_argument("-m", "--model", metavar="MODEL", help="the model that answers")
    kernel = run.add_mutually_exclusive_group()
    kernel.add_argument(
        "--kernel", metavar="NAME", help="a kernelspec; else what the notebook names"
    )
    kernel.add_argument(
        "--existing",
        action="store_true",
        help="use the kernel that a running server has for it, if no page has it open",
    )
    run.add_argument("--output", metavar="OUT.ipynb", help="work on a copy, in a new file")
    run.add_argument("--max-steps", metavar="N", type=_steps, help="model calls at most")
    run.add_argument(
        "--timeout",
        metavar="S",
        type=_seconds,
        help="seconds at most, without those in which you are asked",
    )
    run.add_argument("--json", action="store_true", help="events as lines of JSON, nothing else")


def _replay(replay: argparse.ArgumentParser) -> None:
    replay.add_argument("notebook", metavar="NOTEBOOK", help="its file, which is worked in")
    replay.add_argument("recording", metavar="RECORDING", help="an exported conversation (.jsonl)")
    replay.add_argument("--yes", "-y", action="store_true", help="run cells without asking")


def _sessions(sessions: argparse.ArgumentParser) -> None:
    sessions.add_argument("notebook", metavar="NOTEBOOK", nargs="?", help="only those of this one")
    sessions.add_argument("--json", action="store_true", help="as lines of JSON")


def _export(export: argparse.ArgumentParser) -> None:
    export.add_argument("session", metavar="SESSION", help="its id, or how that begins")
    export.add_argument(
        "--to",
        choices=("markdown", "recording"),
        default="markdown",
        help="to read, or to play again (default: %(default)s)",
    )


def _key(key: argparse.ArgumentParser) -> None:
    what = key.add_subparsers(dest="what", metavar="set|delete|list", required=True)
    setting = what.add_parser(
        "set", help="read a key from the terminal or standard input, try it, keep it"
    )
    setting.add_argument("--url", metavar="URL", default="", help="of a server that it is for")
    deleting = what.add_parser("delete", help="forget the kept key")
    for one in (setting, deleting):
        one.add_argument(
            "--provider",
            metavar="NAME",
            default="",
            help="whose key it is, as in the ids of its models (default: the default provider)",
        )
    what.add_parser("list", help="where keys come from, and where they go")


def _steps(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not (number > 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError("must be more than 0")
    return number
