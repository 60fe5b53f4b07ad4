"""``/codeinterp/api/model/``: models for ``%%ai`` in this server's kernels.

The handlers hand requests to the server's own models, and back the events of their answers.

A kernel's token in a header allows model calls and nothing else. Cookies, the server's token and
URL parameters do not count, so no web page can be tricked into a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any

import msgspec
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from tornado.iostream import StreamClosedError

from ...base.errors import ModelError
from ...base.sentences import Sentence, in_english
from ...models.jupyter_server import EventWriter, Failure, ModelList
from ...models.offered.limits import metered
from ...wire.ports import Model, ModelEvent, ModelInfo, ModelRequest
from .tokens import Grant, KernelTokens

MAX_REQUEST = 32_000_000
"""Bytes, as in the Messages API."""
STATUS = {
    "bad_request": 400,
    "context_full": 413,
    "unknown_model": 404,
    "rate_limit": 429,
    "spend_limit": 402,
    "day_limit": 402,
    "overloaded": 529,
    "no_token": 401,
    "no_key": 403,
    "wrong_key": 403,
    "forbidden": 403,
    "not_allowed": 403,
}
"""HTTP status by a ModelError's code; others are 500."""
FAILED = "The model call failed in the Jupyter server. Its log has the reason."
NO_TOKEN = "The token does not belong to a running kernel of this server."


class KernelModelHandler(JupyterHandler):
    """Uses the settings ``codeinterp_kernel_tokens``, ``codeinterp_models`` and
    ``codeinterp_kernel_models`` (ids of the allowed models, None for all)."""

    def check_xsrf_cookie(self) -> None:
        """Skip the check, because cookies do not count here."""

    @property
    def _tokens(self) -> KernelTokens:
        tokens: KernelTokens = self.settings["codeinterp_kernel_tokens"]
        return tokens

    @property
    def _models(self) -> Any:
        return self.settings["codeinterp_models"]

    def _grant(self) -> Grant:
        """Raises ModelError ``no_token``."""
        given = self.request.headers.get("Authorization", "")
        kind, _, token = given.partition(" ")
        if kind.lower() != "bearer":
            token = self.request.headers.get("X-Api-Key", "")
        grant = self._tokens.find(token.strip())
        if grant is None:
            raise ModelError("no_token", NO_TOKEN)
        return grant

    def _allowed(self, model_id: str) -> bool:
        allowed = self.settings["codeinterp_kernel_models"]
        return allowed is None or model_id in allowed

    def _model(self, model_id: str) -> Model:
        """Raises ModelError ``unknown_model`` for models that the admin does not allow, and for
        recordings, whose code always needs a review."""
        if not self._allowed(model_id):
            words = ", ".join(self.settings["codeinterp_kernel_models"])
            raise ModelError(
                "unknown_model", "Kernels of this server may use: {words}.", words=words
            )
        model: Model = self._models.get(model_id)
        if model.always_ask:
            raise ModelError("unknown_model", "This model works only in the panel.")
        return model

    def _refuse(self, error: ModelError) -> None:
        self.set_status(STATUS.get(error.code, 500))
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
            grant = self._grant()
            if len(self.request.body) > MAX_REQUEST:
                raise ModelError("context_full", "The request is larger than 32 MB.")
            request = _read(self.request.body)
            model = self._model(request.model)
            info = await model.info(request.model)
            self._tokens.check(grant, info)
        except ModelError as error:
            self._refuse(error)
            return
        grant.calls += 1
        self._asking = asyncio.ensure_future(self._ask(grant, model, info, request))
        try:
            await asyncio.wait({self._asking})
        finally:
            grant.calls -= 1

    async def _ask(
        self, grant: Grant, model: Model, info: ModelInfo, request: ModelRequest
    ) -> None:
        writer = EventWriter()
        begun = False
        charge = partial(self._tokens.count, grant)
        try:
            async with aclosing(metered(_events(model, request), request, info, charge)) as events:
                async for event in events:
                    if not begun:
                        self.set_header("Content-Type", "application/x-ndjson")
                        self.set_header("Cache-Control", "no-cache")
                    begun = True
                    self.write(writer.line(event))
                    await self.flush()
            self.finish()
        except StreamClosedError:
            pass  # The kernel disconnected.
        except Exception as reason:
            error = reason if isinstance(reason, ModelError) else ModelError("internal", FAILED)
            if error is not reason:
                self.log.exception("The model call of a kernel failed")
            if begun:
                self.finish(writer.line(error))
            else:
                self._refuse(error)


class KernelModelsHandler(KernelModelHandler):
    @allow_unauthenticated
    async def get(self) -> None:
        try:
            self._grant()
            infos, failed = await self._models.available()
            if failed is not None and not infos:
                raise failed
        except ModelError as error:
            self._refuse(error)
            return
        kept = [info for info in infos if self._listed(info)]
        self._answer(ModelList(tuple(kept)))

    def _listed(self, info: ModelInfo) -> bool:
        try:
            self._model(info.id)
        except ModelError:
            return False
        return True


class OneKernelModelHandler(KernelModelHandler):
    @allow_unauthenticated
    async def get(self, model_id: str) -> None:
        try:
            self._grant()
            info = await self._model(model_id).info(model_id)
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


async def _events(model: Model, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """Yield events, and turn errors of a malformed request into ModelError."""
    stream: Any = model.stream(request)
    try:
        async for event in stream:
            yield event
    except ModelError:
        raise
    except (msgspec.MsgspecError, ValueError) as error:
        words = Sentence("The model does not accept this request: {error}", error=error)
        raise ModelError("bad_request", words) from None
    finally:
        await stream.aclose()
