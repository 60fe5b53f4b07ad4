"""A message about a draft that waits: it decides nothing. The table says what happens when."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from jupyter_codeinterp.base.errors import CommandError, ModelError
from jupyter_codeinterp.run.turn.results import OUTCOME
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.events import Draft
from jupyter_codeinterp.wire.messages import Message, Text, ToolResult, ToolUse, assistant
from jupyter_codeinterp.wire.ports import ModelRequest
from tests.core.by_hand import by_hand
from tests.core.conftest import Room
from tests.core.test_taking_up import killed
from tests.kernels import until
from tests.reference_window import notebook
from tests.scripted import Bench, Turn, call, fix, run, say

Benches = Callable[..., Bench]

FIRST, OTHER = "print('mean')", "print('median')"


def two_drafts() -> Message:
    calls = (ToolUse(f"toolu_{n}", "run_cell", {"source": f"print({n})"}) for n in (1, 2))
    return assistant(*calls)


def ask() -> Message:
    return call("ask_user", question="Which?")


@dataclass(frozen=True)
class Case:
    """``replies`` are the model's, ``acts`` the person's (methods of ``Play``), ``told`` what
    the model then gets with each request after the first, ``cells`` the notebook at the end
    (after its first cell), ``ran`` what the kernel got."""

    name: str
    replies: list[Turn]
    acts: list[str]
    told: list[list[str]]
    cells: list[str] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    end: str = "end_turn"


WAITS, SAID = "waiting", "Why?"
RAN, REJECTED, STOPPED = "outcome: ok", "outcome: rejected", "outcome: not_started"
ANSWER, DONE = say("The mean."), say("Done.")

CASES = [
    Case(
        "a question, then Run",
        [run(FIRST), ANSWER, DONE],
        ["draft", "write", "answered", "run"],
        [[WAITS, SAID], [RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "a question, then Reject with a reason",
        [run(FIRST), ANSWER, DONE],
        ["draft", "write", "answered", "reject"],
        [[WAITS, SAID], [REJECTED]],
    ),
    Case(
        "a wish: other code takes its place and asks again",
        [run(FIRST), run(OTHER), DONE],
        ["draft", "write", "draft", "old nonce", "run"],
        [[WAITS, SAID], ["ok"]],
        [OTHER],
        [OTHER],
    ),
    Case(
        "a bare no is a message like any other",
        [run(FIRST), say("What instead?"), DONE],
        ["draft", "no", "answered", "reject"],
        [[WAITS, "no"], [REJECTED]],
    ),
    Case(
        "a second message while the model answers",
        [run(FIRST), ANSWER, say("Yes."), DONE],
        ["draft", "hold", "write", "asked", "write again", "go", "answered", "answered", "run"],
        [[WAITS, SAID], ["Again?"], [RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "a second message after the answer",
        [run(FIRST), ANSWER, say("Yes."), DONE],
        ["draft", "write", "answered", "write again", "answered", "run"],
        [[WAITS, SAID], ["Again?"], [RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "Run before the model has answered: its result follows the answer",
        [run(FIRST), ANSWER, DONE],
        ["draft", "hold", "write", "asked", "run", "has run", "go"],
        [[WAITS, SAID], [RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "Reject before the model has answered",
        [run(FIRST), ANSWER, DONE],
        ["draft", "hold", "write", "asked", "reject", "go"],
        [[WAITS, SAID], [REJECTED]],
    ),
    Case(
        "Run before the model has written other code: that is not started",
        [run(FIRST), run(OTHER), DONE],
        ["draft", "hold", "write", "asked", "run", "has run", "go"],
        [[WAITS, SAID], ["not_started", RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "run with the person's edit",
        [run(FIRST), ANSWER, DONE],
        ["draft", "write", "answered", "edit and run"],
        [[WAITS, SAID], [RAN]],
        ["print('mine')"],
        ["print('mine')"],
    ),
    Case(
        "run by a notebook command",
        [run(FIRST), ANSWER, DONE],
        ["draft", "write", "answered", "run by hand"],
        [[WAITS, SAID], [RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "its cell is deleted",
        [run(FIRST), ANSWER, DONE],
        ["draft", "write", "answered", "delete"],
        [[WAITS, SAID], [REJECTED]],
    ),
    Case(
        "an edit of a cell, replaced by another edit of it",
        [run("1 / 0"), fix(FIRST), fix(OTHER), DONE],
        ["draft", "run", "draft", "write", "draft", "run"],
        [["error"], [WAITS, SAID], ["ok"]],
        [OTHER],
        ["1 / 0", OTHER],
    ),
    Case(
        "several drafts in one reply: the others are not started",
        [two_drafts(), ANSWER, DONE],
        ["draft", "write", "answered", "run"],
        [[WAITS, "not_started", SAID], [RAN]],
        ["print(1)"],
        ["print(1)"],
    ),
    Case(
        "the answer is a look at the notebook, then words",
        [run(FIRST), call("read_notebook"), ANSWER, DONE],
        ["draft", "write", "answered", "run"],
        [[WAITS, SAID], ["ok"], [RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "the answer is a question: a message about it answers it, and the draft waits",
        [run(FIRST), ask(), ANSWER, DONE],
        ["draft", "write", "question", "answer", "answered", "run"],
        [[WAITS, SAID], ["ok"], [RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "the draft runs while a question waits",
        [run(FIRST), ask(), DONE],
        ["draft", "write", "question", "run", "has run", "answer"],
        [[WAITS, SAID], ["ok", RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "the model cannot be reached: the draft goes on waiting",
        [run(FIRST), ModelError("offline", "No connection."), DONE],
        ["draft", "write", "noted", "run"],
        [[WAITS, SAID], [WAITS, SAID, RAN]],
        [FIRST],
        [FIRST],
    ),
    Case(
        "Stop while the model answers",
        [run(FIRST), ANSWER],
        ["draft", "hold", "write", "asked", "stop"],
        [[WAITS, SAID]],
        end="cancelled",
    ),
    Case(
        "Stop after the answer",
        [run(FIRST), ANSWER],
        ["draft", "write", "answered", "stop"],
        [[WAITS, SAID]],
        end="cancelled",
    ),
]


class Play:
    def __init__(self, b: Bench, room: Room) -> None:
        self.b = b
        self.room = room
        self.drafts: list[Draft] = []
        self.answers = 0

    @property
    def draft(self) -> Draft:
        return self.drafts[-1]

    async def act(self, name: str) -> None:
        await {
            "draft": self.see_draft,
            "write": lambda: self.write(SAID),
            "write again": lambda: self.write("Again?"),
            "no": lambda: self.write("no"),
            "hold": self.hold,
            "asked": self.asked,
            "go": self.go,
            "answered": self.answered,
            "run": self.run,
            "has run": self.has_run,
            "reject": self.reject,
            "edit and run": self.edit_and_run,
            "run by hand": lambda: by_hand(self.b, self.room, self.draft),
            "delete": self.delete,
            "old nonce": self.old_nonce,
            "question": self.question,
            "answer": self.answer,
            "noted": lambda: self.b.event(e.Note),
            "stop": self.stop,
        }[name]()

    async def see_draft(self) -> None:
        self.drafts.append(await self.b.draft(len(self.drafts) + 1))

    async def write(self, words: str) -> None:
        before = len(self.b.of(e.DraftDecided))
        assert self.b.session.send(words, "review", "", 0, self.draft.nonce) == "discuss"
        assert len(self.b.of(e.DraftDecided)) == before

    async def hold(self) -> None:
        self.b.model.hold = asyncio.Event()

    async def asked(self) -> None:
        """The model has been asked, and holds its answer."""
        count = len(self.drafts) + 1
        await until(lambda: len(self.b.model.requests) == count)

    async def go(self) -> None:
        self.b.model.hold.set()

    async def answered(self) -> None:
        """The draft waits on after the model's words."""
        self.answers += 1
        await self.b.event(e.TextDone, self.answers)
        assert self.draft.nonce in self.b.session.decisions.asked
        assert self.b.document.cell(self.draft.cell_id) is not None

    async def run(self) -> None:
        self.b.decide(self.draft)

    async def has_run(self) -> None:
        """It has run while the model still answers."""
        await self.b.event(e.ToolDone)

    async def reject(self) -> None:
        self.b.session.decide(
            self.draft.draft_id, self.draft.nonce, "reject", "", False, said="Use polars"
        )

    async def edit_and_run(self) -> None:
        self.b.decide(self.draft, source="print('mine')")

    async def delete(self) -> None:
        self.b.document.delete(self.draft.cell_id)
        self.b.session.decisions.gone(self.draft.cell_id)

    async def old_nonce(self) -> None:
        """An approval of the code that was replaced runs nothing."""
        with pytest.raises(CommandError):
            self.b.decide(self.drafts[0])
        assert self.b.document.cell(self.drafts[0].cell_id) is None

    async def question(self) -> None:
        self.asked_call = (await self.b.event(e.QuestionAsked)).call_id

    async def answer(self) -> None:
        assert self.b.session.send("This.", "review", "", 0, self.asked_call) == "answer"

    async def stop(self) -> None:
        self.b.session.cancel()


