"""The Responses API: a Turn as its events, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Iterator

from tests.fake_anthropic.frames import Event, input_of, pieces_of
from tests.fake_anthropic.turns import (
    Block,
    CallBlock,
    Cut,
    RawEvents,
    Speed,
    TextBlock,
    ThinkingBlock,
    Turn,
)

from . import common
from .manners import RESPONSES

_TOOL = {"type", "name", "description", "parameters", "strict"}


class ResponsesStream:
    """The events of one answer. ``output`` are the items that must come back."""

    after = b""
    content_type = "text/event-stream; charset=utf-8"

    def __init__(self, turn: Turn, body: Event, *, name: str, usage: Event) -> None:
        self._turn = turn
        self._body = body
        self._name = name
        self._usage = usage
        self._sequence = 0
        self.output: list[Event] = []

    def events(self, speed: Speed) -> Iterator[Event]:
        for event in self._events(speed):
            if "raw" not in event:
                event["sequence_number"] = self._sequence
                self._sequence += 1
            yield event

    def _events(self, speed: Speed) -> Iterator[Event]:
        yield {"type": "response.created", "response": self._response("in_progress")}
        yield {"type": "response.in_progress", "response": self._response("in_progress")}
        for block in self._turn.blocks:
            if isinstance(block, RawEvents):
                yield from block.events
                continue
            yield from self._item(block, speed)
        if self._turn.stop == "refusal":
            yield from self._message("refusal", _why(self._turn), speed)
        if self._turn.stop_reason is None:
            return
        status = "incomplete" if self._turn.stop == "max_tokens" else "completed"
        yield {"type": f"response.{status}", "response": self._response(status)}

    def _response(self, status: str) -> Event:
        over = status != "in_progress"
        why = {"reason": "max_output_tokens"} if status == "incomplete" else None
        return {
            "id": f"resp_{self._name}",
            "object": "response",
            "status": status,
            "error": None,
            "incomplete_details": why,
            "instructions": self._body.get("instructions"),
            "tools": self._body.get("tools", []),
            "output": self.output if over else [],
            "usage": self._used() if over else None,
        }

    def _used(self) -> Event:
        written = 1 + len(json.dumps(self.output)) // 4
        return {
            **self._usage,
            "output_tokens": written,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": self._usage["input_tokens"] + written,
        }

    def _item(self, block: Block, speed: Speed) -> Iterator[Event]:
        if isinstance(block, ThinkingBlock):
            yield from self._reasoning(block.thinking, speed)
        elif isinstance(block, TextBlock):
            yield from self._message("output_text", block.text, speed)
        elif isinstance(block, CallBlock):
            yield from self._call(block, speed)

    def _reasoning(self, words: str, speed: Speed) -> Iterator[Event]:
        item: Event = {"id": self._id("rs"), "type": "reasoning", "summary": []}
        at = {"item_id": item["id"], "output_index": len(self.output), "summary_index": 0}
        kind = "response.reasoning_summary"
        yield self._added({**item, "encrypted_content": "gAAAA"})  # not whole yet
        yield {"type": f"{kind}_part.added", **at, "part": {"type": "summary_text", "text": ""}}
        for piece in pieces_of(words, speed.chunk):
            yield {"type": f"{kind}_text.delta", **at, "delta": piece}
        part = {"type": "summary_text", "text": words}
        yield {"type": f"{kind}_text.done", **at, "text": words}
        yield {"type": f"{kind}_part.done", **at, "part": part}
        item |= {"summary": [part], "encrypted_content": f"gAAAA{abs(hash(words))}=="}
        yield self._done(item)

    def _message(self, kind: str, words: str, speed: Speed) -> Iterator[Event]:
        item: Event = {
            "id": self._id("msg"),
            "type": "message",
            "role": "assistant",
            "status": "in_progress",
            "phase": "commentary",
            "content": [],
        }
        at = {"item_id": item["id"], "output_index": len(self.output), "content_index": 0}
        field = "text" if kind == "output_text" else "refusal"
        more: Event = {"annotations": [], "logprobs": []} if field == "text" else {}
        yield self._added(dict(item))
        yield {"type": "response.content_part.added", **at, "part": {"type": kind, field: ""}}
        for piece in pieces_of(words, speed.chunk):
            yield {"type": f"response.{kind}.delta", **at, "delta": piece}
        part = {"type": kind, field: words, **more}
        yield {"type": f"response.{kind}.done", **at, field: words}
        yield {"type": "response.content_part.done", **at, "part": part}
        yield self._done({**item, "status": "completed", "content": [part]})

    def _call(self, block: CallBlock, speed: Speed) -> Iterator[Event]:
        item: Event = {
            "id": self._id("fc"),
            "type": "function_call",
            "status": "in_progress",
            "call_id": block.id or self._id("call"),
            "name": block.name,
            "arguments": "",
        }
        at = {"item_id": item["id"], "output_index": len(self.output)}
        whole = block.json or ""
        yield self._added(dict(item))
        for piece in [whole] if block.whole else pieces_of(whole, speed.chunk):
            yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
        yield {"type": "response.function_call_arguments.done", **at, "arguments": whole}
        yield self._done({**item, "status": "completed", "arguments": whole})

    def _id(self, kind: str) -> str:
        return f"{kind}_{self._name}{len(self.output)}"

    def _added(self, item: Event) -> Event:
        at = len(self.output)
        return {"type": "response.output_item.added", "output_index": at, "item": item}

    def _done(self, item: Event) -> Event:
        self.output.append(item)
        at = len(self.output) - 1
        return {"type": "response.output_item.done", "output_index": at, "item": item}

    # --- on the wire -----------------------------------------------------------------------

    def frame(self, event: Event) -> bytes:
        data = json.dumps(event, ensure_ascii=False)
        return f"event: {event['type']}\ndata: {data}\n\n".encode()

    def delta(self, event: Event) -> str | None:
        if not str(event["type"]).endswith(".delta"):
            return None
        return str(event["delta"]) if event["type"] == "response.output_text.delta" else ""

    def ends(self, event: Event) -> bool:
        return event["type"] in ("response.completed", "response.incomplete")

    def fault(self, cut: Cut) -> Event:
        return {"type": "error", "code": "server_error", "message": cut.message, "param": None}


def _why(turn: Turn) -> str:
    return str((turn.stop_details or {}).get("explanation", "I cannot help with that."))


# --- what is refused ---------------------------------------------------------------------------


def problems(body: Event, given: list[list[Event]]) -> list[str]:
    """``given``: the output of each answer so far."""
    found = list(_parameters(body))
    items = body.get("input")
    if not isinstance(items, list) or not items:
        return [*found, "Missing required parameter: 'input'."]
    for index, item in enumerate(items):
        found += _item(item, f"input[{index}]")
    found += _calls(items)
    found += _returned(items, given)
    return found


def _parameters(body: Event) -> Iterator[str]:
    for name in body.keys() - RESPONSES.parameters:
        yield f"Unknown parameter: '{name}'."
    if body.get("stream") is not True or body.get("store") is not False:
        yield "the product always streams, and stores nothing there"
    if body.get("max_output_tokens", 16) < 16:
        yield "Invalid 'max_output_tokens': integer below minimum value."
    if body.get("include", []) != ["reasoning.encrypted_content"] and "include" in body:
        yield "Invalid value: 'include'."
    if body.get("reasoning", {"summary": "auto"}) != {"summary": "auto"}:
        yield "Invalid value: 'reasoning'."
    if not str(body.get("instructions", "")).strip():
        yield "no instructions"
    for tool in body.get("tools", []):
        if tool.get("type") != "function" or tool.get("strict") is not False:
            yield "Invalid 'tools[].type'."
        yield from common.tool(tool, _TOOL)


def _item(item: Event, at: str) -> Iterator[str]:
    kind = item.get("type")
    if kind == "message" and item["role"] == "user":
        if not item["content"]:
            yield f"Invalid '{at}.content': empty array."
        for part in item["content"]:
            yield from _part(part, at)
    elif kind == "message" and item["role"] == "assistant":
        if isinstance(item["content"], str):
            yield from common.text(item["content"], at)
        for part in item["content"] if isinstance(item["content"], list) else ():
            if part["type"] not in ("output_text", "refusal"):
                yield f"Invalid value: '{part['type']}' at '{at}'."
    elif kind == "function_call":
        yield from common.arguments(item["arguments"])
    elif kind == "function_call_output":
        if isinstance(item["output"], str):
            yield from common.text(item["output"], at)
        for part in item["output"] if isinstance(item["output"], list) else ():
            yield from _part(part, at)
    elif kind != "reasoning":
        yield f"Invalid value: '{kind}' at '{at}.type'."


def _part(part: Event, at: str) -> Iterator[str]:
    if part["type"] == "input_text":
        yield from common.text(part["text"], at)
    elif part["type"] == "input_image":
        yield from common.image(part["image_url"])
    elif part["type"] == "input_file":
        yield from common.pdf(part)
    else:
        yield f"Invalid value: '{part['type']}' at '{at}.content'."


def _calls(items: list[Event]) -> Iterator[str]:
    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    told = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    if len(set(called)) != len(called):
        yield "Duplicate call_id."
    for call_id in set(called) - set(told):
        yield f"No tool output found for function call {call_id}."
    for call_id in set(told) - set(called):
        yield f"No tool call found for function call output with call_id {call_id}."


def _returned(items: list[Event], given: list[list[Event]]) -> Iterator[str]:
    """What has an id was given by us; it must be as it was, in its place among its kin."""
    ours = {item["id"]: (answer, item) for answer in given for item in answer}
    calls = {item.get("call_id") for _, item in ours.values()} - {None}
    texts = {part.get("text") for _, item in ours.values() for part in item.get("content", ())}
    for index, item in enumerate(items):
        if "id" not in item:
            bare = item.get("type") == "function_call" and item["call_id"] in calls
            if bare or (item.get("role") == "assistant" and item["content"] in texts):
                yield f"An item has lost its id, and what came with it: {item}"
            continue
        answer, was = ours.get(item["id"], ([], {}))
        if _exact(item) != _exact(was):
            yield f"Item '{item['id']}' is not as it was given: {item}"
            continue
        kin = [one["id"] for one in answer if not _blank(one)]
        start = index - kin.index(item["id"])
        if [one.get("id") for one in items[start : start + len(kin)]] != kin:
            yield f"Item '{item['id']}' was provided without the items that came with it."


def _exact(item: Event) -> Event:
    """Arguments count by their value; broken ones are an empty object by now. The call's id may
    have got a suffix."""
    if item.get("type") != "function_call":
        return item
    return {**item, "arguments": input_of(item["arguments"]), "call_id": ""}


def _blank(item: Event) -> bool:
    return item["type"] == "message" and not any(
        (part.get("text") or part.get("refusal") or "").strip() for part in item["content"]
    )
