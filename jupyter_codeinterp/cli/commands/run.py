"""``run``: a task in a notebook's file, in a kernel of its own."""

from __future__ import annotations

import argparse
import asyncio
import sys

from ...core.approval.modes import ASKING, HIGHEST, MODES, within
from ...core.events import Mode
from ...server.workbench.settings import CodeInterpSettings
from ..local import config as config_files
from ..local.bench import LocalBench
from ..local.existing import find
from ..local.place import check, copy, place_of
from ..local.problems import USAGE, Problem
from ..terminal.fronts import Front, Program
from ..terminal.stopping import Stopping
from .turn import Turn

UNASKED: Mode = HIGHEST
PLAN: Mode = min(MODES, key=lambda mode: MODES[mode].rank)


def run(options: argparse.Namespace, stopping: Stopping) -> int:
    if not options.prompt.strip():
        raise Problem("The prompt is empty.", USAGE)
    return asyncio.run(_run(options, stopping))


async def _run(options: argparse.Namespace, stopping: Stopping) -> int:
    mode = _mode(options)
    config = config_files.load()
    settings = config_files.settings(config)
    hold_limits(settings, mode, options.max_steps)
    source = place_of(options.notebook)
    place = place_of(options.output) if options.output else source
    check(source.file, written=not options.output)
    existing = find(source.file) if options.existing else None
    if options.output:
        copy(source.file, place.file)
    async with LocalBench(config, settings, place.root, existing=existing) as bench:
        if options.output:
            bench.work_beside(source.file)
        front = front_for(bench, options.json, stopping)
        turn = Turn(bench, front, stopping, options.timeout)
        kernel, model = options.kernel or "", options.model or ""
        return await turn.play(place.path, kernel, options.prompt, mode, model)


def _mode(options: argparse.Namespace) -> Mode:
    if options.plan:
        return PLAN
    if options.yes:
        return UNASKED
    need_terminal(options.json, "--yes (run without asking) or --plan (run nothing)")
    return ASKING


def need_terminal(json: bool, instead: str) -> None:
    """Raises Problem where nobody can be asked."""
    if json:
        raise Problem(f"With --json nobody is asked: say {instead}.", USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Problem(f"There is no terminal to ask at: say {instead}.", USAGE)


def hold_limits(settings: CodeInterpSettings, mode: Mode, max_steps: int | None) -> None:
    """What an admin has set may be gone below, not beyond. Raises Problem."""
    if not within(mode, settings.highest_mode):
        words = f"The mode {mode} is not allowed here (c.CodeInterp.highest_mode)."
        raise Problem(words, USAGE)
    if max_steps is not None:
        if max_steps > settings.max_steps:
            most = f"c.CodeInterp.max_steps = {settings.max_steps}"
            raise Problem(f"--max-steps {max_steps} is more than is allowed here ({most}).", USAGE)
        settings.max_steps = max_steps


def front_for(bench: LocalBench, json: bool, stopping: Stopping) -> Front:
    if json:
        return Program()

    from ..terminal.drawing import Screen  # not for a program
    from ..terminal.people import Person

    asks = sys.stdin.isatty() and sys.stdout.isatty()
    return Person(Screen(), stopping, asks, lambda: bench.language)
