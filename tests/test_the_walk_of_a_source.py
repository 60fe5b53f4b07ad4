"""How often a cell's source goes over the wire and into the journal: what the other side has is
named, and not sent or written once more."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.base.sentences import to_journal
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.events import Mode
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import ReferenceWindow
from tests.site import Site

MARK = "of which there is one"
SOURCE = f"one = 1\nprint(one)  # {MARK}"

WIRE = {
    # As it is whole, to be decided on, and what was decided on.
    "review": ["OpFrame", "EventFrame", "Decide"],
    "auto": ["OpFrame", "EventFrame"],
}
JOURNAL = {"messages": 1, "ops": 1, "events": 1}
"""What the model wrote, what went into the cell, and what was decided on."""


class Carried:
    """What one window gets and sends that holds the source, by the names of the frames."""

    def __init__(self, window: ReferenceWindow) -> None:
        self._window = window
        self._sent: list[str] = []
        self._seen = 0
        write = window.socket.write_message

        def note(message: Any) -> Any:
            if MARK in message:
                self._sent.append(type(msgspec.json.decode(message, type=c.Command)).__name__)
            return write(message)

        window.socket.write_message = note  # type: ignore[method-assign, assignment]

    def take(self) -> list[str]:
        """Since the last time. Code that is streamed goes over the wire once, however many
        pieces it comes in."""
        frames, self._seen = self._window.frames[self._seen :], len(self._window.frames)
        names: list[str] = []
        for frame in frames:
            streams = isinstance(frame, c.StreamFrame)
            if streams and "StreamFrame" not in names:
                names.append("StreamFrame")
            elif not streams:
                times = msgspec.json.encode(frame, enc_hook=to_journal).decode().count(MARK)
                names += [type(frame).__name__] * times
        sent, self._sent = self._sent, []
        return names + sent


def journaled(site: Site) -> dict[str, int]:
    """In any column of any table."""
    found: dict[str, int] = {}
    with closing(sqlite3.connect(site.extension.workbench.store._path)) as db:
        tables = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        for (table,) in tables.fetchall():
            rows = db.execute(f"SELECT * FROM {table}")
            times = sum(_times(value) for row in rows for value in row)
            if times:
                found[table] = times
    return found


def _times(value: object) -> int:
    text = value.decode() if isinstance(value, bytes) else str(value)
    return text.count(MARK)


@pytest.mark.parametrize("slowly", [False, True], ids=["at once", "slowly"])
@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_the_walk_of_a_source(
    site: Site, api: FakeAnthropic, mode: Mode, slowly: bool
) -> None:
    """Code that comes slowly is also sent as it is written."""
    api.play(in_order([answer(run_cell(SOURCE)).at(delay=0.05 * slowly), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    carried = Carried(w)
    assert (await w.ask("Go", mode)).error is None
    if mode == "review":
        await w.decide(await w.draft())
    await w.ended()
    assert w.cells[1]["outputs"][0]["text"] == "1\n"
    assert carried.take() == ["StreamFrame"] * slowly + WIRE[mode]
    assert journaled(site) == JOURNAL
