"""Which model answers in this process, and with which key.

In a kernel of a server with the extension, the server is the model's address, and the key is a
token that is good for nothing else. Elsewhere providers have their keys from the environment.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

import msgspec

from ...adapters.providers.anthropic import provider as anthropic
from ...adapters.providers.openai import provider as openai
from ...core.errors import ModelError
from ...core.ports import Model, ModelInfo
from ...core.providers import Connection, Credentials, NamedModel, Provider, Providers, Settings
from ...core.redaction.secrets import Secrets
from ...kernel_side.model_endpoint import MODEL, TOKEN, URL
from ...server import extensions


class ProcessModels:
    def __init__(self, secrets: Secrets) -> None:
        """``secrets`` learns all keys that there are."""
        self._token = os.environ.get(TOKEN, "")
        self._url = os.environ.get(URL, "")
        self._connections: dict[str, Connection] = {}
        self._providers = Providers(anthropic.provider(), *openai.providers())
        if not self.by_server:
            extensions.add_providers(self._providers)
        for provider in self._providers:
            for secret in provider.known_secrets():
                secrets.add(secret)
        secrets.add(self._token)

    @property
    def by_server(self) -> bool:
        """Whether the Jupyter server asks the model."""
        return bool(self._token and self._url)

    @property
    def default(self) -> str:
        return os.environ.get(MODEL) or self._providers.default.default_model

    def get(self, model_id: str) -> Model:
        """Raises ModelError."""
        if self.by_server:
            return self._connection(self._providers.default)
        provider, model = self._providers.find(model_id)
        connection = self._connection(provider)
        if provider is self._providers.default and model == model_id:
            return connection
        return NamedModel(provider, connection, model)

    def _connection(self, provider: Provider) -> Connection:
        if provider.name not in self._connections:
            entered = Credentials(self._token, self._url) if self.by_server else Credentials()
            self._connections[provider.name] = provider.connect(lambda: entered, Settings())
        return self._connections[provider.name]

    async def available(self) -> Sequence[ModelInfo]:
        """Raises ModelError if none can be listed."""
        found: list[ModelInfo] = []
        failed: ModelError | None = None
        for provider in self._providers:
            if not (self.by_server or provider.ready(Credentials())):
                continue
            try:
                listed = await self._connection(provider).list_models()
            except ModelError as error:
                failed = failed or error
                continue
            for info in listed:
                found.append(_named(info, self._providers.id_of(provider, info.id)))
        if not found:
            words = "There is no key. Set ANTHROPIC_API_KEY, and restart this process."
            raise failed or ModelError("no_key", words)
        return found


def _named(info: ModelInfo, name: str) -> ModelInfo:
    return msgspec.structs.replace(info, id=name)
