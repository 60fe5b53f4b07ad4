"""``run``: works on a task in a notebook."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...app import config as config_files
from ...app.notebooks.instructions import skills
from ...app.settings import CodeInterpSettings
from ...base.visible import visible_line
from ...run.approval.decisions import Alone
from ...run.approval.modes import ASKING, HIGHEST, MODES, within
from ...run.turn.ending import LIMITS
from ...view.redaction.found_secrets import looks_like_key
from ...view.skills import Skill
from ...wire.events import Mode
from ..local.bench import LocalBench
from ..local.existing import find, open_in_page
from ..local.place import NotebookPath, check, make, place_of
from ..local.problems import USAGE, Problem
from ..terminal.fronts import Front, JsonFront
from ..terminal.stopping import Stopping
from .turn import TerminalConversation, exit_code, to_the_end

if TYPE_CHECKING:
    from traitlets.config import Config

UNASKED: Mode = HIGHEST
LONGEST_PROMPT = 1_000_000
"""Bytes read from standard input."""
PLAN: Mode = min(MODES, key=lambda mode: MODES[mode].rank)


GO_ON = "Go on."
WITHIN = {PLAN: " Add --plan.", ASKING: " Leave out --yes."}
"""By the highest mode: what to do if it is below the requested one."""
TO_GO_ON = "To continue: jupyter codeinterp run {notebook} --continue"


def run(options: argparse.Namespace, stopping: Stopping) -> int:
    if options.prompt is None:
        if not options.continued:
            words = "PROMPT is missing. Put the task after NOTEBOOK, or add --continue."
            raise Problem(words, USAGE)
        options.prompt = GO_ON
    if options.prompt == "-":
        options.prompt = sys.stdin.buffer.read(LONGEST_PROMPT).decode("utf-8", "replace")
    if not options.prompt.strip():
        words = "The prompt is empty. Put the task after NOTEBOOK, or - to read it from a pipe."
        raise Problem(words, USAGE)
    if looks_like_key(options.prompt):
        words = "The prompt looks like an API key, so it was not sent. To save a key, run: "
        raise Problem(f"{words}jupyter codeinterp key set", USAGE)
    return asyncio.run(_run(options, stopping))


async def _run(options: argparse.Namespace, stopping: Stopping) -> int:
    mode = mode_of(options)
    async with opened(options, mode, stopping) as here:
        front = front_for(here, options, stopping)
        await here.talk.send(options.prompt, mode, options.model or "", alone=front.alone)
        ended = await to_the_end(here.talk, front, stopping)
    if ended.code in LIMITS:
        words = TO_GO_ON.format(notebook=options.notebook)
        print(visible_line(words), file=sys.stderr, flush=True)
    return exit_code(ended)


@dataclass
class OpenedNotebook:
    """A notebook to talk about, with a running kernel. ``skills``: the person's; ``highest``: the
    highest mode."""

    talk: TerminalConversation
    file: Path
    skills: Callable[[], Awaitable[list[Skill]]]
    highest: Mode


@asynccontextmanager
async def opened(
    options: argparse.Namespace, mode: Mode, stopping: Stopping
) -> AsyncIterator[OpenedNotebook]:
    """Raises Problem."""
    config = config_files.load()
    settings = config_files.settings(config)
    apply_limits(settings, mode, options.max_steps, WITHIN.get(settings.highest_mode, ""))
    place = place_of(options.notebook)
    if MODES[mode].changes and not options.existing and make(place.file):
        print(visible_line(f"Made {place.path}."), file=sys.stderr, flush=True)
    check(place.file, written=True)
    kernel = _sandboxed(config) if options.sandbox else options.kernel or ""
    existing = find(place.file) if options.existing else None
    if existing is None:
        warn_of_page(place.file)
    tell = _waiting_files(config, place.file) if options.sandbox else None
    try:
        async with LocalBench(config, settings, place.root, existing=existing) as bench:
            yield await _opened_in(bench, place, kernel, options, stopping)
    finally:
        if tell is not None:
            tell()


async def _opened_in(
    bench: LocalBench,
    place: NotebookPath,
    kernel: str,
    options: argparse.Namespace,
    stopping: Stopping,
) -> OpenedNotebook:
    """A new conversation, or the latest, with a running kernel. Raises Problem."""
    manager, path = bench.manager, place.path
    latest = next(iter(manager.list(path)), None)
    talk, model = TerminalConversation(bench, path), options.model or ""
    if options.continued:
        if latest is None:
            raise Problem(f"{path} has no conversation to continue.", USAGE)
        session = manager.session(latest.session_id)
        print(visible_line(f"Continuing: {latest.title}"), file=sys.stderr)
        talk.go_on(latest.session_id, session.event_log.last_seq)
        model = model or session.info.model
    await talk.start_kernel(kernel, model, stopping)
    return OpenedNotebook(
        talk,
        place.file,
        skills=lambda: skills(bench.contents, path),
        highest=manager.rules.highest_mode,
    )


def _waiting_files(config: Config, notebook: Path) -> Callable[[], None]:
    """Call before a sandboxed run. Return a function that says which files wait in an overlay."""
    from .sandboxes import overlays  # only on Linux

    root = overlays.root(config)
    before, folder = overlays.names(root), Path(os.path.realpath(notebook.parent))
    return lambda: overlays.tell(root, before, folder)


def warn_of_page(notebook: Path) -> None:
    """Warn that a page has the notebook open, whose file this run changes."""
    if server := open_in_page(notebook):
        words = (
            f"{notebook.name} is open in a page of {server}. Do not save it there now, and reload "
            "it afterwards."
        )
        print(visible_line(words), file=sys.stderr, flush=True)


def _sandboxed(config: Config) -> str:
    """The name of the sandboxed kernelspec. Raises Problem without one, or if it cannot run."""
    from jupyter_client.kernelspec import KernelSpecManager

    from ...sandbox import doctor, install

    if missing := doctor.problem():
        raise Problem(missing, USAGE)
    if name := install.installed(KernelSpecManager(config=config)):
        return name
    words = "No sandboxed kernel is installed. To install it: jupyter codeinterp sandbox install"
    raise Problem(words, USAGE)


def mode_of(options: argparse.Namespace) -> Mode:
    if options.plan:
        return PLAN
    if options.yes:
        return UNASKED
    need_terminal(options.json, "--yes (run without asking) or --plan (run nothing)")
    return ASKING


def need_terminal(json: bool, instead: str) -> None:
    """Raises Problem if nobody can answer questions."""
    if json:
        raise Problem(f"--json cannot ask. Add {instead}.", USAGE)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Problem(f"No terminal to ask in. Add {instead}.", USAGE)


def apply_limits(
    settings: CodeInterpSettings, mode: Mode, max_steps: int | None, way_out: str = ""
) -> None:
    """Apply ``max_steps``. Raises Problem beyond the admin's limits, with ``way_out`` if that is
    the mode."""
    if not within(mode, settings.highest_mode):
        raise Problem(f"{not_allowed(mode, settings.highest_mode)}{way_out}", USAGE)
    if max_steps is not None:
        if max_steps > settings.max_steps:
            most = f"c.CodeInterp.max_steps = {settings.max_steps}"
            raise Problem(f"--max-steps {max_steps} exceeds the limit ({most}).", USAGE)
        settings.max_steps = max_steps


def not_allowed(mode: Mode, highest: Mode) -> str:
    name, most = MODES[mode].label, MODES[highest].label
    return f"{name} is not allowed here: {most} is the limit (c.CodeInterp.highest_mode)."


def front_for(here: OpenedNotebook, options: argparse.Namespace, stopping: Stopping) -> Front:
    yes: Alone = options.yes or ""
    if options.json:
        return JsonFront(yes)

    from ..terminal.drawing import Screen  # not for a program
    from ..terminal.people import Person

    asks = sys.stdin.isatty() and sys.stdout.isatty()
    return Person(Screen(), stopping, asks, yes, here.file)
