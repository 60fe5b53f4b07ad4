"""Which model answers in this process, and with which key.

In a kernel of a server with the extension, the server is the model's address, and the key is a
token that is good for nothing else. Elsewhere it is as on the command line: the settings that a
server started here would have, and keys from the environment, the keyring or the file.
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

if TYPE_CHECKING:
    from ...server.models import Models


class ProcessModels:
    def __init__(self, secrets: Secrets) -> None:
        """``secrets`` learns all keys that there are."""
        token, url = os.environ.get(TOKEN, ""), os.environ.get(URL, "")
        self._server: Connection | None = None
        self._own: Models | None = None
        self._bad = ""
        """What is wrong with the settings. A limit may stand there: then no model answers."""
        secrets.add(token)
        if token and url:
            entered = Credentials(token, url)
            self._server = anthropic.provider().connect(lambda: entered, Settings())
        else:
            self._read_settings(secrets)

    def _read_settings(self, secrets: Secrets) -> None:
        # Not in a kernel that needs none of it.
        from ...server.workbench import config
        from ...server.workbench.models import make_models

        try:
            self._own = make_models(config.settings(config.load()), secrets)
        except config.BadConfig as bad:
            self._bad = str(bad)
        else:
            self._own.learn_secrets()

    @property
    def default(self) -> str:
        own = self._own.default if self._own else anthropic.DEFAULT_MODEL
        return os.environ.get(MODEL) or own

    def get(self, model_id: str) -> Model:
        """Raises ModelError."""
        return self._server or self._models().get(model_id)

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
                "There is no key. Enter one with “jupyter codeinterp key set”, or set "
                "ANTHROPIC_API_KEY, and restart this process."
            )
            raise failed or ModelError("no_key", words)
        return found
