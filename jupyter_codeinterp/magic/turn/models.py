"""The models and keys of this process.

In a kernel of a server with the extension, requests go through the server, with a token that is
valid only for that. Elsewhere it uses settings and keys like the command line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...adapters.providers.anthropic import provider as anthropic
from ...core.errors import ModelError
from ...core.ports import Model, ModelInfo
from ...core.providers import Connection, Credentials, Settings
from ...core.redaction.secrets import Secrets
from ...kernel_side.model_endpoint import MODEL, TOKEN, URL
from ...server.extensions import Extensions

if TYPE_CHECKING:
    from ...server.models import Models


class ProcessModels:
    def __init__(self, secrets: Secrets) -> None:
        """``secrets`` learns all keys."""
        token, url = os.environ.get(TOKEN, ""), os.environ.get(URL, "")
        self._server: Connection | None = None
        self._own: Models | None = None
        self._bad = ""
        """A problem with the settings. It disables all models, because they may set a limit."""
        self.extensions = Extensions()
        self.kept: Model | None = None
        """Answers in place of the model, in this turn."""
        secrets.add(token)
        if token and url:
            entered = Credentials(token, url)
            self._server = anthropic.provider().connect(lambda: entered, Settings())
        else:
            self._read_settings(secrets)

    def _read_settings(self, secrets: Secrets) -> None:
        # Imported late: a server's kernel does not need it.
        from ...server.workbench import config
        from ...server.workbench.models import make_models

        try:
            settings = config.settings(config.load())
            self._own = make_models(settings, secrets)
            self.extensions = Extensions(settings.allowed_packages)
        except config.BadConfig as bad:
            self._bad = bad.message
        else:
            self._own.learn_secrets()

    @property
    def default(self) -> str:
        own = self._own.default if self._own else anthropic.DEFAULT_MODEL
        return os.environ.get(MODEL) or own

    def get(self, model_id: str) -> Model:
        """Raises ModelError."""
        return self.kept or self._server or self._models().get(model_id)

    def _models(self) -> Models:
        """Raises ModelError ``bad_request``."""
        if self._own is None:
            raise ModelError("bad_request", self._bad)
        return self._own

    async def available(self) -> Sequence[ModelInfo]:
        """Raises ModelError if none can be listed."""
        if self._server is not None:
            return await self._server.list_models()
        models = self._models()
        listed, failed = await models.available()
        found = [info for info in listed if info.id != models.demo]
        if not found:
            words = (
                "No API key. Enter one with “jupyter codeinterp key set” or set "
                "ANTHROPIC_API_KEY, then restart this process."
            )
            raise failed or ModelError("no_key", words)
        return found
