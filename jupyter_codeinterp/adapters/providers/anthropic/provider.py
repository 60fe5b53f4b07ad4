"""Anthropic, and servers that speak its Messages API, as a provider."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....core.providers import Credentials, Provider, Settings
from ...model_http.keys import custom_headers
from .wire import ANTHROPIC_URL

if TYPE_CHECKING:
    from .model import AnthropicModel

NAME = "anthropic"
DEFAULT_MODEL = "claude-sonnet-5-5"


def provider(base_url: str | None = None) -> Provider:
    """``base_url``: an admin's address, which overrides the environment's."""

    def other_url() -> str:
        return base_url or os.environ.get("ANTHROPIC_BASE_URL", "").strip()

    def key_url() -> str:
        return os.environ.get("ANTHROPIC_BASE_URL", "").strip() or ANTHROPIC_URL

    def connect(credentials: Callable[[], Credentials], settings: Settings) -> AnthropicModel:
        from .model import AnthropicModel  # not at the server's start

        def endpoint() -> tuple[str | None, str | None]:
            entered = credentials()
            return entered.key, entered.url or base_url

        return AnthropicModel(endpoint, max_tokens=settings.max_tokens, prices=settings.prices)

    return Provider(
        NAME,
        "Anthropic",
        connect,
        default_model=DEFAULT_MODEL,
        key_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
        secrets=lambda: (value for _, value in custom_headers("ANTHROPIC_CUSTOM_HEADERS")),
        url=ANTHROPIC_URL,
        other_url=other_url,
        key_url=key_url,
        key_looks="sk-ant-…",
        key_page="https://platform.claude.com/settings/keys",
    )
