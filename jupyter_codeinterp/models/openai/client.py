"""What the Responses API and Chat Completions share: one SDK client, errors, data to send back.

Importing this module imports the SDK (0.5 s), so it belongs in a worker thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import openai

from ...base.sentences import Sentence
from ...wire.messages import Message, RedactedThinking
from ...wire.ports import ModelInfo
from ..http.answer import is_count
from ..http.faults import ApiRefusal, Fault, no_key, status_fault, status_of
from ..http.listing import ListedModel
from ..http.model import Event, HttpModel
from ..http.service import ModelServer, custom_headers

Refused = Callable[[ApiRefusal], Fault]
"""Makes a Fault of an error in the stream."""


class OpenAIModel(HttpModel):
    sdk = openai
    sdk_error = openai.OpenAIError
    models_path = "/models"

    def make_client(self) -> Any:
        server = self.server
        self.headers = _headers(server)
        if server.is_public and not server.secret:
            raise no_key(server)
        return openai.AsyncOpenAI(
            api_key=server.secret or "none",  # the placeholder is never sent
            base_url=server.base_url,
            **self.client_options,
        )

    def refused(self, model: str) -> Refused:
        return lambda refusal: status_fault(refusal, self.server, model, self.optional)

    async def look_up(self, model: str) -> ModelInfo:
        """Look the model up in the list: few servers have an address per model, and OpenAI's
        answers no more."""
        for info in await self.listed():
            if info.id == model:
                return info
        raise Fault(
            "unknown_model",
            Sentence("{place} does not list “{model}”.", place=self.server.place, model=model),
        )

    async def listed(self) -> tuple[ModelInfo, ...]:
        """Models that may hold a conversation."""
        infos = await super().listed()
        hides = self.server.service.hides
        return tuple(info for info in infos if not any(part in info.id for part in hides))

    def info_of(self, listed: ListedModel) -> ModelInfo:
        """Gemini's list has longer names; requests take either."""
        return super().info_of(
            msgspec.structs.replace(listed, id=listed.id.removeprefix("models/"))
        )

    def refusal(self, error: Exception) -> ApiRefusal:
        """Handles an answer with an error status, or an error in mid-stream."""
        body = getattr(error, "body", None)
        if isinstance(body, list) and body:  # Gemini's are in a list
            body = body[0]
        response = getattr(error, "response", None)
        headers = {} if response is None else response.headers
        return refusal_of(body, getattr(error, "status_code", None), headers)

    def other_fault(self, error: Exception, model: str) -> Fault:
        if isinstance(error, openai.APIError) and error.body is not None:
            return self.status_fault(error, model)
        return super().other_fault(error, model)


def _headers(server: ModelServer) -> dict[str, Any]:
    """Headers of each request. The SDK takes missing ones from the environment, where they
    belong to OpenAI or OPENAI_BASE_URL. So for other servers they are omitted explicitly."""
    headers: dict[str, Any] = {}
    if server.service.name != "openai" or not server.of_environment:
        custom = [name for name, _ in custom_headers("OPENAI_CUSTOM_HEADERS")]
        names = ["OpenAI-Organization", "OpenAI-Project", *custom]
        headers = {name: openai.Omit() for name in names if name.lower() != "authorization"}
    key = server.secret
    return {**headers, "Authorization": f"Bearer {key}" if key else openai.Omit()}


def refusal_of(body: Any, status: int | None = None, headers: Mapping[str, str] = {}) -> ApiRefusal:
    """Read an error, from the body of an answer or in mid-stream. ``body`` is the error object, its
    container, or a text. Without a status, the error's code or type gives one."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict):
        body = body["error"]
    if not isinstance(body, dict):
        return ApiRefusal(status or 500, body, headers=headers)
    named = [body.get("code"), body.get("type"), body.get("status")]
    kinds = frozenset(str(each).lower() for each in named if isinstance(each, (str, int)))
    numbers = [int(kind) for kind in kinds if len(kind) == 3 and kind.isdecimal()]
    message = body.get("message") or body.get("detail") or body.get("error")
    if not isinstance(message, str):
        message = "" if message is None else str(message)[:2_000]  # such as a list of faults
    param = body.get("param")
    return ApiRefusal(
        status or next(filter(lambda n: n >= 400, numbers), None) or status_of(kinds),
        message,
        kinds,
        param if isinstance(param, str) else "",
        headers,
    )


# -------------------------------------------------------------------------------------------------
# Data that must go back to a model unchanged, but fits in no block of a message.
#
# It goes into a ``redacted_thinking`` block at the end of the message: never shown, always sent
# back. It leaves out texts and calls, which have their own blocks; sending puts them back.


def keep(wire: str, value: Any) -> str:
    """The data of such a block."""
    return msgspec.json.encode({"wire": wire, "kept": value}).decode()


def kept(wire: str, message: Message) -> Any:
    """The value that ``keep`` stored in this message, or None. Ignores other wires' blocks."""
    for block in message.content:
        if isinstance(block, RedactedThinking) and block.data.startswith('{"wire":'):
            try:
                found = msgspec.json.decode(block.data)
            except (msgspec.DecodeError, RecursionError):
                continue
            if isinstance(found, dict) and found.get("wire") == wire:
                return found.get("kept")
    return None


def used(read: Any, written: Any, cached: Any, cache_writes: Any = 0) -> Event:
    """Tokens as Usage counts them: ``input_tokens`` excludes cached ones."""
    whole, out, hit, stored = (
        count if is_count(count) else 0 for count in (read, written, cached, cache_writes)
    )
    return {
        "input_tokens": max(0, whole - hit - stored),
        "output_tokens": out,
        "cache_read_input_tokens": hit,
        "cache_creation_input_tokens": stored,
    }
