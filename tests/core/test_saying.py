"""What a person says while a turn is running: it answers, goes to the model, or is queued."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import CommandError, ModelError
from jupyter_codeinterp.journal.exports import markdown
from jupyter_codeinterp.session import messages
from jupyter_codeinterp.session.messages import route
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Message, Text, ToolResult
from jupyter_codeinterp.wire.ports import ModelRequest
from tests.kernels import until
from tests.scripted import Bench, call, run, say

CASES = json.loads((Path(__file__).parent.parent / "enter_cases.json").read_text())
MakeBench = Callable[..., Bench]


# --- the table ---------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["case"])
def test_what_a_message_does(case: dict[str, Any]) -> None:
    assert route(case["running"], case["questions"], case["about"]) == case["does"]


# --- what reaches the model ----------------------------------------------------------------


def last_words(message: Message) -> list[str]:
    """The texts that follow the results in a message of the person's side."""
    kinds = [isinstance(block, ToolResult) for block in message.content]
    assert kinds == sorted(kinds, reverse=True), "results come first, or the API refuses them"
    return [block.text for block in message.content if isinstance(block, Text)]


async def test_a_message_reaches_the_model_with_the_next_results(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), say("Done."))
    b.send("Add up")
    draft = await b.draft()
    assert b.session.send("In euros, please", "review", "") == "queue"
    assert b.session.send("And rounded", "review", "") == "queue"
    b.decide(draft)
    await b.ended()
    said = b.model.requests[1].messages
    assert [message.role for message in said] == ["user", "assistant", "user"]
    assert last_words(said[2]) == ["In euros, please\n\nAnd rounded"]
    heard = b.of(e.MessagesHeard)
    assert [(one.numbers, one.text) for one in heard] == [
        ((1, 2), "In euros, please\n\nAnd rounded")
    ]
    assert b.session.queue.messages == () and len(b.of(e.TurnStarted)) == 1
    assert b.of(e.DraftDecided)[0].action == "run"
    exported = markdown(b.session.info, b.events)
    assert exported.index("In euros, please") < exported.index("Done.")


async def test_one_that_comes_with_the_last_answer_begins_the_next_turn(bench: MakeBench) -> None:
    def answers(request: ModelRequest) -> Message:
        b.session.send("And 1 + 2?", "auto", "", 7)
        return say("It is 2.")

    b = bench(answers, say("It is 3."))
    b.send("1 + 1?")
    await b.ended(2)
    begun = b.of(e.TurnStarted)[1]
    assert (begun.text, begun.queued, begun.window, begun.mode) == ("And 1 + 2?", (1,), 7, "review")
    assert last_words(b.model.requests[1].messages[-1])[-1] == "And 1 + 2?"
    assert b.session.queue.messages == ()


async def test_stop_keeps_what_is_queued(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), say("Both."))
    b.send("Add up")
    await b.draft()
    b.session.send("In euros", "review", "")
    b.session.task.cancel()
    await b.ended()
    assert [message.text for message in b.session.queue.messages] == ["In euros"]
    assert len(b.of(e.TurnStarted)) == 1
    # What the person sends next takes it along.
    assert b.session.send("and in pounds", "auto", "") == "begin"
    await b.ended(2)
    assert b.of(e.TurnStarted)[1].text == "In euros\n\nand in pounds"
    assert last_words(b.model.requests[1].messages[-1])[-1] == "In euros\n\nand in pounds"


async def test_what_is_queued_can_be_sent_as_it_is(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), say("Well."))
    b.send("Add up")
    await b.draft()
    b.session.send("In euros", "review", "")
    b.session.task.cancel()
    await b.ended()
    b.session.send("", "auto", "")
    await b.ended(2)
    assert b.of(e.TurnStarted)[1].text == "In euros"
    with pytest.raises(CommandError, match="empty"):
        b.session.send("", "auto", "")


async def test_a_message_after_stop_does_not_wait_for_another(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), say("Fine."))
    b.send("Add up")
    await b.draft()
    b.session.task.cancel()
    assert b.session.running
    assert b.session.send("Rather this", "review", "") == "queue"
    await b.ended(2)
    assert b.of(e.TurnStarted)[1].text == "Rather this"


