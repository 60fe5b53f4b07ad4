"""``/codeinterp/api/model/v1/``: the Messages API for code in this server's kernels.

Who has a kernel's token in a header may call models, and do nothing else. No cookie, no token
of the server's and no parameter of the address counts here, so no page can be made to ask.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.handlers import JupyterHandler
from tornado.iostream import StreamClosedError

from ...core.errors import ModelError
from ...core.messages import Usage
from ...core.ports import (
    Model,
    ModelDone,
    ModelEvent,
    ModelInfo,
    ModelRead,
    ModelRequest,
    ModelRetry,
)
from ...core.turn.meter import Unpaid
from .messages import Answer, error_body, error_frame, model_entry, model_list, read
from .tokens import Grant, KernelTokens

MOST = 32_000_000
"""Bytes of a request; the Messages API takes no more."""
NO_TOKEN = "The token is not one of a running kernel of this server."


class KernelModelHandler(JupyterHandler):
    """Settings: ``codeinterp_kernel_tokens``, ``codeinterp_models``, and
    ``codeinterp_kernel_models``: ids of the models that may be asked, None for all."""

    def check_xsrf_cookie(self) -> None:
        """Nothing here counts cookies."""

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
        """Raises ModelError ``unknown_model`` for one that kernels may not ask: a recording,
        whose code must be reviewed in any case, and what an admin has left out."""
        if not self._allowed(model_id):
            words = ", ".join(self.settings["codeinterp_kernel_models"])
            raise ModelError("unknown_model", f"Kernels of this server may use: {words}.")
        model: Model = self._models.get(model_id)
        if model.always_ask:
            raise ModelError("unknown_model", "This model answers in the panel only.")
        return model

    def _refuse(self, error: ModelError) -> None:
        status, body = error_body(error)
        self.set_status(status)
        if error.retry_after is not None:
            self.set_header("Retry-After", str(error.retry_after))
        self._answer(body)

    def _answer(self, body: dict[str, Any]) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(body))


class KernelMessagesHandler(KernelModelHandler):
    _asking: asyncio.Task[None] | None = None

    def on_connection_close(self) -> None:
        """The kernel has hung up: nobody pays for the rest."""
        if self._asking is not None:
            self._asking.cancel()

    @allow_unauthenticated
    async def post(self) -> None:
        try:
            grant = self._grant()
            if len(self.request.body) > MOST:
                raise ModelError("context_full", "The request is larger than 32 MB.")
            request, streamed = read(self.request.body)
            model = self._model(request.model)
            info = await model.info(request.model)
            self._tokens.check(grant, info)
        except ModelError as error:
            self._refuse(error)
            return
        grant.calls += 1
        work = self._ask(grant, model, info, request, streamed)
        self._asking = asyncio.ensure_future(work)
        try:
            await asyncio.wait({self._asking})
        finally:
            grant.calls -= 1

    async def _ask(
        self, grant: Grant, model: Model, info: ModelInfo, request: ModelRequest, streamed: bool
    ) -> None:
        answer = Answer(request.model)
        begun = False
        unpaid: Unpaid | None = None
        try:
            async with aclosing(_events(model, request)) as events:
                async for event in events:
                    if isinstance(event, ModelRetry):
                        self._count(grant, info, unpaid)
                        unpaid = None
                        continue
                    unpaid = unpaid or Unpaid(request)
                    unpaid.hear(event)
                    if isinstance(event, ModelRead):
                        continue
                    if isinstance(event, ModelDone):
                        self._count(grant, info, unpaid, event.usage)
                        unpaid = None
                        if not streamed:
                            self._answer(answer.whole(event))
                            return
                    if streamed and not begun:
                        self.set_header("Content-Type", "text/event-stream")
                        self.set_header("Cache-Control", "no-cache")
                        self.write(answer.begin())
                    begun = True
                    frames = answer.end(event) if isinstance(event, ModelDone) else None
                    for frame in frames or answer.feed(event):
                        if streamed:
                            self.write(frame)
                    if streamed:
                        await self.flush()
            self.finish()
        except ModelError as error:
            if begun and streamed:
                self.write(error_frame(error))
                self.finish()
            else:
                self._refuse(error)
        except StreamClosedError:
            pass  # The kernel has hung up.
        finally:
            # What has come is paid for, whether or not somebody waited for its end.
            self._count(grant, info, unpaid)

    def _count(
        self, grant: Grant, info: ModelInfo, unpaid: Unpaid | None, usage: Usage | None = None
    ) -> None:
        if unpaid is not None:
            self._tokens.count(grant, info, unpaid.settled(usage))


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
        self._answer(model_list(kept))

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
        self._answer(model_entry(info))


KERNEL_ROUTES: tuple[tuple[str, type[KernelModelHandler]], ...] = (
    (r"model/v1/messages", KernelMessagesHandler),
    (r"model/v1/models", KernelModelsHandler),
    (r"model/v1/models/(.{1,500})", OneKernelModelHandler),
)
"""Under ``/codeinterp/api/``. Not among those that a login opens."""


async def _events(model: Model, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
    """With the words of a failure that has none."""
    stream: Any = model.stream(request)
    try:
        async for event in stream:
            yield event
    except ModelError:
        raise
    except (msgspec.MsgspecError, ValueError) as error:
        raise ModelError("bad_request", f"The model cannot be asked this: {error}") from None
    finally:
        await stream.aclose()
