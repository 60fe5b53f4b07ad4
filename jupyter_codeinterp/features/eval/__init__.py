"""``jupyter codeinterp eval``: measures a model with tasks.

tasks.py     loads tasks (``tasks/`` has those of this package)
checking.py  checks whether a notebook and answers solve a task
trial.py     one run of a task, in a copy of its folder
command.py   the command: many runs, and their results
results.py   the results as a table and as a page in Markdown
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...cli.arguments import Commands

HELP = "measure a model with tasks; its code runs unasked, in copies of their folders"


def commands(commands: Commands) -> None:
    add = commands.add("eval", HELP).add_argument
    words = "a task's name, or a folder of tasks (default: all of this package)"
    add("tasks", metavar="TASK", nargs="*", help=words)
    add("-m", "--model", metavar="MODEL", help="the model to measure")
    add("--runs", metavar="N", type=_number, default=1, help="runs of each task (default: 1)")
    add("--jobs", metavar="N", type=_number, default=2, help="runs at a time (default: 2)")
    add("--list", action="store_true", help="list the tasks and run nothing")
    add("--output", metavar="DIR", help="a new folder for the results (default: one in this one)")
    words = "play DIR/TASK.jsonl instead of asking a model, where it exists"
    add("--recordings", metavar="DIR", help=words)
    add("--json", action="store_true", help="print each run as a line of JSON")


def _number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number