def told(request: ModelRequest) -> list[str]:
    """The newest user message: the status of each result and outcome, and the person's words."""
    found: list[str] = []
    for block in request.messages[-1].content:
        if isinstance(block, ToolResult):
            assert isinstance(block.content[0], Text)
            found.append(_status(block.content[0].text))
            assert block.is_error == (found[-1] not in ("ok", WAITS))
        elif isinstance(block, Text) and block.text.startswith(OUTCOME):
            found.append(f"outcome: {_status(block.text[len(OUTCOME) :])}")
        elif isinstance(block, Text) and not block.text.startswith(("<", "[Between")):
            found.append(block.text)
    return found


def _status(text: str) -> str:
    return text.split()[0].removeprefix("status=")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
async def test_a_message_about_a_draft_decides_nothing(
    bench: Benches, room: Room, case: Case
) -> None:
    b = bench(*case.replies)
    b.send("Go")
    play = Play(b, room)
    for act in case.acts:
        await play.act(act)
    ended = await b.ended()
    assert ended.stop_reason == case.end
    assert [told(request) for request in b.model.requests[1:]] == case.told
    assert b.document.sources() == ["x = 20", *case.cells]
    assert await room.ran() == case.ran
    assert b.session.queue.messages == ()
    assert b.model.script == []


