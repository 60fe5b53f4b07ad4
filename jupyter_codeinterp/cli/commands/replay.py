"""``replay``: a recording is played again, its code runs now. It changes no cell that it has not
made itself.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from ...adapters.providers.replay.recording import Recording, RecordingError, check, parse
from ...core.approval.modes import ASKING, cap
from ...core.events import Draft, Event, QuestionAsked, StepStarted
from ...demo import MODEL
from ..local import config as config_files
from ..local.bench import LocalBench
from ..local.place import check as check_notebook
from ..local.place import place_of
from ..local.problems import DONE, FAILED, USAGE, Problem
from ..terminal.fronts import Front, Word
from ..terminal.stopping import Stopping
from . import run as running
from .turn import Turn

_CHANGES = ("edit", "delete")
LARGEST = 50_000_000
"""Bytes of a recording."""


def replay(options: argparse.Namespace, stopping: Stopping) -> int:
    if not options.yes:
        running.need_terminal(False, "--yes (run without asking)")
    place = place_of(options.notebook)
    check_notebook(place.file, written=True)
    return asyncio.run(_replay(options, _read(options.recording), stopping))


def _read(name: str) -> Recording:
    try:
        with Path(name).open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise Problem(f"{name} cannot be read: {error.strerror}.", USAGE) from None
    if len(text) > LARGEST:
        raise Problem(f"{name} is too large for a recording.")
    try:
        recording = parse(text)
        check(recording)
    except RecordingError as error:
        raise Problem(f"{name}: {error.message}") from None
    return recording


async def _replay(options: argparse.Namespace, recording: Recording, stopping: Stopping) -> int:
    config = config_files.load()
    settings = config_files.settings(config)
    mode = ASKING
    running.hold_limits(settings, running.UNASKED if options.yes else mode, None)
    # A file of anybody's: each run is asked for, "run all" is not offered.
    settings.highest_mode = cap(mode, settings.highest_mode)
    if settings.demo_pace is None and not sys.stdout.isatty():
        settings.demo_pace = 0.0
    place = place_of(options.notebook)
    async with LocalBench(config, settings, place.root, recording) as bench:
        front = OwnCells(running.front_for(bench, False, stopping), options.yes)
        turn = Turn(bench, front, stopping)
        code = await turn.play(place.path, "", recording.question, mode, MODEL)
    if code == DONE and front.steps < len(recording.steps):
        return FAILED  # Its last words say where it has departed from the recording.
    return code


class OwnCells:
    """A front that lets a recording change cells that it has made, and no others; those without
    asking if ``yes``."""

    def __init__(self, front: Front, yes: bool) -> None:
        self._front = front
        self._yes = yes
        self._own: set[str] = set()
        self.steps = 0
        """That have been played."""

    def show(self, event: Event, raw: bytes) -> None:
        if isinstance(event, StepStarted):
            self.steps += 1
        self._front.show(event, raw)

    async def decide(self, draft: Draft) -> Word:
        if draft.kind not in _CHANGES:
            self._own.add(draft.cell_id)
        elif draft.cell_id not in self._own:
            print("Not done: the recording has not made this cell.", file=sys.stderr, flush=True)
            return Word("reject", draft.source)
        if self._yes:
            return Word("run", draft.source)
        return await self._front.decide(draft)

    async def answer(self, question: QuestionAsked) -> str:
        return await self._front.answer(question)

    def pause(self) -> None:
        self._front.pause()
