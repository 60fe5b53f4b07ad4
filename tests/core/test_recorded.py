"""A conversation, exported as a recording, is played on a fresh copy: the same code runs."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator, Callable

import pytest

from jupyter_codeinterp import demo
from jupyter_codeinterp.adapters.providers.replay.model import ReplayModel
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.exports.recording import recording
from jupyter_codeinterp.core.messages import Text
from jupyter_codeinterp.core.ports import ModelDone, ModelEvent, ModelInfo, ModelRequest
from tests.core.conftest import Room
from tests.scripted import Bench, call, fix, last_cell, run, say

Benches = Callable[..., Bench]


class Played:
    """The replay model with this recording, and what it was asked and has answered."""

    always_ask = True

    def __init__(self, text: str, patch: pytest.MonkeyPatch) -> None:
        with patch.context() as context:
            context.setattr(demo, "read", {"growth.jsonl": text.encode()}.__getitem__)
            self._model = ReplayModel(pace=0)
        self.requests: list[ModelRequest] = []
        self.replies: list[ModelDone | None] = []

    async def info(self, model: str) -> ModelInfo:
        return await self._model.info(model)

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelEvent]:
        self.requests.append(request)
        self.replies.append(None)
        async for event in self._model.stream(request):
            if isinstance(event, ModelDone):
                self.replies[-1] = event
            yield event


def exported(b: Bench) -> str:
    return recording(b.session.info, b.events, b.store.all_messages(b.info.session_id))


async def allow_all(b: Bench) -> None:
    for number in itertools.count(1):
        b.decide(await b.draft(number))


async def play(b: Bench, words: str) -> str:
    """Ask, allow whatever is asked for; what the model says at the end."""
    allowing = asyncio.ensure_future(allow_all(b))
    await b.turn(words, "review")
    allowing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await allowing
    reply = b.model.replies[-1]
    assert reply is not None
    return "".join(block.text for block in reply.message.content if isinstance(block, Text))


async def test_the_same_code_runs(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a failure that is mended, an edit of the person's, one cell that they reject, a
    Markdown cell, a cell of theirs that is edited and another question."""
    first = bench(
        run("1 / 0", title="Divide"),
        fix("y = 1\ny"),
        run("never = 1"),
        lambda request: call("add_markdown", after_cell_id=last_cell(request), source="# Of y"),
        lambda request: say(f"See [y](#cell:{last_cell(request)}), not {{{{user.name}}}}."),
        call("inspect_variables"),
        call("edit_cell", cell_id="c1", source="x = 21"),
        run("print(x + y)"),
        say("It is 22."),
    )
    assert first.document.notebook["cells"][0]["id"] == "c1"
    first.send("Make y")
    first.decide(await first.draft())
    mended = await first.draft(2)
    first.decide(mended, source="y = 2 - 1\ny")
    first.decide(await first.draft(3), "reject")
    await first.ended()
    first.send("And x?")
    first.decide(await first.draft(4))
    first.decide(await first.draft(5))
    await first.ended(2)
    ran = await room.ran()
    assert ran == ["1 / 0", "y = 2 - 1\ny", "x = 21", "print(x + y)"]
    stands = first.document.sources()
    assert stands == ["x = 21", "y = 2 - 1\ny", "# Of y", "print(x + y)"], "the newest last"

    await room.clean()
    again = bench()
    again.model = Played(exported(first), monkeypatch)
    said = await play(again, "Make y")
    assert await room.ran() == ran
    assert again.document.sources() == stands
    assert said == "It is 22."
    texts = [event.text for event in again.of(e.TextDone)]
    (y,) = (c["id"] for c in again.document.notebook["cells"] if c["source"] == "# Of y")
    assert any(
        f"See [y](#cell:{y}), not {{{{user.name}}}}.\n\n> And x?" in text for text in texts
    ), texts


async def test_an_answer_about_other_figures_is_not_given(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    await room.run("import itertools; counter = itertools.count()")
    first = bench(run("next(counter)", title="Count"), say("It is 0."))
    await first.turn("How many?")
    again = bench()
    again.model = Played(exported(first), monkeypatch)
    said = await play(again, "How many?")
    assert "This run differs from the recording" in said and "It is 0" not in said


async def test_what_differs_in_every_run_is_no_other_figure(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bench(run("object()"), run("raise KeyError(id(object()))"), say("As it is."))
    await first.turn("Go on")
    first_run = first.results
    again = bench()
    again.model = Played(exported(first), monkeypatch)
    assert await play(again, "Go on") == "As it is."
    assert len(first_run) == 2 and first_run != again.results


async def test_a_conversation_that_was_stopped_can_be_played_to_there(
    bench: Benches, room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = bench(run("a = 1"), run("b = 1"))
    first.send("Go")
    first.decide(await first.draft())
    await first.draft(2)
    first.session.cancel()
    await first.ended()
    again = bench()
    again.model = Played(exported(first), monkeypatch)
    assert "ends here" in await play(again, "Go")
    assert await room.ran() == ["a = 1", "a = 1"]
