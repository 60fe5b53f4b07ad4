"""Writes a ModelRequest as the body of ``POST /v1/messages``.

Each message is translated by itself, from content and profile only, so a resent message is the
same byte for byte.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Union
from urllib.parse import urlsplit

import msgspec

from ....core.errors import ModelError
from ....core.messages import (
    PDF,
    AnyBlock,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    without_pictures,
)
from ....core.ports import ModelInfo, ModelRequest, ToolSpec
from ....core.providers import origin
from ...model_http.facts import fact
from ...model_http.keys import header_safe
from ...model_http.listing import shown_name

# -------------------------------------------------------------------------------------------------
# Which key goes to which address. A key is bound to an origin and sent nowhere else.

ANTHROPIC_URL = "https://api.anthropic.com"


class Credentials(msgspec.Struct, frozen=True):
    """Where requests go, and with what. At most one of key and token is set.

    ``base_url`` has no ``/v1``. ``custom_headers`` tells whether to send the headers in
    ANTHROPIC_CUSTOM_HEADERS: they often carry a key.
    """

    base_url: str
    api_key: Union[str, None] = None
    auth_token: Union[str, None] = None
    custom_headers: bool = False

    @property
    def secret(self) -> str | None:
        return self.api_key or self.auth_token

    @property
    def variable(self) -> str:
        return "ANTHROPIC_API_KEY"

    @property
    def is_public(self) -> bool:
        return self.is_anthropic

    @property
    def is_anthropic(self) -> bool:
        host = urlsplit(self.base_url).hostname or ""
        return host == "anthropic.com" or host.endswith(".anthropic.com")

    def own_name(self, model: str) -> str:
        """The server's name for the model. Anthropic's names have no slash: it can only follow
        the provider's name. Other servers' names may have any. Raises ModelError
        ``unknown_model``."""
        if not self.is_anthropic:
            return model
        name = model.removeprefix("anthropic/")
        if "/" in name:
            raise ModelError("unknown_model", f"No provider has the model “{model}”.")
        return name

    @property
    def place(self) -> str:
        """The server's name for people."""
        return "Anthropic" if self.is_anthropic else f"The model server at {origin(self.base_url)}"


def resolve(
    api_key: str | None, base_url: str | None, environment: Mapping[str, str]
) -> Credentials:
    """A given key belongs to the given address (or the environment's).

    The environment's own key belongs to ANTHROPIC_BASE_URL, or else to Anthropic, and goes to no
    other address. Raises ModelError ``wrong_key`` for a key that no server can have issued,
    ``bad_request`` for an impossible address.
    """
    home = environment.get("ANTHROPIC_BASE_URL", "").strip() or ANTHROPIC_URL
    url = (base_url or "").strip() or home
    if not origin(url):
        raise ModelError("bad_request", f"“{url}” is not the address of a model server.")
    at_home = origin(url) == origin(home)
    if given := header_safe(api_key):
        return Credentials(url, api_key=given, custom_headers=at_home)
    if not at_home:
        return Credentials(url)
    key = header_safe(environment.get("ANTHROPIC_API_KEY"))
    token = None if key else header_safe(environment.get("ANTHROPIC_AUTH_TOKEN"))
    return Credentials(url, api_key=key, auth_token=token, custom_headers=True)


# -------------------------------------------------------------------------------------------------
# Features of an endpoint, and the built-in models.


class Profile(msgspec.Struct, frozen=True):
    """The features of the Messages API that an endpoint supports.

    eager_input        tool input streams unbuffered (``eager_input_streaming``)
    caching            ``cache_control`` on the request and on the system prompt
    automatic_caching  it accepts the one on the request; else the last block has it
    thinking           adaptive thinking with summaries, and ``output_config.effort``
    signed_thinking    it refuses thinking without a signature: never send that back
    x_api_key          the key goes into ``X-Api-Key`` too; many servers read only that
    images_in_results  else images follow the tool results, in the same message
    documents          it accepts PDFs, as ``document`` blocks
    needs_key          without a key nothing is sent at all
    stall              seconds without a byte until a stream counts as dead; Anthropic
                       pings, local servers are silent while they read a long prompt
    own_prices         ``facts.json`` applies to the models of ``vendor``: at ``home``, or
                       everywhere if that is ""
    runs_here          its models run on the server itself: on this machine they cost nothing
    list_url           where models are listed, if not at ``/v1/models`` of the address: a path
                       of the same origin
    key_url            requested first, to test the key, where anybody may read the list
    """

    eager_input: bool
    caching: bool
    thinking: bool
    signed_thinking: bool
    x_api_key: bool
    images_in_results: bool
    needs_key: bool
    stall: float
    own_prices: bool
    list_url: str = ""
    key_url: str = ""
    automatic_caching: bool = True
    vendor: str = "anthropic"
    home: str = ""
    runs_here: bool = False
    documents: bool = False


