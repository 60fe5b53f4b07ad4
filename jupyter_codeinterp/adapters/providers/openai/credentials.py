"""Which key goes to which address. A key is bound to an origin and sent nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union
from urllib.parse import urlsplit, urlunsplit

import msgspec

from ....core.errors import ModelError
from ....core.providers import origin
from ...model_http.keys import header_safe
from .services import Service

_API_PATHS = ("/chat/completions", "/responses", "/models")
"""Paths that people copy along with an address."""


class Credentials(msgspec.Struct, frozen=True):
    """Where requests go, and with what. ``base_url`` includes ``/v1`` or its equivalent.

    ``of_environment``: the environment names this address, so its organization, project and
    headers belong there, too.
    """

    service: Service
    base_url: str
    secret: Union[str, None] = None
    of_environment: bool = False

    @property
    def is_public(self) -> bool:
        return origin(self.base_url) == origin(self.service.url)

    @property
    def place(self) -> str:
        """The server's name for people."""
        return (
            self.service.label if self.is_public else f"The model server at {origin(self.base_url)}"
        )

    @property
    def variable(self) -> str:
        return self.service.key_variables[0]

    def own_name(self, model: str) -> str:
        return model


def resolve(
    service: Service, api_key: str | None, base_url: str | None, environment: Mapping[str, str]
) -> Credentials:
    """A given key belongs to the given address (or the environment's).

    The environment's own key belongs to the service's address there, or to the service, and goes
    to no other address. Raises ModelError ``wrong_key`` for a key that no server can have
    issued, ``bad_request`` for an impossible address or none.
    """
    home = environment.get(service.url_variable, "").strip() or service.url
    url = (base_url or "").strip() or home
    if not url:
        such = service.resources.format("my-resource") or "http://127.0.0.1:8080/v1"
        words = f"Name the address of the model server, such as {such}."
        raise ModelError("bad_request", words)
    if not origin(url):
        raise ModelError("bad_request", f"“{url}” is not the address of a model server.")
    at_home = origin(url) == origin(home)
    given = header_safe(api_key)
    if given is None and at_home:
        found = (header_safe(environment.get(name)) for name in service.key_variables)
        given = next(filter(None, found), None)
    return Credentials(service, _root(url, service.path), given, at_home)


def _root(url: str, api: str) -> str:
    """The base address of the API's paths. An address without a path gets ``api``."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    for end in _API_PATHS:
        path = path.removesuffix(end)
    return urlunsplit((parts.scheme, parts.netloc, path or api, "", ""))
