"""A service as a provider of models. The server's start needs this file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...wire.providers import Credentials, Provider, Settings
from .service import Service, custom_headers

if TYPE_CHECKING:
    from .model import HttpModel


def provider_of(service: Service, base_url: str | None = None) -> Provider:
    """``base_url``: an admin's address, which overrides the environment's."""

    def other_url() -> str:
        """With ``chosen_by``, credentials in the environment may be for other programs. So models
        are offered only after a person connects the service, or with that variable."""
        if service.address is None:
            return base_url or os.environ.get(service.url_variable, "").strip()
        chosen = service.chosen_by and os.environ.get(service.chosen_by)
        return service.home(os.environ) if chosen else ""

    def connect(credentials: Callable[[], Credentials], settings: Settings) -> HttpModel:
        from .model import HttpModel  # not at the server's start

        def endpoint() -> tuple[str | None, str | None]:
            entered = credentials()
            return entered.key, entered.url or base_url

        return HttpModel(
            service,
            endpoint,
            prices=settings.prices,
            max_tokens=settings.max_tokens,
            learn=settings.learn,
        )

    url = service.url
    if service.address is not None:
        url = "" if other_url() else service.home(os.environ)
    return Provider(
        service.name,
        service.label,
        connect,
        default_model=service.default_model,
        key_variables=service.key_variables,
        secrets=lambda: (value for _, value in custom_headers(service.headers_variable)),
        secret_variables=service.secret_variables,
        url=url,
        other_url=other_url,
        key_url=lambda: service.home(os.environ),
        keyless=service.keyless,
        key_page=service.key_page,
    )