ANTHROPIC = Profile(
    eager_input=True,
    caching=True,
    thinking=True,
    signed_thinking=True,
    x_api_key=False,
    images_in_results=True,
    needs_key=True,
    stall=60.0,
    own_prices=True,
    documents=True,
)
OTHER = Profile(
    eager_input=False,
    caching=False,
    thinking=False,
    signed_thinking=False,
    x_api_key=True,
    images_in_results=False,
    needs_key=False,
    stall=300.0,
    own_prices=False,
)


def profile_for(server: Credentials) -> Profile:
    """The profile for the server's host."""
    return ANTHROPIC if server.is_anthropic else OTHER


_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def taken(profile: Profile) -> tuple[str, ...]:
    """Media types of files that are sent unchanged."""
    return (*_IMAGES, PDF) if profile.documents else _IMAGES


KNOWN = {
    "claude-sonnet-5-5": "Claude Sonnet 5.5",
    "claude-opus-5-5": "Claude Opus 5.5",
    "claude-haiku-5-5": "Claude Haiku 5.5",
}
"""Models to offer without asking a server."""


def known_info(model: str) -> ModelInfo:
    """Name and window: a model has the same ones at every address."""
    known = fact("anthropic", model)
    name = KNOWN.get(model, shown_name(model))
    return ModelInfo(model, name, known.context_window if known else None)


NOTHING_SAID = "(nothing said)"
"""Text of a message without one: the API refuses empty messages, and assistant messages that end
with thinking."""

BRIEF = 300
"""Tokens of a brief answer."""

_EPHEMERAL = {"type": "ephemeral"}


def request_body(
    request: ModelRequest, profile: Profile, max_tokens: int, effort: str | None
) -> dict[str, Any]:
    """The messages' content is not copied; ``msgspec`` encodes it. Copying a long conversation
    would take a good part of the server's time in a step."""
    most = min(max_tokens, BRIEF) if request.brief else max_tokens
    body: dict[str, Any] = {"model": request.model, "max_tokens": most}
    if request.system:
        system: dict[str, Any] = {"type": "text", "text": request.system}
        if profile.caching:
            system["cache_control"] = _EPHEMERAL
        body["system"] = [system]
    if request.tools:
        body["tools"] = [_tool(tool, profile) for tool in request.tools]
        if request.answer_only:
            body["tool_choice"] = {"type": "none"}
    if profile.caching and profile.automatic_caching:
        body["cache_control"] = _EPHEMERAL
    if profile.thinking and not request.brief:
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
        if effort:
            body["output_config"] = {"effort": effort}
    body["messages"] = [_message(message, profile) for message in request.messages]
    if profile.caching and not profile.automatic_caching and body["messages"]:
        content = body["messages"][-1]["content"]
        content[-1] = {**msgspec.to_builtins(content[-1]), "cache_control": _EPHEMERAL}
    return body


def _tool(tool: ToolSpec, profile: Profile) -> dict[str, Any]:
    wire: dict[str, Any] = msgspec.to_builtins(tool)
    # People see only a source while it streams; for other tools it would waste 31 bytes a request.
    if profile.eager_input and "source" in tool.input_schema.get("properties", {}):
        wire["eager_input_streaming"] = True
    return wire


def _message(message: Message, profile: Profile) -> dict[str, Any]:
    content: list[AnyBlock] = []
    images: list[AnyBlock] = []
    for block in message.content:
        if isinstance(block, ToolResult):
            block = _result(block, profile, images)
        if not _refused(block, profile):
            content.append(block)
    content += images
    if not content or isinstance(content[-1], (Thinking, RedactedThinking)):
        content.append(Text(NOTHING_SAID))
    return {"role": message.role, "content": content}


def _result(result: ToolResult, profile: Profile, images: list[AnyBlock]) -> ToolResult:
    """The result without what the endpoint refuses. Moves images that it refuses there to
    ``images``."""
    content = [part for part in result.content if not _refused(part, profile)]
    if not profile.images_in_results:
        content, pictures = without_pictures(content)
        images += pictures
    return ToolResult(result.tool_use_id, tuple(content), result.is_error)


def _refused(block: AnyBlock, profile: Profile) -> bool:
    if isinstance(block, Text):
        return not block.text.strip()
    if isinstance(block, Thinking):
        return not block.signature and (profile.signed_thinking or not block.thinking)
    return False
