"""Long conversations: summaries, images, another model; and secrets, which go nowhere."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable

from jupyter_codeinterp.agent import system_prompt
from jupyter_codeinterp.agent.agent import TOO_SMALL
from jupyter_codeinterp.agent.conversation import PART_LENGTH, SUMMARY, SUMMARY_LENGTH, Conversation
from jupyter_codeinterp.agent.tools.registry import built_in_tools
from jupyter_codeinterp.base.errors import StoreError
from jupyter_codeinterp.journal.event_log import DeferredWrites
from jupyter_codeinterp.run.turn.limits import Rules
from jupyter_codeinterp.view.redaction.secrets import Secrets
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import (
    MADE_ROOM,
    Image,
    ImageSource,
    Message,
    Text,
    ToolResult,
    ToolUse,
    Usage,
    assistant,
    user,
    with_room,
)
from jupyter_codeinterp.wire.ports import ModelDone
from tests.core.conftest import Room
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]


def pictures(messages: Iterable[Message]) -> list[str]:
    """The different pictures of results."""
    blocks = (block for message in messages for block in message.content)
    results = (block for block in blocks if isinstance(block, ToolResult))
    parts = (part for result in results for part in result.content)
    return list(dict.fromkeys(part.source.data for part in parts if isinstance(part, Image)))


PLOT = "%matplotlib inline\nimport matplotlib.pyplot as plt\nplt.plot([1, {}]);"


def texts(message: Message) -> list[str]:
    return [block.text for block in message.content if isinstance(block, Text)]


def long(message: Message) -> ModelDone:
    """A reply after which 90 % of a context of 1,000 tokens is used."""
    reason = "tool_use" if isinstance(message.content[-1], ToolUse) else "end_turn"
    return ModelDone(message, reason, Usage(850, 50))


async def test_a_nearly_full_context_goes_on_with_a_summary(bench: Benches, room: Room) -> None:
    b = bench(
        say("Hello."), long(run("a = 1", title="Set a")), run("b = a"), say("Done."),
        context_window=1_000,
    )  # fmt: skip
    await b.turn("Good morning")
    ended = await b.turn("Count the rows")
    assert ended.stop_reason == "end_turn" and await room.ran() == ["a = 1", "b = a"]
    (note,) = b.of(e.Note)
    assert "Continuing with a summary" in note.text
    (message,) = b.model.requests[2].messages
    _, described, summary, goal = texts(message)
    assert described.startswith("<context") and "a = 1" in described
    assert summary.startswith(SUMMARY) and "<context" not in summary
    for words in ("Person: Good morning", "You: Hello.", "You called run_cell Set a", "status=ok"):
        assert words in summary
    assert goal == "Go on with this request:\nCount the rows"


async def test_a_context_that_the_last_turn_filled_is_left_at_the_next(bench: Benches) -> None:
    b = bench(long(say("Long.")), say("Done."), context_window=1_000)
    await b.turn("First")
    assert b.of(e.Note) == []
    await b.turn("Second")
    assert len(b.of(e.Note)) == 1
    assert texts(b.model.requests[1].messages[0])[-1] == "Go on with this request:\nSecond"


async def test_a_context_that_is_too_small_for_the_summary_ends_the_turn(bench: Benches) -> None:
    full = ModelDone(say("That is as far"), "model_context_window_exceeded", Usage())
    b = bench(full, full, full)
    await b.turn()
    (ended,) = b.of(e.TurnEnded)
    assert (ended.stop_reason, ended.code, ended.message) == ("error", "context_full", TOO_SMALL)
    assert len(b.model.requests) == 2 and len(b.of(e.Note)) == 1


async def test_after_a_restart_of_the_server_too(bench: Benches) -> None:
    b = bench(long(say("Long.")), say("Done."), context_window=1_000)
    await b.turn("First")
    b.restart_server()
    await b.turn("Second")
    assert len(b.of(e.Note)) == 1


async def test_cells_of_the_old_conversation_can_still_be_edited(bench: Benches) -> None:
    b: Bench = bench(
        long(run("a = 1")),
        lambda r: call("edit_cell", cell_id=b.of(e.ToolDone)[0].cell_id, source="a = 2"),
        call("edit_cell", cell_id="c1", source="x = 1"),
        say("Done."),
        context_window=1_000,
    )
    b.send(mode="auto")
    b.decide(await b.draft())
    await b.ended()
    assert b.document.sources() == ["x = 1", "a = 2"]


async def test_another_model_begins_with_a_summary(bench: Benches) -> None:
    b = bench(say("Hello."), say("I am another."))
    await b.turn("Good morning")
    b.session.set_model("other")
    assert b.of(e.ModelChanged) == [e.ModelChanged("other")]
    assert "other" in b.of(e.Note)[0].text and "summary" in b.of(e.Note)[0].text
    await b.turn("Who are you?")
    request = b.model.requests[1]
    assert request.model == "other" and len(request.messages) == 1
    _, summary, described, _, words = texts(request.messages[0])
    assert "Person: Good morning" in summary and described.startswith("<context")
    assert words == "Who are you?"
    assert b.of(e.TurnStarted)[1].model == "other"


async def test_another_model_before_the_first_word_is_no_event_to_speak_of(bench: Benches) -> None:
    b = bench(say("Hello."))
    b.session.set_model("other")
    assert b.of(e.Note) == []
    await b.turn()
    assert b.model.requests[0].model == "other"


async def test_what_is_sent_is_only_ever_appended_to(bench: Benches) -> None:
    b = bench(run("1"), say("One."), run("2"), say("Two."))
    await b.turn(mode="auto")
    b.session.set_mode("plan")
    await b.turn(mode="plan")
    requests = b.model.requests
    assert all(
        (r.system, r.tools) == (system_prompt.SYSTEM, built_in_tools().specs()) for r in requests
    )
    for one, next_one in itertools.pairwise(requests):
        assert next_one.messages[: len(one.messages)] == one.messages


async def test_what_was_sent_can_be_shown(bench: Benches) -> None:
    b = bench(run("1"), say("One."))
    await b.turn("Count")
    sent = b.store.request(b.info.session_id, 2)
    assert sent is not None
    assert sent["system"] == system_prompt.SYSTEM and len(sent["messages"]) == 3
    assert b.store.request(b.info.session_id, 1)["messages"][0]["content"][-1]["text"] == "Count"  # type: ignore[index]


# --- images --------------------------------------------------------------------------


PIXEL = r"""
import struct, zlib
from IPython.display import Image, display

