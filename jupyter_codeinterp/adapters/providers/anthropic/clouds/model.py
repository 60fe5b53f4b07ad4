"""The Model over the Messages API of a cloud."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec

from .....core.errors import ModelError
from .....core.ports import ModelInfo
from ....model_http.model import ATTEMPTS, HttpModel, SetPrices, backoff
from ..wire import ANTHROPIC, known_info, taken
from .table import Cloud, CloudCredentials, plain_name, resolve

if TYPE_CHECKING:
    import httpx2

    from .connection import CloudConnection


def ignore_secret(secret: str) -> None:
    """Do nothing: for models whose texts need no redaction."""


class CloudModel(HttpModel[CloudCredentials]):
    """Implements ``Model``. ``learn`` gets each credential found or made, to redact it in
    all texts. Other arguments as of AnthropicModel."""

    def __init__(
        self,
        cloud: Cloud,
        endpoint: Callable[[], tuple[str | None, str | None]] = lambda: (None, None),
        *,
        max_tokens: int = 16_000,
        environment: Mapping[str, str] = os.environ,
        prices: SetPrices | None = None,
        learn: Callable[[str], None] = ignore_secret,
        stall: float | None = None,
        wait: Callable[[int], float] = backoff,
        attempts: int = ATTEMPTS,
    ) -> None:
        super().__init__(prices, wait, attempts)
        self._cloud = cloud
        self._endpoint = endpoint
        self._max_tokens = max_tokens
        self._environment = environment
        self._learn = learn
        self._stall = stall
        self._profile = msgspec.structs.replace(
            ANTHROPIC, own_prices=False, automatic_caching=cloud.automatic_caching
        )

    def _server(self) -> CloudCredentials:
        return resolve(self._cloud, *self._endpoint(), self._environment)

    def _open(self, server: CloudCredentials) -> tuple[httpx2.AsyncClient, CloudConnection]:
        self._need_modules()
        from ..connection import http_client  # heavy SDK, in this thread only

        http = self._http or http_client()
        make = _connection_of(self._cloud)
        limits = (self._max_tokens, None, self._stall)
        return http, make(server, http, self._profile, *limits, self._environment, self._learn)

    def _takes(self, server: CloudCredentials) -> tuple[str, ...]:
        return taken(self._profile)

    def _need_modules(self) -> None:
        if all(map(_is_there, self._cloud.modules)):
            return
        words = f"{self._cloud.label} needs more packages. Install them and restart:"
        install = f'pip install "jupyter_codeinterp[{self._cloud.extra}]"'
        raise ModelError("not_installed", f"{words} {install}")

    def _known(self, model: str, server: CloudCredentials | None) -> ModelInfo:
        return msgspec.structs.replace(known_info(plain_name(model)), id=model)

    def _known_models(self, server: CloudCredentials) -> Sequence[ModelInfo]:
        return [self._known(model, server) for model in self._cloud.models]


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False


def _connection_of(cloud: Cloud) -> Callable[..., CloudConnection]:
    if cloud.name == "bedrock":
        from .bedrock import BedrockConnection

        return BedrockConnection
    if cloud.name == "vertex":
        from .vertex import VertexConnection

        return VertexConnection
    from .connection import FoundryConnection

    return FoundryConnection
