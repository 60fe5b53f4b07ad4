"""The Model over the Responses API or Chat Completions."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ....core.errors import ModelError
from ....core.messages import PDF
from ....core.ports import ModelInfo
from ...model_http.listing import shown_name
from ...model_http.model import ATTEMPTS, HttpModel, backoff, is_loopback
from .services import Credentials, Service, resolve

if TYPE_CHECKING:
    import httpx2

    from .connection import Connection

INSTALL = 'pip install "jupyter-codeinterp[openai]"'


class OpenAIModel(HttpModel[Credentials]):
    """Implements ``Model`` over the wire of a service.

    endpoint      returns (API key, address), each None for the environment's or the service's.
                  Called before each request, so a key may change at any time. Its key belongs
                  to its address.
    max_tokens    most tokens of one answer, reasoning included
    stall         seconds without a byte until a stream is dead
    """

    def __init__(
        self,
        service: Service,
        endpoint: Callable[[], tuple[str | None, str | None]] = lambda: (None, None),
        *,
        max_tokens: int = 16_000,
        prices: Mapping[str, tuple[float, float, float, float]] | None = None,
        stall: float = 300.0,
        wait: Callable[[int], float] = backoff,
        attempts: int = ATTEMPTS,
    ) -> None:
        super().__init__(prices, wait, attempts)
        self._service = service
        self._endpoint = endpoint
        self._max_tokens = max_tokens
        self._stall = stall

    def _server(self) -> Credentials:
        return resolve(self._service, *self._endpoint(), os.environ)

    def _open(self, server: Credentials) -> tuple[httpx2.AsyncClient, Connection]:
        if find_spec("openai") is None:
            words = f"{self._service.label} needs one more package. Install it and restart:"
            raise ModelError("not_installed", f"{words} {INSTALL}")
        from .connection import Connection, http_client  # heavy SDK, in this thread only

        http = self._http or http_client()
        return http, Connection(server, http, self._max_tokens, self._stall)

    def _known(self, model: str, server: Credentials | None) -> ModelInfo:
        return ModelInfo(model, shown_name(model))

    def _vendor(self, server: Credentials) -> str:
        return self._service.name if server.is_public else ""

    def _takes(self, server: Credentials) -> tuple[str, ...]:
        service = self._service
        return (*service.images, PDF) if service.documents else service.images

    def _is_local(self, server: Credentials, model: str) -> bool:
        return self._service.runs_here and is_loopback(server.base_url)
