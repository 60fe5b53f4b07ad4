"""A model that fails: nothing half-parsed runs, and the person is told what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Text, Usage, assistant
from jupyter_codeinterp.wire.ports import Model, ModelDone, ModelRetry
from tests.core.conftest import Room
from tests.scripted import Bench, Stream, call, run, say

Benches = Callable[..., Bench]

BROKEN = ModelError("broken_stream", "The connection broke.")
RETRIED = [
    "no_key",
    "wrong_key",
    "forbidden",
    "unknown_model",
    "offline",
    "rate_limit",
    "overloaded",
    "server_error",
    "spend_limit",
]


def asked(b: Bench) -> list[str]:
    """The person's words in the last request."""
    message = b.model.requests[-1].messages[-1]
    return [block.text for block in message.content if isinstance(block, Text)]


@pytest.mark.parametrize("code", RETRIED)
async def test_a_failed_call_says_why_and_can_be_tried_again(bench: Benches, code: str) -> None:
    b = bench(ModelError(code, "In words."), say("Hello."))
    ended = await b.turn("What is up?")
    assert (ended.stop_reason, ended.code, ended.message) == ("error", code, "In words.")
    assert ended.retry
    b.session.retry()
    assert (await b.ended(2)).stop_reason == "end_turn"
    assert asked(b)[-1] == "What is up?"
    assert len(b.model.requests[-1].messages) == 1
    assert b.of(e.TurnStarted)[1].text == ""


async def test_a_bad_request_is_not_tried_again(bench: Benches) -> None:
    b = bench(ModelError("bad_request", "Too odd."))
    assert not (await b.turn()).retry
    with pytest.raises(Exception, match="Nothing to retry"):
        b.session.retry()


async def test_a_model_that_cannot_be_had_loses_no_message(bench: Benches) -> None:
    b = bench(say("Hello."))
    had = b.session.services.model

    async def none(name: str) -> Model:
        raise ModelError("no_key", "No key.")

    b.session.services.model = none
    assert (await b.turn("What is up?")).code == "no_key"
    b.session.services.model = had
    b.session.retry()
    await b.ended(2)
    assert asked(b)[0] == "What is up?" and "<context" in asked(b)[2]


async def test_a_closed_notebook_loses_no_message(bench: Benches) -> None:
    b = bench(say("Hello."))
    b.document.is_open = False
    ended = await b.turn("What is up?")
    assert (ended.code, ended.retry) == ("not_open", True)
    b.document.is_open = True
    b.session.retry()
    await b.ended(2)
    assert asked(b)[0] == "What is up?"


async def test_a_notebook_closed_in_mid_turn_ends_it_with_retry(bench: Benches, room: Room) -> None:
    b = bench(run("a = 1"), call("edit_cell", cell_id="c1", source="x = 1"), say("Done."))
    b.send()
    draft = await b.draft()
    b.document.is_open = False
    b.decide(draft)
    ended = await b.ended()
    assert (ended.code, ended.retry) == ("not_open", True)
    assert b.results[0].startswith("status=ok")
    assert b.results[1].startswith("status=not_started")
    b.document.is_open = True
    b.session.retry()
    assert (await b.ended(2)).stop_reason == "end_turn"
    assert b.document.sources() == ["x = 20", "a = 1"]


async def test_a_wait_for_the_model_is_shown(bench: Benches) -> None:
    wait = ModelRetry("rate_limit", "Too many requests.", 2.0, 1)
    b = bench(Stream(say("Hello."), first=(wait,)))
    await b.turn()
    assert b.of(e.Retrying) == [e.Retrying("rate_limit", Sentence("Too many requests."), 2.0, 1)]
    assert b.sequence == ["TurnStarted", "StepStarted", "Retrying", "TextDone", "TurnEnded"]


@pytest.mark.parametrize("pieces", [0, 2, 6, 9])
async def test_a_broken_stream_is_repeated_once(bench: Benches, room: Room, pieces: int) -> None:
    reply = assistant(Text("I look."), *run("print(1)").content)
    b = bench(Stream(reply, pieces=pieces, error=BROKEN), run("print(2)"), say("Done."))
    ended = await b.turn()
    assert ended.stop_reason == "end_turn"
    assert await room.ran() == ["print(2)"]
    assert b.document.sources() == ["x = 20", "print(2)"]
    (discarded,) = b.of(e.StepDiscarded)
    assert "Repeating" in discarded.reason
    first, second = b.model.requests[:2]
    assert first.messages == second.messages


