"""OpenAI, and servers that speak its APIs, as providers."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from ....core.providers import Credentials, Provider, Settings
from ...model_http.keys import custom_headers
from .services import SERVICES, Service

if TYPE_CHECKING:
    from .model import OpenAIModel


_RESOURCE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-]{1,62}")


def providers() -> tuple[Provider, ...]:
    return tuple(_provider(service) for service in SERVICES)


def _provider(service: Service) -> Provider:
    def other_url() -> str:
        return os.environ.get(service.url_variable, "").strip()

    def settle(place: str) -> str:
        return service.resources.format(place) if _RESOURCE.fullmatch(place) else ""

    def connect(credentials: Callable[[], Credentials], settings: Settings) -> OpenAIModel:
        from .model import OpenAIModel  # not at the server's start

        def endpoint() -> tuple[str | None, str | None]:
            entered = credentials()
            return entered.key, entered.url

        return OpenAIModel(
            service, endpoint, max_tokens=settings.max_tokens, prices=settings.prices
        )

    return Provider(
        service.name,
        service.label,
        connect,
        key_variables=service.key_variables,
        secrets=lambda: (value for _, value in custom_headers("OPENAI_CUSTOM_HEADERS")),
        url=service.url,
        other_url=other_url,
        keyless=not service.url and not service.resources,
        key_looks=service.key_looks,
        key_page=service.key_page,
        settle=settle,
        place_looks=service.place_looks,
    )
