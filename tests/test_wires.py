"""One contract that every wire keeps: what comes of an answer, what goes back, what is said of a
fault. Through the real SDKs, over HTTP, against a fake of each service.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Iterator
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from PIL import Image as pillow

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.http.files import NO_IMAGE, REFUSED
from jupyter_codeinterp.wire.messages import (
    PICTURE_OF,
    Image,
    ImageSource,
    Message,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    user,
)
from jupyter_codeinterp.wire.ports import (
    ModelDone,
    ModelEvent,
    ModelRetry,
    ModelText,
    ModelThinking,
    ModelToolInput,
)
from tests.anthropic_talk import joined
from tests.attacks.servers import saying, stranger
from tests.fake_anthropic import (
    HttpError,
    Speed,
    Turn,
    answer,
    call,
    on_loop,
    raw_call,
    run_cell,
    text,
    thinking,
)
from tests.fake_anthropic.signing import without_markers
from tests.fake_openai import errors
from tests.wires import KEY, PAPER, PLOT, WIRES, Wire, every, last
from tests.wires import environment as environment  # a fixture
from tests.wires import places as places  # a fixture

CODE = 'print("größer ✓ 🎉")\n' * 4
THINK = [name for name, wire in WIRES.items() if not wire.manner or wire.manner.reasoning]
OPENAI = [name for name, wire in WIRES.items() if wire.manner]


def calls_of(message: Message) -> list[ToolUse]:
    return [block for block in message.content if isinstance(block, ToolUse)]


def results(message: Message, *parts: Text | Image) -> Message:
    return user(*(ToolResult(block.id, parts) for block in calls_of(message)))


# --- what comes of an answer -----------------------------------------------------------------


@every(WIRES)
@on_loop
async def test_text_comes_as_it_is_written(wire: Wire) -> None:
    shown = await wire.ask(answer(text("größer ✓ 🎉, and so on")).at(chunk=4))
    assert joined(shown, ModelText) == "größer ✓ 🎉, and so on"
    assert sum(isinstance(event, ModelText) for event in shown) > 3
    end = last(shown)
    assert end.stop_reason == "end_turn" and not end.invalid
    assert [b for b in end.message.content if isinstance(b, Text)] == [
        Text("größer ✓ 🎉, and so on")
    ]


@every()
@on_loop
async def test_frames_may_be_cut_at_every_byte(wire: Wire) -> None:
    end = await wire.done(answer(text("größer ✓ 🎉"), run_cell("'🎉' * 3")).at(chunk=4, split=1))
    assert end.message.content[0] == Text("größer ✓ 🎉")
    assert [block.input["source"] for block in calls_of(end.message)] == ["'🎉' * 3"]


@every(WIRES)
@on_loop
async def test_code_shows_while_it_is_written(wire: Wire) -> None:
    shown = await wire.ask(answer(text("So:"), run_cell(CODE, title="Say it")).at(chunk=5))
    inputs = [event for event in shown if isinstance(event, ModelToolInput)]
    assert inputs[0].partial == {} and inputs[0].name == "run_cell"
    sources = [event.partial.get("source", "") for event in inputs]
    assert sources[-1] == CODE and len(set(sources)) > 10
    assert all(CODE.startswith(part) for part in sources)
    end = last(shown)
    assert end.stop_reason == "tool_use"
    (made,) = calls_of(end.message)
    assert made.input == {"title": "Say it", "source": CODE}
    assert {event.id for event in inputs} == {made.id}
    assert all(end.message.content[event.block] is made for event in inputs)


@every(WIRES)
@on_loop
async def test_a_call_may_come_in_one_piece(wire: Wire) -> None:
    end = await wire.done(answer(call("run_cell", {"source": "1"}, whole=True)))
    assert [block.input for block in calls_of(end.message)] == [{"source": "1"}]
    assert end.stop_reason == "tool_use"


@every(WIRES)
@on_loop
async def test_two_calls_are_told_apart(wire: Wire) -> None:
    turn = answer(run_cell("first = 1"), run_cell("second = 2")).at(chunk=3)
    made = calls_of((await wire.done(turn)).message)
    assert [block.input["source"] for block in made] == ["first = 1", "second = 2"]
    assert made[0].id != made[1].id


@every(THINK)
@on_loop
async def test_thinking_is_shown_apart_from_text(wire: Wire) -> None:
    shown = await wire.ask(answer(thinking("First the sum."), text("It is 4.")).at(chunk=4))
    assert joined(shown, ModelThinking) == "First the sum."
    assert joined(shown, ModelText) == "It is 4."
    assert isinstance(last(shown).message.content[0], Thinking)


@every(WIRES)
@on_loop
async def test_an_answer_without_tools_is_asked_for(wire: Wire) -> None:
    """The tools stay, because the history has calls."""
    async with wire.talking(answer(text("So far: 3.")), answer(text("ok"))) as (model, api):
        request = msgspec.structs.replace(wire.asking(), answer_only=True)
        shown = [event async for event in model.stream(request)]
        assert joined(shown, ModelText) == "So far: 3."
        assert [event async for event in model.stream(wire.asking())]
        last, other = (exchange.body for exchange in api.requests)
    assert last["tool_choice"] in ("none", {"type": "none"})
    assert last["tools"] == other["tools"] and other.get("tool_choice") != last["tool_choice"]


@every(WIRES)
@on_loop
async def test_broken_input_is_named_and_never_half_used(wire: Wire) -> None:
    turn = answer(raw_call("run_cell", '{"source": "1" "2"}'), run_cell("2"))
    end = await wire.done(turn)
    broken, good = calls_of(end.message)
    assert broken.input == {} and list(end.invalid) == [broken.id]
    assert "not valid JSON" in end.invalid[broken.id]
    assert good.input == {"source": "2"}


@every(WIRES)
@on_loop
async def test_an_empty_input_is_an_empty_object(wire: Wire) -> None:
    end = await wire.done(answer(raw_call("run_cell", None)))
    assert [block.input for block in calls_of(end.message)] == [{}] and end.invalid == {}


@every(WIRES)
@on_loop
async def test_an_answer_that_is_cut_at_its_length_says_so(wire: Wire) -> None:
    turn = answer(raw_call("run_cell", '{"source": "x = ('), stop="max_tokens")
    end = await wire.done(turn)
    assert end.stop_reason == "max_tokens" and len(end.invalid) == 1


@every(WIRES)
@on_loop
async def test_a_refusal_says_why(wire: Wire) -> None:
    details = {"type": "refusal", "category": "bio", "explanation": "Not this."}
    end = await wire.done(answer(text("No"), stop="refusal", stop_details=details))
    assert end.stop_reason == "refusal"
    says = wire.manner is None or wire.manner.refuses
    assert end.detail == ("Not this." if says else "")


@every(WIRES)
@on_loop
async def test_tokens_are_counted_those_from_the_cache_apart(wire: Wire) -> None:
    async with wire.talking(answer(text("Hello.")), answer(text("Hello again."))) as (model, _):
        for _n in range(2):
            end = last([event async for event in model.stream(wire.asking())])
            assert end.usage.output_tokens > 1 and end.usage.total_input > 50
        assert end.usage.cache_read_input_tokens > 0


# --- what goes back --------------------------------------------------------------------------


@every(WIRES)
@on_loop
async def test_a_conversation_goes_back_as_it_came(wire: Wire) -> None:
    """Thinking, signatures, broken calls, blank texts, images in results and from the person; the
    fake refuses what is not as it gave it."""
    turn = answer(thinking("Hm."), text("Ä"), run_cell("1"), raw_call("run_cell", "{"))
    async with wire.talking(turn, turn, answer(thinking("So."), text("2"))) as (model, api):
        request = wire.asking(user(Text("Look."), PLOT))
        for _ in range(2):
            end = last([event async for event in model.stream(request)])
            ran = results(end.message, Text("status=ok"), Text(""), PLOT)
            said = user(*ran.content, Text("Go on."))
            request = wire.asking(*request.messages, end.message, said)
        end = last([event async for event in model.stream(request)])
        assert end.stop_reason == "end_turn"
        bodies = [exchange.body for exchange in api.requests]
    assert len(bodies) == 3
    assert json.dumps(bodies[2]).count(PLOT.source.data) == 5
    for before, after in pairwise(bodies):
        name = "input" if "input" in before else "messages"
        same = without_markers(after[name][: len(before[name])]) == without_markers(before[name])
        assert same, "only ever appended to; where the cache ends moves along"


def parts(value: Any) -> Iterator[str]:
    """Texts of a request's parts in order, and "image"."""
    if isinstance(value, list):
        for one in value:
            yield from parts(one)
    elif isinstance(value, dict):
        if "image" in str(value.get("type")):
            yield "image"
        elif isinstance(value.get("text"), str):
            yield value["text"].strip()
        else:
            yield from parts(list(value.values()))


