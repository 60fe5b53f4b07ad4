"""Converts between the Messages API's and the core's types. Pure."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from typing import Any, Literal, Union

import msgspec

from ...core.errors import ModelError
from ...core.messages import AnyBlock, Message, RedactedThinking, Text, Thinking, ToolUse
from ...core.ports import (
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRequest,
    ModelText,
    ModelThinking,
    ModelToolInput,
    ToolSpec,
)

STATUS = {
    "bad_request": (400, "invalid_request_error"),
    "context_full": (413, "request_too_large"),
    "unknown_model": (404, "not_found_error"),
    "rate_limit": (429, "rate_limit_error"),
    "spend_limit": (402, "billing_error"),
    "day_limit": (402, "billing_error"),
    "overloaded": (529, "overloaded_error"),
    "no_token": (401, "authentication_error"),
    "no_key": (403, "permission_error"),
    "wrong_key": (403, "permission_error"),
    "forbidden": (403, "permission_error"),
    "not_allowed": (403, "permission_error"),
}
"""Status and error type by a ModelError's code; others are 500."""


class _Message(msgspec.Struct):
    role: Literal["user", "assistant"]
    content: Union[str, tuple[AnyBlock, ...]]


class _Body(msgspec.Struct):
    """The used part of a request. The server sets the rest (``max_tokens``, ``thinking``, …)."""

    model: str
    messages: tuple[_Message, ...]
    system: Union[str, tuple[Text, ...]] = ""
    tools: tuple[ToolSpec, ...] = ()
    stream: bool = False
    tool_choice: dict[str, Any] = {}


def read(data: bytes) -> tuple[ModelRequest, bool]:
    """Decode a request, and whether to stream. Raises ModelError ``bad_request``."""
    try:
        body = msgspec.json.decode(data)
        _unfold(body)
        given = msgspec.convert(body, _Body)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ModelError("bad_request", f"Not a Messages API request: {error}") from None
    if not given.messages:
        raise ModelError("bad_request", "messages: at least one message is required")
    system = given.system
    text = system if isinstance(system, str) else "\n".join(part.text for part in system)
    messages = tuple(
        Message(one.role, (Text(one.content),))
        if isinstance(one.content, str)
        else Message(one.role, one.content)
        for one in given.messages
    )
    answer_only = given.tool_choice.get("type") == "none"
    asked = ModelRequest(given.model, text, given.tools, messages, answer_only=answer_only)
    return asked, given.stream


def _unfold(body: Any) -> None:
    """Convert tool results with a string or no content, which the API accepts, to blocks."""
    messages = body.get("messages") if isinstance(body, dict) else None
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") == "tool_result":
                text = block.get("content", "")
                if isinstance(text, str):
                    block["content"] = [{"type": "text", "text": text}]


def error_body(error: ModelError) -> tuple[int, dict[str, Any]]:
    status, kind = STATUS.get(error.code, (500, "api_error"))
    told = {"type": kind, "message": error.message, "details": {"error_code": error.code}}
    return status, {"type": "error", "error": told}


def model_list(infos: list[ModelInfo]) -> dict[str, Any]:
    return {"data": [model_entry(info) for info in infos], "has_more": False}


def model_entry(info: ModelInfo) -> dict[str, Any]:
    """A model as in the Messages API, with its price in OpenRouter's format, which the kernel side
    reads."""
    entry: dict[str, Any] = {
        "type": "model",
        "id": info.id,
        "display_name": info.name,
        "max_input_tokens": info.context_window,
    }
    if info.images is not None:
        entry["capabilities"] = {"image_input": {"supported": info.images}}
    prices = (0.0,) * 4 if info.local else info.prices
    if prices is not None and info.long_prompts is None:
        # This format has no prices that rise with the prompt's length: omit those.
        names = ("prompt", "completion", "input_cache_write", "input_cache_read")
        entry["pricing"] = {
            name: a_million / 1e6 for name, a_million in zip(names, prices, strict=True)
        }
    return entry


