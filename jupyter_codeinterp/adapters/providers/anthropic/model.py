"""The Model over the Messages API."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from ....core.ports import ModelInfo, Prices
from ....core.providers import origin
from ...model_http.model import ATTEMPTS, HttpModel, backoff, is_loopback
from .wire import ANTHROPIC, KNOWN, Credentials, Profile, known_info, profile_for, resolve, taken

if TYPE_CHECKING:
    import httpx2

    from .connection import Connection


CLOUD_ENDINGS = ("-cloud", ":cloud")
"""Name endings of models that Ollama runs in its cloud (docs.ollama.com/cloud)."""


class AnthropicModel(HttpModel[Credentials]):
    """Implements ``Model`` over the Messages API.

    endpoint      returns (API key, base URL without /v1), each None for the environment's
                  (ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, Anthropic
                  itself). Called before each request, so a key may change at any time. Its
                  key belongs to its address.
    max_tokens    most tokens of one answer, thinking included; 16,000 are some 1,500 lines
                  of code. An answer cut there ends with stop_reason ``max_tokens``.
    effort        low, medium, high, xhigh, max; None for the model's default
    profile       features that the endpoint supports; None: by its host
    known         models of a server without a list
    environment   holds Anthropic's own variables; {} for another provider, whose key and
                  address are independent of them
    stall         seconds without a byte until a stream is dead; None: the profile's
    """

    def __init__(
        self,
        endpoint: Callable[[], tuple[str | None, str | None]] = lambda: (None, None),
        *,
        max_tokens: int = 16_000,
        effort: str | None = None,
        profile: Profile | None = None,
        known: Sequence[str] = tuple(KNOWN),
        environment: Mapping[str, str] = os.environ,
        prices: Mapping[str, Prices] | None = None,
        stall: float | None = None,
        wait: Callable[[int], float] = backoff,
        attempts: int = ATTEMPTS,
    ) -> None:
        super().__init__(prices, wait, attempts)
        self._endpoint = endpoint
        self._max_tokens = max_tokens
        self._effort = effort
        self._profile = profile
        self._built_in = tuple(known)
        self._environment = environment
        self._stall = stall

    def _server(self) -> Credentials:
        return resolve(*self._endpoint(), self._environment)

    def _open(self, server: Credentials) -> tuple[httpx2.AsyncClient, Connection]:
        from .connection import Connection, http_client  # heavy SDK, in this thread only

        http = self._http or http_client()
        limits = (self._max_tokens, self._effort, self._stall)
        return http, Connection(server, http, self._of(server), *limits)

    def _known(self, model: str, server: Credentials | None) -> ModelInfo:
        return known_info(model)

    def _known_models(self, server: Credentials) -> Sequence[ModelInfo]:
        return [self._known(model, server) for model in self._built_in]

    def _vendor(self, server: Credentials) -> str:
        profile = self._of(server)
        elsewhere = profile.home and origin(server.base_url) != origin(profile.home)
        return profile.vendor if profile.own_prices and not elsewhere else ""

    def _takes(self, server: Credentials) -> tuple[str, ...]:
        return taken(self._of(server))

    def _is_local(self, server: Credentials, model: str) -> bool:
        here = self._of(server).runs_here and is_loopback(server.base_url)
        return here and not model.endswith(CLOUD_ENDINGS)

    def _of(self, server: Credentials | None) -> Profile:
        return self._profile or (profile_for(server) if server else ANTHROPIC)