@every(WIRES)
@on_loop
async def test_a_picture_follows_the_name_of_its_cell(wire: Wire) -> None:
    names = [f"{PICTURE_OF}cell {name} [1]]" for name in "ab"]
    async with wire.talking(answer(run_cell("1")), answer(text("ok"))) as (model, api):
        end = last([event async for event in model.stream(wire.asking())])
        shown = [part for name in names for part in (Text(name), PLOT)]
        said = results(end.message, Text("status=ok"), *shown, Text("facts"))
        request = wire.asking(*wire.asking().messages, end.message, said)
        async for _ in model.stream(request):
            pass
        sent = list(parts(api.requests[-1].body))
    places = [place for place, part in enumerate(sent) if part == "image"]
    assert [sent[place - 1] for place in places] == [name.strip() for name in names]


@every(WIRES)
@on_loop
async def test_a_step_after_results_alone_goes_back(wire: Wire) -> None:
    async with wire.talking(answer(run_cell("1")), answer(text("One."))) as (model, _):
        end = last([event async for event in model.stream(wire.asking())])
        request = wire.asking(*wire.asking().messages, end.message, results(end.message, Text("1")))
        assert last([event async for event in model.stream(request)]).stop_reason == "end_turn"


@every()
@pytest.mark.parametrize("turn", [answer(), answer(text("  "))], ids=["nothing", "blanks"])
def test_an_answer_without_words_can_be_sent_back(wire: Wire, turn: Turn) -> None:
    @on_loop
    async def run() -> None:
        async with wire.talking(turn, answer(text("Yes?"))) as (model, api):
            end = last([event async for event in model.stream(wire.asking())])
            assert end.stop_reason == "end_turn"
            more = user(Text("Hello?"))
            request = wire.asking(*wire.asking().messages, end.message, more)
            await anext(model.stream(request))
            assert "(nothing said)" in json.dumps(api.requests[1].body)

    run()