async def test_one_that_is_taken_back_never_reaches_the_model(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), say("Done."))
    b.send("Add up")
    draft = await b.draft()
    b.session.send("The first", "review", "")
    b.session.send("The second", "review", "")
    b.session.queue.take_back(1)
    with pytest.raises(CommandError) as gone:
        b.session.queue.take_back(1)
    assert gone.value.code == "not_queued"
    b.decide(draft)
    await b.ended()
    assert last_words(b.model.requests[1].messages[-1]) == ["The second"]
    with pytest.raises(CommandError):
        b.session.queue.take_back(2)


async def test_it_outlives_the_server(bench: MakeBench) -> None:
    b = bench(run("1 + 1"))
    b.send("Add up")
    await b.draft()
    b.session.send("In euros", "review", "")
    b.session.task.cancel()
    await b.ended()
    b.restart_server()
    assert [message.text for message in b.session.queue.messages] == ["In euros"]
    b.session.queue.take_back(1)
    b.restart_server()
    assert b.session.queue.messages == ()


async def test_an_error_keeps_it_and_trying_again_takes_it_along(bench: MakeBench) -> None:
    def fails(request: ModelRequest) -> Message:
        b.session.send("Quickly", "review", "")
        raise ModelError("offline", "No connection.")

    b = bench(run("1 + 1"), fails, say("Done."))
    b.send("Add up", "auto")
    await b.ended()
    assert [message.text for message in b.session.queue.messages] == ["Quickly"]
    b.session.retry()
    await b.ended(2)
    assert b.of(e.TurnStarted)[1].text == ""
    assert last_words(b.model.requests[2].messages[-1]) == ["Quickly"]


async def test_what_was_heard_is_not_lost_when_the_model_is_not_reached(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), ModelError("offline", "No connection."), say("Done."))
    b.send("Add up")
    draft = await b.draft()
    b.session.send("In euros", "review", "")
    b.decide(draft)
    await b.ended()
    b.session.retry()
    await b.ended(2)
    texts = [last_words(request.messages[-1]) for request in b.model.requests[1:]]
    assert texts == [["In euros"], ["In euros"]]


async def test_there_is_a_bound(bench: MakeBench) -> None:
    b = bench(run("1 + 1"))
    b.send("Add up")
    await b.draft()
    with pytest.raises(CommandError, match="characters"):
        b.session.send("x" * (messages.MOST_CHARACTERS + 1), "review", "")
    for _ in range(messages.MOST_QUEUED):
        b.session.send("More", "review", "")
    with pytest.raises(CommandError) as full:
        b.session.send("More", "review", "")
    assert full.value.code == "too_many_queued"
    b.session.task.cancel()
    await b.ended()


# --- what waits ------------------------------------------------------------------------------


async def test_words_for_the_queue_say_nothing_of_the_draft(bench: MakeBench) -> None:
    b = bench(run("1 + 1"), say("Done."))
    b.send("Add up")
    draft = await b.draft()
    for about in ("another", draft.draft_id, draft.call_id):
        with pytest.raises(CommandError) as stale:
            b.session.send("no", "review", "", 0, about)
        assert stale.value.code == "no_longer_waits"
    b.session.send("Slowly", "review", "")
    assert b.session.waiting
    b.decide(draft)
    await b.ended()
    assert [one.action for one in b.of(e.DraftDecided)] == ["run"]


async def test_words_answer_the_question(bench: MakeBench) -> None:
    b = bench(call("ask_user", question="Euros or dollars?"), say("Euros."))
    b.send("Add up")
    asked = await b.event(e.QuestionAsked)
    assert b.session.send("euros", "review", "", 0, asked.call_id) == "answer"
    await b.ended()
    assert "The person answered: euros" in b.results[0]
    with pytest.raises(CommandError, match="is no longer"):
        b.session.send("dollars", "review", "", 0, asked.call_id)
    await until(lambda: not b.session.running)
