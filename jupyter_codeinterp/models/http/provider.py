"""A service as a provider of models. The server's start needs this file."""

from __future__ import annotations

import os
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from ...base.errors import ModelError
from ...base.sentences import Sentence
from ...wire.providers import Credentials, Provider, Settings
from .service import Service, custom_headers, resolve

if TYPE_CHECKING:
    from .model import HttpModel

MODELS = __package__.rpartition(".")[0]


def provider_of(service: Service, base_url: str | None = None) -> Provider:
    """``base_url``: an admin's address, which overrides the environment's."""

    def other_url() -> str:
        """With ``chosen_by``, credentials in the environment may be for other programs. So models
        are offered only after a person connects the service, or with that variable."""
        if service.address is None:
            return base_url or os.environ.get(service.url_variable, "").strip()
        chosen = service.chosen_by and os.environ.get(service.chosen_by)
        return service.home if chosen else ""

    def connect(credentials: Credentials, settings: Settings) -> HttpModel:
        server = resolve(service, credentials.key, credentials.url or base_url)
        try:
            made: HttpModel = resolve_name(f"{MODELS}.{service.adapter}")(server, settings)
        except ImportError:
            if not service.extra:
                raise
            words = Sentence(
                "{label} needs more packages. Install them and restart:", label=service.label
            )
            install = f'pip install "jupyter_codeinterp[{service.extra}]"'
            raise ModelError(
                "not_installed", "{words} {install}", words=words, install=install
            ) from None
        return made

    url = service.url
    if service.address is not None:
        url = "" if other_url() else service.home
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
        key_url=lambda: service.home,
        keyless=service.keyless,
        key_page=service.key_page,
    )
