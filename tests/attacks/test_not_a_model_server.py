"""Anything may listen where a model server is looked for, or behave as none does."""

from __future__ import annotations

import asyncio
import gzip
import json
import resource
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.models.anthropic.services import ANTHROPIC
from jupyter_codeinterp.models.http import bounded
from jupyter_codeinterp.models.offered import Models
from jupyter_codeinterp.view.redaction.secrets import Secrets
from jupyter_codeinterp.wire.ports import ModelDone
from tests.anthropic_talk import KEY, asking, connected, events
from tests.anthropic_talk import environment as environment  # a fixture
from tests.attacks.servers import (
    Answering,
    Stranger,
    Writer,
    endless,
    listing,
    saying,
    sse,
    stranger,
    streaming,
)
from tests.busy import SOON, processor_silence
from tests.fake_anthropic import FakeAnthropic, on_loop
from tests.local_addresses import elsewhere

HTML = b"<!doctype html><title>It works!</title>" + b"<p>It works!</p>" * 100
DEEP = b'{"data":' + b"[" * 200_000

STRANGERS: dict[str, Answering] = {
    "a page of HTML": saying("200 OK", HTML, content_type="text/html"),
    "a page that says it is JSON": saying("200 OK", HTML, content_type="application/json"),
    "an object of another shape": listing({"hello": 1}),
    "a list": listing([1, 2, 3]),
    "a string": listing("data"),
    "null": listing(None),
    "a number": listing(5),
    "data that is no list": listing({"data": {"id": "x"}}),
    "data of numbers": listing({"data": [1, 2, 3]}),
    "data of null": listing({"data": None}),
    "data of lists": listing({"data": [[], [[]]]}),
    "models without an id": listing({"data": [{"name": "x"}]}),
    "ids that are no text": listing({"data": [{"id": 5}, {"id": None}, {"id": {"a": 1}}]}),
    "ids of a megabyte": listing({"data": [{"id": "x" * 1_000_000}]}),
    "nothing at all": saying("200 OK"),
    "no content": saying("204 No Content"),
    "a redirect": saying("302 Found", location="http://127.0.0.1:9/"),
    "a redirect without a place": saying("301 Moved Permanently"),
    "not modified": saying("304 Not Modified"),
    "an ordinary 404": saying("404 Not Found", HTML, content_type="text/html"),
    "an ordinary 404 in JSON": saying("404 Not Found", b"{}", content_type="application/json"),
    "a method that is not allowed": saying("405 Method Not Allowed"),
    "a method that is not there": saying("501 Not Implemented", HTML),
    "deep JSON": saying("200 OK", DEEP, content_type="application/json"),
    "bytes that are no UTF-8": saying("200 OK", b"\xff\xfe\x00" * 50),
    "a coding of its own": saying("200 OK", HTML, content_type="text/html; charset=punycode"),
    "a coding that is none": saying("200 OK", HTML, content_type="text/html; charset=hex"),
    "a huge window": saying("200 OK", b'{"data": [1e999]}'),
}
FAILING: dict[str, Answering] = {
    "refused with a page": saying("400 Bad Request", HTML, content_type="text/html"),
    "refused with deep JSON": saying("400 Bad Request", DEEP),
    "refused with a list": saying("400 Bad Request", b"[1]", content_type="application/json"),
    "an error that is a number": saying("500 Oops", b'{"error": 5}'),
    "a message that is a list": saying("500 Oops", b'{"error": {"message": [1], "type": {}}}'),
    "a message that is an object": saying("429 Slow", b'{"error": {"message": {"a": 1}}}'),
    "details that are a list": saying("502 Bad", b'{"error": {"details": [1], "type": 7}}'),
    "a coding that is none, refused": saying("403 No", HTML, content_type="text/html;charset=hex"),
    "a strange time to wait": saying("429 Slow", b"{}", retry_after="\xff, 99 Foo 9999999 99:99"),
    "a status of its own": saying("799 What", HTML),
    "a status of three noughts": saying("000 What", HTML),
    "not HTTP": lambda _, writer: writer.write(b"SSH-2.0-OpenSSH_9.2\r\n" + b"x" * 5_000),
    "a header without end": lambda _, writer: writer.write(
        b"HTTP/1.1 200 OK\r\nx: " + b"y" * 500_000
    ),
    "a closed door": lambda _, writer: None,
    "half an answer": lambda _, writer: writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"
    ),
    "chunks that are none": lambda _, writer: writer.write(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"
    ),
    "a bomb of gzip": saying(
        "200 OK", gzip.compress(b'{"data": []}' + b" " * 20_000_000), content_encoding="gzip"
    ),
    "gzip that is none": saying("200 OK", b"xxxx", content_encoding="gzip"),
    "a body without end": endless("200 OK", b"[" * 65_536),
    "an error without end": endless("500 Oops", b" " * 65_536),
    "a refusal without end": endless("401 Who", b" " * 65_536),
}