def part(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

def pixel(*shades):
    for shade in shades:
        head = part(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0))
        data = part(b"IDAT", zlib.compress(bytes([0, shade])))
        display(Image(b"\x89PNG\r\n\x1a\n" + head + data + part(b"IEND", b"")))
"""


async def test_the_oldest_pictures_make_room(bench: Benches, room: Room) -> None:
    await room.run(PIXEL)
    script = [run(f"pixel({n}, {n + 1}, {n + 2})") for n in range(1, 22, 3)]
    b = bench(*script, say("Many."), run("pixel(100)"), say("More."))
    await b.turn()
    shown = [pictures(request.messages) for request in b.model.requests]
    assert [len(one) for one in shown] == [0, 3, 6, 9, 12, 15, 18, 16]
    assert shown[7][:13] == shown[6][5:] and len(set(shown[7])) == 16
    assert str(b.model.requests[7].messages).count(MADE_ROOM) == 5
    b.restart_server()
    await b.turn()
    again = [pictures(request.messages) for request in b.model.requests[8:]]
    assert again[0] == shown[7] and again[1][:16] == shown[7] and len(again[1]) == 17


def test_pictures_of_the_person_stay() -> None:
    def picture(name: str) -> Image:
        return Image(ImageSource("image/png", name))

    theirs = user(*(picture(f"theirs {n}") for n in range(16)))
    results = [user(ToolResult("t", (Text("ok"), picture(f"own {n}")))) for n in range(9)]
    for count in range(10):
        kept = with_room((theirs, *results[:count]))
        assert kept[0] == theirs
        assert pictures(kept) == [f"own {n}" for n in range(max(0, count - 3), count)]


async def test_an_image_that_was_left_out_can_be_fetched(bench: Benches, room: Room) -> None:
    await room.run(PIXEL)
    b = bench(
        run("pixel(1, 2, 3, 4)"),
        lambda r: call("read_output", cell_id=last_cell(r), start=-20),
        say("Done."),
    )
    await b.turn()
    assert "read_output can fetch it" in b.results[0]
    assert len(pictures(b.model.requests[-1].messages)) == 4


# --- the summary by itself -----------------------------------------------------------


class Silent:
    """A journal that keeps nothing."""

    def messages(self, session_id: str) -> tuple[int, tuple[Message, ...]]:
        return 1, ()

    def append_messages(self, *_: object) -> None:
        return None


def talk(*messages: Message) -> Conversation:
    def refuse(error: StoreError) -> None:
        raise AssertionError(error.message)

    conversation = Conversation(Silent(), "s", DeferredWrites(refuse))  # type: ignore[arg-type]
    conversation.add(*messages)
    return conversation


def test_a_summary_is_bounded() -> None:
    long_words = "word " * 1_000
    conversation = talk(*(user(Text(f"{n} {long_words}")) for n in range(50)))
    summary = conversation.summary()
    assert len(summary) < SUMMARY_LENGTH + 200
    assert "Person: 0 word" in summary and "Person: 49 word" in summary
    assert len(talk(user(Text(long_words))).summary()) < PART_LENGTH + 100


def test_a_summary_takes_the_one_before_over() -> None:
    first = talk(user(Text("One " + "a" * 1_400)), assistant(Text("Two " + "b" * 1_400)))
    summary = first.summary()
    second = talk(user(Text("<context>…</context>"), Text(summary), Text("Go on")))
    assert summary[len(SUMMARY) :] in second.summary()
    assert "<context" not in second.summary()


def test_the_persons_side_is_one_message() -> None:
    call_ = ToolUse("t", "run_cell", {})
    result = ToolResult("t", (Text("ok"),))
    conversation = talk(user(Text("a")), assistant(call_), user(result), user(Text("b")))
    assert conversation.for_request()[-1] == user(result, Text("b"))


# --- secrets -------------------------------------------------------------------------


async def test_a_known_key_goes_nowhere(bench: Benches, room: Room) -> None:
    secrets = Secrets()
    secrets.add("sk-ant-secret-value")
    await room.run("key = 'sk-ant-' + 'secret-value'")
    b = bench(
        run("print(key)"),
        run("raise ValueError(key)"),
        call("read_notebook", outputs=True),
        say("Done."),
        rules=Rules(scrub=secrets.scrub),
    )
    b.document.edit("c1", "k = 'sk-ant-secret-value'")
    await b.turn("My key is sk-ant-secret-value")
    for request in b.model.requests:
        assert "secret-value" not in str(request.messages)
    assert "[key removed]" in str(b.model.requests[0].messages)
    assert "[key removed]" in b.results[0]
    for done in b.of(e.ToolDone):
        assert "secret-value" not in done.detail + done.summary
    b.session.set_model("other")
    stored = b.store.messages(b.info.session_id)
    assert "secret-value" not in str(stored) and "[key removed]" in str(stored)