@every(("responses", "chat"))
@on_loop
async def test_repeated_call_ids_become_unique(wire: Wire) -> None:
    same = call("run_cell", {"source": "1"}, id="call_0")
    twice = answer(same, run_cell("2"))
    async with wire.talking(twice, twice, answer(text("ok"))) as (model, _):
        request = wire.asking()
        for _turn in range(2):
            end = last([event async for event in model.stream(request)])
            request = wire.asking(*request.messages, end.message, results(end.message, Text("ok")))
        await anext(model.stream(request))
    ids = [made.id for message in request.messages for made in calls_of(message)]
    assert ids[0] == "call_0" and ids[2] == "call_0-2" and len(set(ids)) == 4


@every(OPENAI)
@on_loop
async def test_an_answer_of_another_provider_can_be_sent(wire: Wire) -> None:
    """Its thinking is nothing to this one; its words and calls are."""
    foreign = Message(
        "assistant", (Thinking("Hm.", "sig"), Text("So."), ToolUse("t1", "run_cell", {}))
    )
    async with wire.talking(answer(text("Yes."))) as (model, api):
        asked = wire.asking(*wire.asking().messages, foreign, results(foreign, Text("ok")))
        shown = [event async for event in model.stream(asked)]
        sent = json.dumps(api.requests[0].body)
    assert joined(shown, ModelText) == "Yes." and "sig" not in sent and "So." in sent


# --- tried again -----------------------------------------------------------------------------


@every()
@pytest.mark.parametrize(
    ("fault", "codes"),
    [
        ("rate limit", {"rate_limit"}),
        ("overloaded", {"overloaded", "server_error"}),
        ("server error", {"server_error"}),
    ],
)
def test_what_may_pass_is_tried_again(wire: Wire, fault: str, codes: set[str]) -> None:
    @on_loop
    async def run() -> None:
        shown = await wire.ask(wire.faults[fault], answer(text("Here.")))
        retry = shown[0]
        assert isinstance(retry, ModelRetry) and retry.code in codes and retry.message
        assert retry.delay == (0.01 if fault == "rate limit" else 0.0)
        assert joined(shown, ModelText) == "Here."

    run()


