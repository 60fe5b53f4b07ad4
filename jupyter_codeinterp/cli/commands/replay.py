"""``replay``: replays a recording and runs its code again. It changes only cells that it created.

With ``--yes`` the usual policy decides. Code that needs a review in every mode is still reviewed,
or rejected if nobody can review it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import msgspec

from ...adapters.providers.replay.model import departs
from ...adapters.providers.replay.recording import Recording, RecordingError, check, parse
from ...core.approval.modes import ASKING, cap
from ...core.events import Draft, DraftOpened, Event, QuestionAsked, TextDone
from ...demo import MODEL
from ...server.workbench import config as config_files
from ..local.bench import LocalBench
from ..local.place import check as check_notebook
from ..local.place import place_of
from ..local.problems import DONE, FAILED, USAGE, Problem
from ..terminal.fronts import Decision, Front
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
    running.warn_of_page(place.file)
    return asyncio.run(_replay(options, _read(options.recording), stopping))


def _read(name: str) -> Recording:
    try:
        with Path(name).open("rb") as file:
            text = file.read(LARGEST + 1)
    except OSError as error:
        raise Problem(f"Cannot read {name}: {error.strerror}.", USAGE) from None
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
    mode = running.UNASKED if options.yes else ASKING
    running.apply_limits(settings, mode, None)
    # Recordings are untrusted: without --yes each run is reviewed, and "run all" is not offered.
    settings.highest_mode = cap(mode, settings.highest_mode)
    recording = msgspec.structs.replace(recording, always_ask=not options.yes)
    if settings.demo_pace is None and not sys.stdout.isatty():
        settings.demo_pace = 0.0
    place = place_of(options.notebook)
    async with LocalBench(config, settings, place.root, recording) as bench:
        front = OwnCells(running.front_for(lambda: bench.language, False, stopping))
        turn = Turn(bench, front, stopping)
        code = await turn.play(place.path, "", recording.question, mode, MODEL)
    # The last text reports a departure from the recording.
    return FAILED if code == DONE and front.departed else code


class OwnCells:
    """A front that rejects changes of cells that the recording did not create."""

    def __init__(self, front: Front) -> None:
        self._front = front
        self._own: set[str] = set()
        self.departed = False
        """Whether the replay departed from the recording."""

    def show(self, event: Event, raw: bytes) -> None:
        if isinstance(event, DraftOpened) and event.kind not in _CHANGES:
            self._own.add(event.cell_id)
        elif isinstance(event, TextDone):
            self.departed = departs(event.text)
        self._front.show(event, raw)

    async def decide(self, draft: Draft) -> Decision:
        if draft.kind in _CHANGES and draft.cell_id not in self._own:
            print("Not done: the recording did not create this cell.", file=sys.stderr, flush=True)
            return Decision("reject", draft.source)
        return await self._front.decide(draft)

    async def answer(self, question: QuestionAsked) -> str:
        return await self._front.answer(question)

    def pause(self) -> None:
        self._front.pause()