# --- what else belongs to it -----------------------------------------------------------------


async def wait_for_words(b: Bench, source: str | None = None) -> Draft:
    """Ask about the first draft, and wait for the answer."""
    b.send("Go")
    draft = await b.draft()
    b.session.send(SAID, "review", "", 7, draft.nonce, source)
    await b.event(e.TextDone)
    return draft


async def test_the_model_gets_the_persons_version_of_the_draft(bench: Benches) -> None:
    b = bench(run(FIRST), ANSWER, DONE)
    draft = await wait_for_words(b, "print('mine')")
    assert "They have edited the draft. It now reads:\nprint('mine')" in b.results[0]
    b.decide(draft, "reject")
    await b.ended()


async def test_the_events_alone_tell_it(bench: Benches) -> None:
    b = bench(run(FIRST), ANSWER, DONE)
    b.decide(await wait_for_words(b))
    await b.ended()
    # The card of the call goes on over the answer, and its text is the person's message.
    assert b.sequence == [
        *("TurnStarted", "StepStarted", "ToolStarted", "DraftOpened", "DraftWaiting"),
        *("MessageQueued", "MessagesHeard", "StepStarted", "TextDone"),
        *("DraftDecided", "RunStarted", "ToolDone", "StepStarted", "TextDone", "TurnEnded"),
    ]
    assert b.of(e.MessagesHeard)[0].text == SAID and b.of(e.MessageQueued)[0].window == 7


