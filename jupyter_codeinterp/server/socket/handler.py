"""The window's WebSocket, ``/codeinterp/api/channel?ticket=…``.

It needs a one-time ticket from an XSRF-checked POST. Cookies are not enough: any page of the same
origin sends them, and users of a JupyterHub with path-based URLs share one origin. The ticket
identifies the window (``windows.py``).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from ...session.server.manager import SessionManager
from ...session.server.windows import Bearer, Windows
from .send_queue import MAX_SNAPSHOT, SendQueue

if TYPE_CHECKING:
    from .connection import ClientConnection

TRY_AGAIN = 1013
"""The registered code "try again later": the page connects again."""


def bearer_of(handler: JupyterHandler) -> Bearer:
    has_token = handler.identity_provider.is_token_authenticated(handler)
    return Bearer(handler.current_user.username, has_token)


async def may(handler: JupyterHandler, action: str, resource: str) -> bool:
    """Whether the user may do this."""
    asked = handler.authorizer.is_authorized(handler, handler.current_user, action, resource)
    return bool(await ensure_async(asked))


class ChannelHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    auth_resource = "contents"

    @property
    def manager(self) -> SessionManager:
        manager: SessionManager = self.settings["codeinterp_bench"].manager
        return manager

    @property
    def max_message_size(self) -> int:
        return MAX_SNAPSHOT

    def set_default_headers(self) -> None:
        """Omit JupyterHandler's headers, which make no sense for a WebSocket."""

    def get_compression_options(self) -> Any:
        return self.settings.get("websocket_compression_options", None)

    @ws_authenticated
    async def get(self, *args: Any, **kwargs: Any) -> None:
        if not await may(self, "read", "contents"):
            raise web.HTTPError(403)
        windows: Windows = self.manager.windows
        self.number = windows.redeem(self.get_query_argument("ticket", ""), bearer_of(self))
        if not self.number:
            raise web.HTTPError(403, "The ticket is already used, expired, or another user's.")
        await super().get(*args, **kwargs)

    def open(self, *args: Any, **kwargs: Any) -> None:
        super().open(*args, **kwargs)
        # A step sends several small frames in a row. With Nagle's algorithm each would wait up
        # to 40 ms for an acknowledgement.
        self.set_nodelay(True)
        from .connection import ClientConnection  # see ``preload``

        self.send_queue = SendQueue(self._write, self._give_up)
        self.client: ClientConnection = ClientConnection(
            self.manager,
            self.send_queue,
            partial(may, self),
            self.number,
            self.current_user.display_name or self.current_user.username,
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
        """Write a message. A just-closed socket drops it: the window reattaches and asks again."""
        with suppress(WebSocketClosedError):
            await self.write_message(message)

    def _give_up(self, reason: str) -> None:
        """Close a stuck socket. Release its notebooks first: the close takes five seconds."""
        self.log.warning("%s Closing its socket.", reason)
        self._leave()
        self.close(TRY_AGAIN, reason)