@every()
@pytest.mark.parametrize("how", ["reset", "end", "stall", "error"])
def test_a_break_before_the_first_word_is_tried_again(wire: Wire, how: Any) -> None:
    @on_loop
    async def run() -> None:
        broken = answer(text("x")).cut_by(how, after=0)
        shown = await wire.ask(broken, answer(text("Here.")), silence=0.3)
        assert isinstance(shown[0], ModelRetry)
        assert joined(shown, ModelText) == "Here."

    run()


LONG = answer(text("Let me see. " * 4), run_cell("x = 1\n" * 20, title="Many"))


@every()
@pytest.mark.parametrize("how", ["reset", "end", "stall", "error"])
@pytest.mark.parametrize("after", [2, 9])
def test_a_break_in_the_middle_is_said_and_not_retried(wire: Wire, how: Any, after: int) -> None:
    """After 2 pieces within the text, after 9 within the code."""

    @on_loop
    async def run() -> None:
        async with wire.talking(LONG.cut_by(how, after=after), silence=0.3) as (model, api):
            shown: list[ModelEvent] = []
            with pytest.raises(ModelError) as caught:
                async for event in model.stream(wire.asking()):
                    shown.append(event)
            assert len(api.requests) == 1
        assert caught.value.code == "broken_stream"
        assert shown and not any(isinstance(e, (ModelRetry, ModelDone)) for e in shown)

    run()


@every()
@on_loop
async def test_an_end_without_a_reason_is_broken(wire: Wire) -> None:
    cut = answer(text("So. " * 9), stop=None).cut_by("end", after=2)
    for broken in (cut, answer(text("So"), stop=None)):
        assert (await wire.failure(broken)).code == "broken_stream"


@every()
@on_loop
async def test_an_answer_that_is_said_does_not_wait_for_the_end_of_the_line(wire: Wire) -> None:
    assert (await wire.done(answer(text("Hi.")).cut_by("hang"))).stop_reason == "end_turn"


# --- stopping --------------------------------------------------------------------------------


@every()
@pytest.mark.parametrize("speed", [Speed(first=60), Speed(delay=60), Speed(delay=0.01)])
def test_stop_closes_the_stream_at_once(wire: Wire, speed: Speed) -> None:
    """Before the first byte, in a pause, and in the flow."""

    @on_loop
    async def run() -> None:
        slow = Turn(LONG.blocks, speed=speed)
        async with wire.talking(slow, answer(text("Next."))) as (model, api):
            begun = asyncio.Event()

            async def consume() -> None:
                async for _ in model.stream(wire.asking()):
                    begun.set()

            task = asyncio.ensure_future(consume())
            await (begun.wait() if not speed.first else api.seen(1))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(api.requests[0].gone.wait(), 30)
            shown = [event async for event in model.stream(wire.asking())]
            assert joined(shown, ModelText) == "Next."

    run()


@every()
@on_loop
async def test_a_consumer_that_leaves_closes_the_stream(wire: Wire) -> None:
    async with wire.talking(Turn(LONG.blocks, speed=Speed(delay=0.01))) as (model, api):
        async with aclosing(model.stream(wire.asking())) as shown:
            await anext(shown)
        await asyncio.wait_for(api.requests[0].gone.wait(), 30)


@every()
@on_loop
async def test_one_connection_serves_many_answers(wire: Wire) -> None:
    """Also for a consumer that leaves with the last event."""
    async with wire.talking(*[answer(text("Hi."))] * 4) as (model, api):
        for _ in range(4):
            async with aclosing(model.stream(wire.asking())) as shown:
                async for event in shown:
                    if isinstance(event, ModelDone):
                        break
        assert api.connections == 1


# --- said in words ---------------------------------------------------------------------------


