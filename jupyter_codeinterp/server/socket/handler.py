"""The window's WebSocket, ``/codeinterp/api/channel?ticket=…``: bytes in, bytes out.

It opens with a one-time ticket from an XSRF-checked POST, because a WebSocket carries
cookies from any page of the same origin, and on a JupyterHub with paths for users the
pages of different users share one. The ticket says which window it is (``windows.py``).
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ..session_manager import SessionManager
from ..windows import CLOSED, Bearer, Windows
from .connection import MAX_SNAPSHOT, ClientConnection
from .send_queue import SendQueue

TRY_AGAIN = 1013
"""Registered as "try again later": the browser opens another socket."""
FOR_GOOD = 4001
"""Of our own: the page does not connect again."""


def bearer_of(handler: JupyterHandler) -> Bearer:
    has_token = handler.identity_provider.is_token_authenticated(handler)
    return Bearer(handler.current_user.username, has_token)


class ChannelHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    auth_resource = "contents"

    @property
    def manager(self) -> SessionManager:
        manager: SessionManager = self.settings["codeinterp_manager"]
        return manager

    @property
    def max_message_size(self) -> int:
        return MAX_SNAPSHOT

    def set_default_headers(self) -> None:
        """JupyterHandler's default headers make no sense for a WebSocket."""

    def get_compression_options(self) -> Any:
        return self.settings.get("websocket_compression_options", None)

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        if not await self._allowed("read", "contents"):
            raise web.HTTPError(403)
        windows: Windows = self.manager.known
        self.number = windows.redeem(self.get_query_argument("ticket", ""), bearer_of(self))
        if not self.number:
            raise web.HTTPError(403, "The ticket is used, too old, or somebody else's.")
        await super().get(*args, **kwargs)

    async def _allowed(self, action: str, resource: str) -> bool:
        return bool(
            await ensure_async(
                self.authorizer.is_authorized(self, self.current_user, action, resource)
            )
        )

    def open(self, *args: Any, **kwargs: Any) -> None:
        super().open(*args, **kwargs)
        # A step sends several small frames in a row; held back for the acknowledgement of
        # the one before, each would take 40 ms.
        self.set_nodelay(True)
        self.send_queue = SendQueue(self._write, self._give_up)
        self.client = ClientConnection(
            self.manager, self.send_queue, self._allowed, self.number, self._close_for_good
        )
        self.manager.join(self.client)

    async def on_message(self, message: str | bytes) -> None:
        await self.client.receive(message)

    def on_close(self) -> None:
        super().on_close()
        if hasattr(self, "client"):
            self._leave()

    def _leave(self) -> None:
        self.send_queue.close()
        self.manager.leave(self.client)

    async def _write(self, message: bytes) -> None:
        """One for a socket that has just closed goes nowhere: the window attaches again and
        asks for what it missed."""
        with suppress(WebSocketClosedError):
            await self.write_message(message)

    def _close_for_good(self) -> None:
        """Another window has closed this one."""
        self._leave()
        self.close(FOR_GOOD, CLOSED)

    def _give_up(self, reason: str) -> None:
        """Others can have the notebooks at once: a socket whose window does not answer
        takes five seconds to close."""
        self.log.warning("%s Its socket is closed.", reason)
        self._leave()
        self.close(TRY_AGAIN, reason)
