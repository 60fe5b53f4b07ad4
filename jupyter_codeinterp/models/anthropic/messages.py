"""The Messages API: a request, its stream, and its errors.

Importing this module imports the SDK (1.2 s), so it belongs in a worker thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import anthropic
import msgspec

from ...wire.messages import (
    AnyBlock,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    without_pictures,
)
from ...wire.ports import ModelEvent, ModelInfo, ModelRequest, ToolSpec
from ..http.answer import NOTHING_SAID, AnswerBuilder, mapping, string
from ..http.faults import ApiRefusal, no_key, status_of
from ..http.listing import entry
from ..http.model import Event, HttpModel, Reader
from ..http.service import ModelServer, custom_headers

BRIEF = 300
"""Tokens of a brief answer."""
_EPHEMERAL = {"type": "ephemeral"}


class MessagesModel(HttpModel):
    sdk = anthropic
    sdk_error = anthropic.AnthropicError
    models_path = "/v1/models?limit=1000"
    answers_path = "/v1/messages"

    def make_client(self) -> Any:
        if self.server.is_claude and not self.server.secret:
            raise no_key(self.server)
        return anthropic.AsyncAnthropic(
            api_key=self.server.secret or "",  # Without one, the SDK takes the environment's.
            default_headers=_headers(self.server),
            base_url=self.server.base_url,
            **self.client_options,
        )

    @property
    def client_options(self) -> dict[str, Any]:
        return {**super().client_options, "open_telemetry": False}

    def talk(
        self, request: ModelRequest, without: frozenset[str], answer: AnswerBuilder
    ) -> tuple[Event, MessagesReader]:
        body = request_body(request, self.settings.max_tokens, claude=self.server.is_claude)
        return body, MessagesReader(answer)

    async def look_up(self, model: str) -> ModelInfo:
        path = f"/v1/models/{quote(model, safe='')}"
        with self.faults(model):
            return self.info_of(entry((await self.get(path)).content))

    def refusal(self, error: Exception) -> ApiRefusal:
        assert isinstance(error, anthropic.APIStatusError)
        found = (str(each) for each in (error.type, error.error_code) if each)
        kinds = frozenset(found)
        status = status_of(kinds) if error.status_code == 200 else error.status_code
        return ApiRefusal(status, error.api_message, kinds, headers=error.response.headers)


def _headers(server: ModelServer) -> dict[str, Any]:
    headers: dict[str, Any] = {}
    if not (server.of_environment and server.service.headers_variable):
        headers |= omitted_headers()
    if not server.secret:
        headers["Authorization"] = anthropic.Omit()
    elif server.service.x_api_key and not server.is_claude:
        headers["X-Api-Key"] = server.secret
    return headers


def omitted_headers() -> dict[str, str | anthropic.Omit]:
    """Keeps out the environment's headers, which every SDK client sends unless overridden."""
    return {name: anthropic.Omit() for name, _ in custom_headers("ANTHROPIC_CUSTOM_HEADERS")}


# --- the request -----------------------------------------------------------------------------


def request_body(request: ModelRequest, max_tokens: int, *, claude: bool = True) -> Event:
    """``claude`` as in ``Service``.

    Each message is translated by itself, so a resent message is the same byte for byte. Its
    content is not copied; ``msgspec`` encodes it. Copying a long conversation would take a good
    part of the server's time in a step.
    """
    most = min(max_tokens, BRIEF) if request.brief else max_tokens
    body: Event = {"model": request.model, "max_tokens": most}
    if request.system:
        system: Event = {"type": "text", "text": request.system}
        if claude:
            system["cache_control"] = _EPHEMERAL
        body["system"] = [system]
    if request.tools:
        body["tools"] = [_tool(tool, claude) for tool in request.tools]
        if request.answer_only:
            body["tool_choice"] = {"type": "none"}
    if claude and not request.brief:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    body["messages"] = [_message(message, claude) for message in request.messages]
    if claude and request.messages and request.messages[-1].role == "user":
        content = body["messages"][-1]["content"]
        content[-1] = {**msgspec.to_builtins(content[-1]), "cache_control": _EPHEMERAL}
    return body


def _tool(tool: ToolSpec, claude: bool) -> Event:
    made: Event = msgspec.to_builtins(tool)
    # People see only a source while it streams; for other tools it would waste 31 bytes a request.
    if claude and "source" in tool.input_schema.get("properties", {}):
        made["eager_input_streaming"] = True
    return made


def _message(message: Message, claude: bool) -> Event:
    content: list[AnyBlock] = []
    images: list[AnyBlock] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            block = _result(block, claude, images)
        if not _is_refused(block, claude):
            content.append(block)
    content += images
    if not content or isinstance(content[-1], (Thinking, RedactedThinking)):
        content.append(Text(NOTHING_SAID))
    return {"role": message.role, "content": content}


def _result(result: ToolResult, claude: bool, images: list[AnyBlock]) -> ToolResult:
    """The result without what the server refuses. Images of a result, which only Claude accepts
    there, go to ``images``: they follow the results, in the same message."""
    content = [part for part in result.content if not _is_refused(part, claude)]
    if not claude:
        content, pictures = without_pictures(content)
        images += pictures
    return ToolResult(result.tool_use_id, tuple(content), result.is_error)


def _is_refused(block: AnyBlock, claude: bool) -> bool:
    if isinstance(block, Text):
        return not block.text.strip()
    if isinstance(block, Thinking):
        return not block.signature and (claude or not block.thinking)
    return False


# --- the stream ------------------------------------------------------------------------------


class MessagesReader(Reader):
    """Skips events and blocks of unknown types."""

    def __init__(self, answer: AnswerBuilder) -> None:
        self._answer = answer
        self._stop_reason = ""
        self._detail = ""

    def feed(self, event: Event) -> Iterable[ModelEvent]:
        kind = event.get("type")
        index = event.get("index")
        key = index if isinstance(index, int) else 0
        if kind == "message_start":
            return self._answer.count(mapping(event, "message").get("usage"))
        if kind == "content_block_start":
            return self._start(key, mapping(event, "content_block"))
        if kind == "content_block_delta":
            return self._more(key, mapping(event, "delta"))
        if kind == "content_block_stop":
            return self._answer.stop(key)
        if kind == "message_delta":
            delta = mapping(event, "delta")
            self._stop_reason = string(delta, "stop_reason") or self._stop_reason
            details = mapping(delta, "stop_details")
            self._detail = string(details, "explanation") or string(details, "category")
            self._answer.count(event.get("usage"))
        elif kind == "message_stop":
            return self._answer.finish(self._stop_reason, self._detail)
        return ()

    def _start(self, key: int, block: Event) -> list[ModelEvent]:
        kind = block.get("type")
        if kind == "text":
            return [*self._answer.start_text(key), *self._more(key, block)]
        if kind == "thinking":
            return [*self._answer.start_thinking(key), *self._more(key, block)]
        if kind == "tool_use":
            call_id, name = string(block, "id"), string(block, "name")
            return self._answer.start_call(key, call_id, name, mapping(block, "input"))
        shown = self._answer.start_other(key)
        if kind == "redacted_thinking":
            self._answer.redacted(string(block, "data"))
        return shown

    def _more(self, key: int, delta: Event) -> list[ModelEvent]:
        if signature := string(delta, "signature"):
            self._answer.sign(key, signature)
        names = ("text", "thinking", "partial_json")
        piece = next(filter(None, (string(delta, name) for name in names)), "")
        return self._answer.more(key, piece)
