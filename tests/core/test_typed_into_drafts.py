"""What becomes of a draft that is given up: it goes, but not what the person has typed into it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.wire import events as e
from tests.core.test_taking_up import killed
from tests.scripted import Bench, Stream, run, say

Benches = Callable[..., Bench]
CODE = "a = 1\nprint(a)"
UNTOUCHED, BEGINNING, MINE, CLEARED = CODE, "a =", "a = 2  # mine", ""


async def stop(b: Bench) -> None:
    b.session.task.cancel()


async def reject(b: Bench) -> None:
    b.decide(b.of(e.DraftWaiting)[-1].draft, "reject")


async def taken_up(b: Bench) -> None:
    killed(b)


async def close(b: Bench) -> None:
    await b.session.close()


WHILE_IT_WAITS: list[tuple[str, Any, str, bool]] = [
    # how it is given up, what the cell reads by then, whether the cell stays
    ("Stop", stop, UNTOUCHED, False),
    ("Stop", stop, BEGINNING, False),
    ("Stop", stop, CLEARED, False),
    ("Stop", stop, MINE, True),
    ("Reject", reject, UNTOUCHED, False),
    ("Reject", reject, MINE, False),
    ("the server stops", close, UNTOUCHED, False),
    ("the server stops", close, MINE, True),
    ("the server is killed", taken_up, UNTOUCHED, False),
    ("the server is killed", taken_up, MINE, True),
]


@pytest.mark.parametrize(
    ("how", "reads", "stays"),
    [(how, reads, stays) for _, how, reads, stays in WHILE_IT_WAITS],
    ids=[f"{name}, {reads!r}" for name, _, reads, _ in WHILE_IT_WAITS],
)
async def test_a_draft_that_waits(bench: Benches, how: Any, reads: str, stays: bool) -> None:
    b = bench(run(CODE), say("Done."))
    b.send()
    draft = await b.draft()
    b.document.edit(draft.cell_id, reads)
    await how(b)
    await b.ended()
    left = ["x = 20", reads] if stays else ["x = 20"]
    assert how is taken_up or b.document.sources() == left
    await b.turn()
    assert b.document.sources() == left


@pytest.mark.parametrize(("reads", "stays"), [("", False), ("a", False), (MINE, True)])
async def test_a_draft_that_is_still_written(bench: Benches, reads: str, stays: bool) -> None:
    """The connection breaks; the same call comes again in a new draft."""
    broken = Stream(run(CODE), pieces=7, error=ModelError("broken_stream", "It broke."))
    b = bench(broken, run(CODE), say("Done."))
    b.model.pause = 0.06
    b.send(mode="auto")
    opened = await b.event(e.DraftOpened)
    b.model.hold = asyncio.Event()
    b.document.edit(opened.cell_id, reads)
    b.model.hold.set()
    await b.ended()
    rest = [reads] if stays else []
    assert sorted(b.document.sources()) == sorted(["x = 20", *rest, CODE])
    await b.session.reviews.undo(1)
    assert b.document.sources() == ["x = 20", *rest]
