"""Which key goes to which address. A key is bound to an origin and sent nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Union
from urllib.parse import urlsplit

import msgspec

from ....core.errors import ModelError
from ....core.providers import origin
from ...model_http.keys import header_safe

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