@pytest.mark.parametrize("ending", [BROKEN, None])
async def test_a_stream_that_ends_too_early_is_a_broken_one(
    bench: Benches, room: Room, ending: ModelError | None
) -> None:
    b = bench(run("print(1)"), run("print(1)"))
    whole = b.model.stream

    async def cut(request: object) -> object:
        async for event in whole(request):
            if isinstance(event, ModelDone):
                if ending is not None:
                    raise ending
                return
            yield event

    b.model.stream = cut
    b.model.replies = []
    ended = await b.turn()
    b.model.replies = [None] * len(b.model.requests)
    assert (ended.stop_reason, ended.code, ended.retry) == ("error", "broken_stream", True)
    assert await room.ran() == [] and b.document.sources() == ["x = 20"]
    assert len(b.of(e.StepDiscarded)) == 2
    b.model.stream = whole
    b.model.script = [say("Done.")]
    b.session.retry()
    assert (await b.ended(2)).stop_reason == "end_turn"


async def test_a_reply_cut_off_in_a_call_runs_nothing(bench: Benches, room: Room) -> None:
    cut = ModelDone(run("print(1"), "max_tokens", Usage(1, 1))
    b = bench(cut, run("print(1)"), say("Done."))
    await b.turn()
    assert await room.ran() == ["print(1)"]
    assert b.results[0].startswith("status=not_started\nYour reply was cut off")


async def test_a_text_cut_off_is_said(bench: Benches) -> None:
    b = bench(ModelDone(say("Once upon"), "max_tokens", Usage(1, 1)))
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("error", "max_tokens")


async def test_a_pause_goes_on_by_itself(bench: Benches) -> None:
    b = bench(ModelDone(say("One moment …"), "pause_turn", Usage(1, 1)), run("1"), say("Done."))
    ended = await b.turn()
    assert ended.stop_reason == "end_turn"
    assert [m.role for m in b.model.requests[1].messages] == ["user", "assistant"]
    roles = [m.role for m in b.model.requests[2].messages]
    assert roles == ["user", "assistant", "assistant", "user"]


async def test_a_refusal_ends_the_turn_with_its_reason(bench: Benches, room: Room) -> None:
    refusal = ModelDone(run("print(1)"), "refusal", Usage(1, 1), detail="Not that.")
    b = bench(refusal, say("Hello."))
    ended = await b.turn()
    assert (ended.stop_reason, ended.message, ended.retry) == ("refusal", "Not that.", False)
    assert await room.ran() == [] and b.document.sources() == ["x = 20"]
    await b.turn("Something else")
    assert b.of(e.TextDone)[-1].text == "Hello."


@pytest.mark.parametrize("reply", [say("Once upon"), run("print(1)")])
async def test_a_full_context_goes_on_with_a_summary(
    bench: Benches, room: Room, reply: object
) -> None:
    full = ModelDone(reply, "model_context_window_exceeded", Usage(1, 1))  # type: ignore[arg-type]
    b = bench(full, say("Done."))
    ended = await b.turn("Count the rows")
    assert ended.stop_reason == "end_turn" and await room.ran() == []
    assert "Continuing with a summary" in b.of(e.Note)[0].text
    assert asked(b)[-1] == "Go on with this request:\nCount the rows"


async def test_a_request_that_does_not_fit_goes_on_with_a_summary(bench: Benches) -> None:
    b = bench(ModelError("context_full", "Too long."), say("Done."))
    ended = await b.turn("Count the rows")
    assert ended.stop_reason == "end_turn"
    assert "Continuing with a summary" in b.of(e.Note)[0].text
    assert asked(b)[-1] == "Go on with this request:\nCount the rows"


async def test_a_request_that_never_fits_ends_in_words(bench: Benches) -> None:
    b = bench(*[ModelError("context_full", "Too long.")] * 2)
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("error", "context_full")


async def test_an_unknown_stop_reason_is_named(bench: Benches) -> None:
    b = bench(ModelDone(say("Hm."), "tired", Usage(1, 1)))
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("error", "unknown_stop") and "tired" in ended.message


async def test_a_bug_is_logged_and_the_session_lives_on(
    bench: Benches, caplog: pytest.LogCaptureFixture
) -> None:
    b = bench(lambda request: 1 / 0, say("Hello."))
    ended = await b.turn()
    assert (ended.stop_reason, ended.code) == ("error", "internal")
    assert "Traceback" not in ended.message and "ZeroDivisionError" in caplog.text
    assert (await b.turn()).stop_reason == "end_turn"


async def test_nothing_else_begins_during_a_turn(bench: Benches) -> None:
    b = bench(run("1"), say("Done."))
    b.send()
    draft = await b.draft()
    for act in (b.session.retry, lambda: b.session.set_model("m")):
        with pytest.raises(Exception, match="A turn is running"):
            act()
    with pytest.raises(Exception, match="A turn is running"):
        await b.session.reviews.undo(1)
    b.decide(draft)
    assert (await b.ended()).stop_reason == "end_turn"


async def test_an_empty_message_is_refused(bench: Benches) -> None:
    b = bench()
    with pytest.raises(Exception, match="empty"):
        b.send("  \n")
    assert b.events == []
