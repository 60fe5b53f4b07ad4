"""``/codeinterp/api/model/``: models for ``%%ai`` in this server's kernels.

The handlers hand requests to the server's own models, and back the events of their answers.

A kernel's token in a header allows model calls and nothing else. Cookies, the server's token and
URL parameters do not count, so no web page can be tricked into a call.
"""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from typing import Any

import msgspec
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from tornado.iostream import StreamClosedError

from ...base.errors import ModelError
from ...base.sentences import in_english
from ...models.jupyter_server import Failure, ModelList, line_of
from ...models.offered import Models
from ...wire.ports import Model, ModelRequest
from .tokens import KernelTokens

STATUS = {"no_token": 401, "internal": 500}
"""HTTP status by a ModelError's code; others are 400."""
FAILED = "The model call failed in the Jupyter server. Its log has the reason."
NO_TOKEN = "The token does not belong to a running kernel of this server."


class KernelModelHandler(JupyterHandler):
    """Uses the settings ``codeinterp_kernel_tokens`` and ``codeinterp_models``."""

    def check_xsrf_cookie(self) -> None:
        """Skip the check, because cookies do not count here."""

    def _check_token(self) -> None:
        """Raises ModelError ``no_token``."""
        tokens: KernelTokens = self.settings["codeinterp_kernel_tokens"]
        token = self.request.headers.get("Authorization", "").removeprefix("Bearer ")
        if not tokens.knows(token):
            raise ModelError("no_token", NO_TOKEN)

    async def _model(self, model_id: str) -> Model:
        """Raises ModelError ``not_allowed`` for models that the admin does not allow, and
        ``unknown_model`` for recordings, whose code always needs a review."""
        model: Model = await self.settings["codeinterp_models"].get(model_id)
        if model.always_ask:
            raise ModelError("unknown_model", "This model works only in the panel.")
        return model

    def _refuse(self, error: ModelError) -> None:
        self.set_status(STATUS.get(error.code, 400))
        self._answer(Failure.of(error))

    def _answer(self, body: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(msgspec.json.encode(body, enc_hook=in_english))


class AskHandler(KernelModelHandler):
    _asking: asyncio.Task[None] | None = None

    def on_connection_close(self) -> None:
        """Cancel the call of a disconnected kernel, to save its cost."""
        if self._asking is not None:
            self._asking.cancel()

    @allow_unauthenticated
    async def post(self) -> None:
        try:
            self._check_token()
            request = _read(self.request.body)
            model = await self._model(request.model)
        except ModelError as error:
            self._refuse(error)
            return
        self._asking = asyncio.ensure_future(self._ask(model, request))
        await asyncio.wait({self._asking})

    async def _ask(self, model: Model, request: ModelRequest) -> None:
        begun = False
        try:
            stream: Any = model.stream(request)
            async with aclosing(stream) as events:
                async for event in events:
                    if not begun:
                        self.set_header("Content-Type", "application/x-ndjson")
                        self.set_header("Cache-Control", "no-cache")
                    begun = True
                    self.write(line_of(event))
                    await self.flush()
            self.finish()
        except StreamClosedError:
            pass  # The kernel disconnected.
        except Exception as reason:
            error = reason if isinstance(reason, ModelError) else ModelError("internal", FAILED)
            if error is not reason:
                self.log.exception("The model call of a kernel failed")
            if begun:
                self.finish(line_of(Failure.of(error)))
            else:
                self._refuse(error)


class KernelModelsHandler(KernelModelHandler):
    @allow_unauthenticated
    async def get(self) -> None:
        try:
            self._check_token()
            models: Models = self.settings["codeinterp_models"]
            infos, failed = await models.available()
            if failed is not None and not infos:
                raise failed
        except ModelError as error:
            self._refuse(error)
            return
        kept = [info for info in infos if not (await models.get(info.id)).always_ask]
        self._answer(ModelList(tuple(kept)))


class OneKernelModelHandler(KernelModelHandler):
    @allow_unauthenticated
    async def get(self, model_id: str) -> None:
        try:
            self._check_token()
            model = await self._model(model_id)
            info = await model.info(model_id)
        except ModelError as error:
            self._refuse(error)
            return
        self._answer(info)


KERNEL_ROUTES: tuple[tuple[str, type[KernelModelHandler]], ...] = (
    (r"model/ask", AskHandler),
    (r"model/models", KernelModelsHandler),
    (r"model/models/(.{1,500})", OneKernelModelHandler),
)
"""Routes under ``/codeinterp/api/`` that need a kernel's token instead of a login."""


def _read(data: bytes) -> ModelRequest:
    """Raises ModelError ``bad_request``."""
    try:
        request = msgspec.json.decode(data, type=ModelRequest)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise ModelError("bad_request", "Not a request to a model: {error}", error=error) from None
    if not request.messages:
        raise ModelError("bad_request", "messages: at least one message is required")
    return request