@every()
@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        ("spend limit", "spend_limit", "limit"),
        ("forbidden", "forbidden", "permission"),
        ("too long", "context_full", "too long for the model"),
        ("bad request", "bad_request", "messages: wrong"),
    ],
)
def test_what_no_other_try_would_mend_ends_at_once(
    wire: Wire, fault: str, code: str, words: str
) -> None:
    @on_loop
    async def run() -> None:
        if fault not in wire.faults:
            return  # nothing that this service says
        error = await wire.failure(wire.faults[fault])
        assert error.code == code and words in error.message

    run()


@every(WIRES)
@on_loop
async def test_a_wrong_key_is_said_and_not_repeated(wire: Wire) -> None:
    error = await wire.failure(key="sk-wrong-0123456789")
    assert error.code == "wrong_key" and "paste it again" in error.message
    assert "sk-wrong-0123456789" not in error.message


@every()
@on_loop
async def test_a_key_that_the_server_repeats_is_not_shown(wire: Wire) -> None:
    error = await wire.failure(errors.bad_request(f"The key {KEY} is odd."))
    assert "[key] is odd" in error.message


@every(WIRES)
@on_loop
async def test_an_unknown_model_is_said(wire: Wire) -> None:
    near = f"{wire.model}x"
    async with wire.talking() as (model, _):
        with pytest.raises(ModelError) as caught:
            await anext(model.stream(wire.asking(model=near)))
    assert caught.value.code == "unknown_model"
    assert f"does not know the model “{near}”" in caught.value.message


@every()
@on_loop
async def test_a_server_that_does_not_listen_is_named(wire: Wire) -> None:
    async with wire.fake() as gone:
        url = gone.url
    model = wire.connect(KEY, url, wait=lambda attempt: 0.0, attempts=2)
    shown: list[ModelEvent] = []
    with pytest.raises(ModelError) as caught:
        async for event in model.stream(wire.asking()):
            shown.append(event)
    assert [event.attempt for event in shown if isinstance(event, ModelRetry)] == [1]
    await model.aclose()
    assert caught.value.code == "offline" and url in caught.value.message


@every()
@pytest.mark.parametrize(
    "body", [b"<title>It works!</title>", b'{"hello": 1}', b"[1]", b'{"data": [1]}'], ids=repr
)
def test_something_else_that_answers_is_named_so(wire: Wire, body: bytes) -> None:
    @on_loop
    async def run() -> None:
        async with stranger(saying("200 OK", body, content_type="application/json")) as there:
            model = wire.connect(KEY, there.url, attempts=1)
            with pytest.raises(ModelError) as caught:
                await model.list_models()
            place = there.url.removeprefix("http://")
            assert f"The server at {place} is not a model server" in str(caught.value)
            with pytest.raises(ModelError) as caught:
                await anext(model.stream(wire.asking()))
            await model.aclose()
        assert caught.value.code == "server_error"

    run()


@every()
@on_loop
async def test_a_redirect_carries_no_key_away(wire: Wire) -> None:
    async with wire.fake() as elsewhere:
        away = HttpError(307, "", "", headers={"location": f"{elsewhere.url}/v1/messages"})
        await wire.failure(away)
        assert not elsewhere.exchanges


@every()
@pytest.mark.parametrize(
    "fault",
    [
        HttpError(500, "server_error", "image input is not supported - hint: provide the mmproj"),
        errors.bad_request("unknown variant `image_url`, expected `text`"),
        errors.bad_request("gpt-6-sol is not a multimodal model"),
        HttpError(404, "error", "No endpoints found that support image input: not supported"),
    ],
    ids=["llama.cpp", "deepseek", "vllm", "openrouter"],
)
def test_a_model_without_images_gets_a_note_in_their_place(wire: Wire, fault: HttpError) -> None:
    @on_loop
    async def run() -> None:
        ok = answer(text("I see."))
        async with wire.talking(fault, ok, ok) as (model, api):
            for _ in range(2):
                shown = [e async for e in model.stream(wire.asking(user(Text("Look."), PLOT)))]
                assert joined(shown, ModelText) == "I see."
                assert not any(isinstance(event, ModelRetry) for event in shown)
            sent = [json.dumps(exchange.body) for exchange in api.requests]
        assert [PLOT.source.data in body for body in sent] == [True, False, False]
        assert [NO_IMAGE in body for body in sent] == [False, True, True], "it is remembered"

    run()