async def test_a_server_that_stops_meanwhile_leaves_no_draft(bench: Benches) -> None:
    b = bench(run(FIRST), ANSWER, say("It is gone, then."))
    draft = await wait_for_words(b)
    killed(b)
    assert [done.status for done in b.of(e.ToolDone)] == ["not_started"]
    assert b.of(e.TurnEnded)[0].code == "server_stopped"
    with pytest.raises(CommandError):
        b.decide(draft)
    await b.turn("Go on")
    assert b.document.sources() == ["x = 20"]
    words = b.model.requests[2].messages[-1].content
    assert any("A draft that waited for a decision is gone." in str(block) for block in words)


async def test_a_message_at_the_moment_of_the_stop_is_kept(bench: Benches) -> None:
    b = bench(run(FIRST), ANSWER)
    b.send("Go")
    draft = await b.draft()
    b.session.send(SAID, "review", "", 0, draft.nonce)
    b.session.cancel()
    await b.ended()
    assert [message.text for message in b.session.queue.messages] == [SAID]


async def test_the_next_turn_knows_what_became_of_it(bench: Benches) -> None:
    b = bench(run(FIRST), ANSWER, DONE)
    await wait_for_words(b)
    b.session.cancel()
    await b.ended()
    await b.turn("Well?")
    assert told(b.model.requests[2])[0] == STOPPED
    # It can be asked again from before, and its summary puts nothing into the person's mouth.
    assert b.session.reviews.beginning(2).messages == 6
    summary = b.session.log.talk.summary()
    assert "Result: status=waiting" in summary and "Result: status=not_started" in summary
    assert "Person: Why?" in summary and "Person: [The outcome" not in summary


async def test_code_that_a_cell_proposed_is_discussed_after_its_run(bench: Benches) -> None:
    code = "get_ipython().set_next_input('print(2)')"
    b = bench(run(code), ANSWER, DONE)
    b.send("Go", "auto")
    draft = await b.draft()
    b.session.send(SAID, "review", "", 0, draft.nonce)
    await b.event(e.TextDone)
    assert b.results[0].startswith("status=ok") and "Not run yet" in b.results[0]
    b.decide(draft)
    await b.ended()
    assert told(b.model.requests[2]) == [RAN]
    assert b.document.sources() == ["x = 20", code, "print(2)"]


async def test_what_the_person_typed_into_a_replaced_draft_stays(bench: Benches) -> None:
    b = bench(run(FIRST), run(OTHER), DONE)
    b.send("Go")
    draft = await b.draft()
    b.document.edit(draft.cell_id, "print('mine')")
    b.session.send(SAID, "review", "", 0, draft.nonce, "print('mine')")
    b.decide(await b.draft(2))
    await b.ended()
    assert b.document.sources() == ["x = 20", "print('mine')", OTHER]


async def test_a_replacing_draft_takes_the_place_of_the_empty_cell_too(bench: Benches) -> None:
    b = bench(run(FIRST), run(OTHER), DONE, book=notebook("x = 1", ""))
    b.send("Go")
    draft = await b.draft()
    b.session.send(SAID, "review", "", 0, draft.nonce)
    b.decide(await b.draft(2))
    await b.ended()
    assert b.document.sources() == ["x = 1", OTHER]


async def test_a_run_that_the_server_cut_off_during_an_answer_is_known(bench: Benches) -> None:
    b = bench(run("import time; time.sleep(60)"), ANSWER)
    b.send("Go")
    draft = await b.draft()
    b.model.hold = asyncio.Event()
    b.session.send(SAID, "review", "", 0, draft.nonce)
    await until(lambda: len(b.model.requests) == 2)
    b.decide(draft)
    await b.event(e.RunStarted)
    killed(b)
    assert f"Code in the cells {draft.cell_id} had started to run" in b.session.log.replay.lost