def peak() -> int:
    """Most memory of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def refused(answering: Answering, key: str | None = KEY) -> tuple[ModelError, Stranger]:
    async with stranger(answering) as there:
        model = connected(ANTHROPIC, key, there.url)
        with pytest.raises(ModelError) as caught:
            await model.list_models()
        await model.aclose()
    assert KEY not in caught.value.message and len(caught.value.message) < 700
    return caught.value, there


@pytest.mark.parametrize("name", STRANGERS)
def test_something_that_is_no_model_server_is_named_so(name: str) -> None:
    @on_loop
    async def run() -> None:
        error, there = await refused(STRANGERS[name])
        place = there.url.removeprefix("http://")
        assert error.code == "offline"
        assert f"The server at {place} is not a model server." in error.message

    run()


@pytest.mark.parametrize("name", FAILING)
def test_a_failing_server_is_told_of_in_words(name: str) -> None:
    @on_loop
    async def run() -> None:
        error, there = await refused(FAILING[name])
        assert there.url.removeprefix("http://") in error.message
        assert there.sent < 16_000_000, "it was not read to its end"

    run()


def test_a_list_of_models_that_drips_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_codeinterp.models.http import model as adapter

    monkeypatch.setattr(adapter, "LIST_TIMEOUT", 0.5)

    @on_loop
    async def run() -> None:
        began = monotonic()
        error, _ = await refused(endless("200 OK", b" ", pause=0.05))
        assert error.code == "offline" and "took too long" in error.message
        assert monotonic() - began < SOON

    run()


@on_loop
async def test_a_list_of_300_megabytes_is_cut_off() -> None:
    entry = b'{"id": "a-model", "display_name": "A model"},' * 1_000
    before = peak()
    error, there = await refused(endless("200 OK", entry, first=b'{"data": ['))
    assert "the answer is too large" in error.message
    assert there.sent < 16_000_000 and peak() - before < 60_000_000


@on_loop
async def test_the_good_models_of_an_odd_list_can_be_chosen() -> None:
    odd: list[Any] = [
        {"id": "good", "display_name": "Good", "max_input_tokens": 1_000},
        {"id": "bare"},
        {"id": "odd", "display_name": ["x"], "max_input_tokens": "many"},
        {"id": "vast", "max_input_tokens": 10**30, "display_name": "a\nb"},
        {"id": "less", "max_input_tokens": -5},
        {"id": "sure", "max_input_tokens": True},
        {"id": ""},
        {"id": "two\nlines"},
        {"id": 7},
        None,
        "text",
    ]
    async with stranger(listing({"data": odd, "has_more": "maybe", "last_id": 7})) as there:
        model = connected(ANTHROPIC, KEY, there.url)
        found = await model.list_models()
        await model.aclose()
    assert [(info.id, info.name, info.context_window) for info in found] == [
        ("good", "Good", 1_000),
        ("bare", "bare", None),
        ("odd", "odd", None),
        ("vast", "vast", None),
        ("less", "less", None),
        ("sure", "sure", None),
    ]


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 T", "308 P"])
def test_a_redirect_carries_no_key_to_another_host(status: str) -> None:
    @on_loop
    async def run() -> None:
        async with FakeAnthropic() as elsewhere:
            await refused(saying(status, location=f"{elsewhere.url}/v1/models"))
            assert not elsewhere.exchanges

    run()


@pytest.mark.parametrize(
    "name", ["a page of HTML", "data of numbers", "a redirect", "a closed door", "a bomb of gzip"]
)
def test_looking_for_local_servers_passes_others_over(name: str, tmp_path: Path) -> None:
    @on_loop
    async def run() -> None:
        async with stranger({**STRANGERS, **FAILING}[name]) as there, FakeAnthropic() as fake:
            fake._routes["GET /v1/models"] = lambda _: {"data": [{"id": "here"}]}
            addresses = elsewhere(ollama=there.url, vllm=fake.url)
            models = Models(
                tmp_path, Secrets(), default_model="m", base_url=None, local_addresses=addresses
            )
            found = (await models.local_servers()).servers
            assert [(one.provider, one.models) for one in found] == [("vllm", ["here"])]
            with pytest.raises(ModelError):
                await models.connect("anthropic", "", there.url)
            assert models.described("anthropic").source == "none", "Nothing saved"

    run()


# --- the stream of an answer -------------------------------------------------------------

MOST = 2_000
START = sse({"type": "message_start", "message": {"usage": {}}})
BLOCK = sse({"type": "content_block_start", "index": 0, "content_block": {"type": "text"}})


def delta(text: str, kind: str = "text") -> bytes:
    return sse(
        {"type": "content_block_delta", "index": 0, "delta": {"type": f"{kind}_delta", kind: text}}
    )


CALL = sse(
    {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "c", "name": "run_cell", "input": {}},
    }
)
ENDLESS = {
    "text": streaming(START, BLOCK, then=delta("word " * 1_000), times=100_000),
    "text, letter by letter": streaming(START, BLOCK, then=delta("w") * 200, times=100_000),
    "thinking": streaming(START, BLOCK, then=delta("x" * 9_000, "thinking"), times=100_000),
    "code": streaming(START, CALL, then=delta("x" * 900, "partial_json"), times=1_000_000),
    "blocks": streaming(START, then=BLOCK * 50, times=100_000),
    "calls": streaming(START, then=CALL * 50, times=100_000),
    "a line": streaming(START, b"event: x\ndata: ", then=b"x" * 65_536, times=16_000),
    "lines of one event": streaming(START, b"event: x\n", then=b"data:\n" * 5_000, times=100_000),
    "blanks": streaming(START, then=b"\n" * 65_536, times=16_000),
    "comments": streaming(START, then=b": still here\n\n" * 5_000, times=100_000),
    "pings": streaming(START, then=sse({"type": "ping"}) * 1_000, times=100_000),
    "events of no known kind": streaming(START, then=sse({"type": "x" * 500}) * 100, times=100_000),
    "no event stream": streaming(HTML, then=HTML * 50, times=100_000),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_answer_without_end_is_cut_off(name: str) -> None:
    @on_loop
    async def run() -> None:
        before = peak()
        async with processor_silence() as silence, stranger(ENDLESS[name]) as there:
            model = connected(ANTHROPIC, KEY, there.url, max_tokens=MOST, attempts=1)
            with pytest.raises(ModelError) as caught:
                await events(model, asking())
            await model.aclose()
            assert 0 < silence() < 0.3, "the server's loop went on meanwhile"
        assert "the answer is too large" in caught.value.message
        assert caught.value.code in ("server_error", "broken_stream")
        assert there.sent < 16_000_000 and peak() - before < 60_000_000

    run()


def test_an_answer_of_mere_signs_of_life_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "PROGRESS_TIMEOUT", 0.5)

    @on_loop
    async def run() -> None:
        async def answer(_: str, writer: Writer) -> None:
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + START)
            while True:
                writer.write(sse({"type": "ping"}))
                await writer.drain()
                await asyncio.sleep(0.05)

        async with stranger(answer) as there:
            model = connected(ANTHROPIC, KEY, there.url, attempts=1)
            with pytest.raises(ModelError) as caught:
                await events(model, asking())
            await model.aclose()
        assert "took too long" in caught.value.message

    run()


@on_loop
async def test_the_longest_answer_that_was_asked_for_comes_through() -> None:
    """A token an event, of the longest that there are, in the wordiest of frames."""
    tokens = 16_000
    wordy: list[dict[str, Any]] = [
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": " x" * 20},
        }
        | {"usage": {"output_tokens": n}, "padding": "." * 400}
        for n in range(tokens)
    ]
    ends: list[dict[str, Any]] = [
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {}},
        {"type": "message_stop"},
    ]
    async with stranger(streaming(START, BLOCK, *(sse(one) for one in (*wordy, *ends)))) as there:
        model = connected(ANTHROPIC, KEY, there.url, max_tokens=tokens)
        last = (await events(model, asking()))[-1]
        await model.aclose()
    assert isinstance(last, ModelDone)
    assert len(json.dumps(last.message.content[0].text)) > tokens * 40  # type: ignore[union-attr]