@every()
@on_loop
async def test_a_server_that_will_not_have_images_nor_their_absence_ends(wire: Wire) -> None:
    fault = errors.bad_request("unknown variant `image_url`, expected `text`")
    async with wire.talking(*[fault] * 9) as (model, api):
        with pytest.raises(ModelError):
            await anext(model.stream(wire.asking(user(Text("Look."), PLOT))))
        assert len(api.requests) == 2


# --- files of the person's -------------------------------------------------------------------


def picture(kind: str) -> Image:
    data = io.BytesIO()
    pillow.new("RGB", (3, 2), "navy").save(data, kind)
    source = ImageSource(f"image/{kind.lower()}", base64.b64encode(data.getvalue()).decode())
    return Image(source)


@every(WIRES)
@on_loop
async def test_an_image_of_the_persons_goes_with_their_words(wire: Wire) -> None:
    """Of each kind that the wire carries; a note stands for the others, in each step the same."""
    images = [picture(kind) for kind in ("PNG", "JPEG", "GIF", "WEBP")]
    ok = answer(text("I see."))
    async with wire.talking(ok, ok) as (model, api):
        takes = (await model.info(wire.model)).takes
        request = wire.asking(user(Text("Look."), *images, Text("What is it?")))
        end = last([event async for event in model.stream(request)])
        more = wire.asking(*request.messages, end.message, user(Text("And now?")))
        assert last([event async for event in model.stream(more)]).stop_reason == "end_turn"
        first, second = (json.dumps(one.body) for one in api.requests)
    assert {"image/png", "image/jpeg"} <= set(takes)
    for image in images:
        sent = image.source.media_type in takes
        assert (image.source.data in first) == (image.source.data in second) == sent
    missing = sum(image.source.media_type not in takes for image in images)
    assert first.count(REFUSED) == second.count(REFUSED) == missing


@every(WIRES)
@on_loop
async def test_a_pdf_goes_where_the_provider_takes_one(wire: Wire) -> None:
    async with wire.talking(answer(text("I see."))) as (model, api):
        takes = "application/pdf" in (await model.info(wire.model)).takes
        request = wire.asking(user(Text("Read."), PAPER, Text("What is it?")))
        assert last([event async for event in model.stream(request)]).stop_reason == "end_turn"
        sent = json.dumps(api.requests[0].body)
    assert takes == (
        wire.name in ("messages", "responses", "azure", "bedrock", "vertex", "foundry")
    )
    assert (PAPER.source.data in sent, REFUSED in sent) == (takes, not takes)
    assert (PAPER.title in sent) == takes


@every(("messages", "responses", "bedrock"))
@pytest.mark.parametrize(
    ("words", "is_lost"),
    [
        ("messages.0.content.1.pdf.source.base64.data: The PDF specified was not valid.", "pdf"),
        ("A maximum of 100 PDF pages may be provided.", "pdf"),
        ("messages.0.content.2.image.source.base64.data: Could not process image", "image"),
    ],
)
def test_a_file_that_is_refused_is_not_sent_again(wire: Wire, words: str, is_lost: str) -> None:
    """Earlier messages never change: without this, each later request would fail as well. Files
    of the other kind are sent as ever."""

    @on_loop
    async def run() -> None:
        refused, ok = errors.bad_request(words), answer(text("I see."))
        if wire.manner is None:
            refused = HttpError(400, "invalid_request_error", words)
        async with wire.talking(refused, ok, ok) as (model, api):
            request = wire.asking(user(Text("Look."), PAPER, PLOT, Text("So?")))
            for asked in (request, wire.asking(user(Text("Look."), picture("JPEG"), Text("So?")))):
                shown = [event async for event in model.stream(asked)]
                assert joined(shown, ModelText) == "I see."
            sent = [json.dumps(exchange.body) for exchange in api.requests]
        lost, kept = (PAPER, PLOT) if is_lost == "pdf" else (PLOT, PAPER)
        assert [lost.source.data in body for body in sent[:2]] == [True, False]
        assert (REFUSED if is_lost == "pdf" else NO_IMAGE) in sent[1]
        assert kept.source.data in sent[1]
        assert (picture("JPEG").source.data in sent[2]) == (is_lost == "pdf")

    run()
