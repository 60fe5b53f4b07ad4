"""Which address to use, and with whose credentials."""

from __future__ import annotations

from typing import Union

import msgspec

from .....core.errors import ModelError
from .....core.providers import origin
from ....model_http.keys import header_safe
from .table import CLOUDS, Cloud, Environment

_CLOUD_BY_NAME = {cloud.name: cloud for cloud in CLOUDS}


class CloudCredentials(msgspec.Struct, frozen=True):
    """Where requests go. Without a ``secret``, ``its_own`` allows the cloud's own credentials,
    which AWS's and Google's libraries find."""

    name: str
    base_url: str
    secret: Union[str, None] = None
    its_own: bool = False

    @property
    def cloud(self) -> Cloud:
        return _CLOUD_BY_NAME[self.name]

    @property
    def is_public(self) -> bool:
        return self.cloud.its_host(self.base_url)

    @property
    def variable(self) -> str:
        return self.cloud.key_variable

    @property
    def place(self) -> str:
        """The server's name for people."""
        return f"{self.cloud.label} ({origin(self.base_url)})"

    def own_name(self, model: str) -> str:
        return model


def home(cloud: Cloud, environment: Environment) -> str:
    """Where the environment sends requests; "" if it does not say enough."""
    return environment.get(cloud.url_variable, "").strip() or cloud.address(environment)


def resolve(
    cloud: Cloud, key: str | None, url: str | None, environment: Environment
) -> CloudCredentials:
    """A given key belongs to the given address. The environment's own belongs to ``home``.
    Raises ModelError ``wrong_key`` for a key that no server can have issued, ``bad_request`` for
    an impossible address or none."""
    at_home = home(cloud, environment)
    address = (url or "").strip() or at_home
    if not address:
        raise ModelError(
            "bad_request", (f"{cloud.label} needs a place to connect to. {cloud.unsaid}")
        )
    if not origin(address):
        raise ModelError("bad_request", f"“{address}” is not the address of a model server.")
    secret = header_safe(key)
    is_home = origin(address) == origin(at_home)
    if secret is None and is_home and cloud.key_variable:
        secret = header_safe(environment.get(cloud.key_variable))
    named = environment.get(cloud.url_variable, "").strip()
    its_own = cloud.its_host(address) or (bool(named) and origin(named) == origin(address))
    return CloudCredentials(cloud.name, address, secret, its_own and bool(cloud.sign_in))