class Answer:
    """Converts a model's events to the Messages API's, in order."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._id = f"msg_{secrets.token_hex(12)}"
        self._open: dict[int, bool] = {}
        """Open blocks, and whether they are thinking. Thinking blocks end last, because their
        signature comes at the end."""
        self._sent: dict[int, str] = {}
        """The sent part of each tool input's JSON."""

    def begin(self) -> bytes:
        return _frame("message_start", message=self._message([], None, None))

    def feed(self, event: ModelEvent) -> Iterator[bytes]:
        """The frames for an event other than ModelDone."""
        if isinstance(event, ModelText):
            yield from self._block(event.block, {"type": "text", "text": ""})
            yield self._delta(event.block, type="text_delta", text=event.text)
        elif isinstance(event, ModelThinking):
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            yield from self._block(event.block, empty)
            yield self._delta(event.block, type="thinking_delta", thinking=event.text)
        elif isinstance(event, ModelToolInput):
            call = {"type": "tool_use", "id": event.id, "name": event.name, "input": {}}
            yield from self._block(event.block, call)
            yield from self._input(event.block, so_far(event.partial))

    def end(self, done: ModelDone) -> Iterator[bytes]:
        """The frames for the end of the message."""
        for index, block in enumerate(done.message.content):
            if isinstance(block, ToolUse):
                wrong = block.id in done.invalid
                whole = json.dumps(block.input, ensure_ascii=False)
                yield from self._block(index, {**_wire(block), "input": {}})
                # Broken JSON stays broken.
                yield from self._input(index, self._sent.get(index, "{") if wrong else whole)
            elif isinstance(block, Thinking):
                yield from self._block(index, {"type": "thinking", "thinking": "", "signature": ""})
                yield self._delta(index, type="signature_delta", signature=block.signature)
            elif isinstance(block, RedactedThinking):
                yield from self._block(index, _wire(block))
        yield from self._close(thinking=True)
        usage = msgspec.to_builtins(done.usage)
        delta: dict[str, Any] = {"stop_reason": done.stop_reason, "stop_sequence": None}
        if done.detail:
            delta["stop_details"] = {"type": "refusal", "explanation": done.detail}
        yield _frame("message_delta", delta=delta, usage=usage)
        yield _frame("message_stop")

    def whole(self, done: ModelDone) -> dict[str, Any]:
        """The whole message, for a request without streaming."""
        content = [_wire(block) for block in done.message.content]
        return self._message(content, done.stop_reason, msgspec.to_builtins(done.usage))

    # --- inside ----------------------------------------------------------------------

    def _message(self, content: list[Any], stop: str | None, usage: Any) -> dict[str, Any]:
        return {
            "id": self._id,
            "type": "message",
            "role": "assistant",
            "model": self._model,
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage or {"input_tokens": 0, "output_tokens": 0},
        }

    def _block(self, index: int, start: dict[str, Any]) -> Iterator[bytes]:
        """Begin a new block and end the one before."""
        if index in self._sent:
            return
        yield from self._close(thinking=False)
        self._open[index], self._sent[index] = start["type"] == "thinking", ""
        yield _frame("content_block_start", index=index, content_block=start)

    def _close(self, *, thinking: bool) -> Iterator[bytes]:
        for index in [index for index, thinks in self._open.items() if thinking or not thinks]:
            del self._open[index]
            yield _frame("content_block_stop", index=index)

    def _input(self, index: int, text: str) -> Iterator[bytes]:
        sent = self._sent[index]
        if text.startswith(sent) and len(text) > len(sent):
            self._sent[index] = text
            yield self._delta(index, type="input_json_delta", partial_json=text[len(sent) :])
        elif not text.startswith(sent):
            raise ModelError("broken_stream", "The model's answer changed while streaming.")

    def _delta(self, index: int, **delta: Any) -> bytes:
        return _frame("content_block_delta", index=index, delta=delta)


def so_far(partial: dict[str, Any]) -> str:
    """The JSON of a partial tool input up to what may still grow: a prefix of the final JSON."""
    names = list(partial)
    if not names:
        return ""
    *_, last = names
    known = {name: partial[name] for name in names[:-1]}
    if isinstance(partial[last], str):
        return json.dumps(partial, ensure_ascii=False)[:-2]
    text = json.dumps(known, ensure_ascii=False)[:-1]
    return text if known else ""


def _wire(block: AnyBlock) -> dict[str, Any]:
    wire: dict[str, Any] = msgspec.to_builtins(block)
    return wire


def _frame(kind: str, **data: Any) -> bytes:
    body = json.dumps({"type": kind, **data}, ensure_ascii=False)
    return f"event: {kind}\ndata: {body}\n\n".encode("utf-8", "replace")


def error_frame(error: ModelError) -> bytes:
    return _frame("error", **{"error": error_body(error)[1]["error"]})
