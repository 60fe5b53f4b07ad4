"""The window's WebSocket, ``/codeinterp/api/channel?ticket=…``: bytes in, bytes out.

It opens with a one-time ticket from an XSRF-checked POST, because a WebSocket carries
cookies from any page of the same origin, and on a JupyterHub with paths for users the
pages of different users share one.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.auth.decorator import ws_authenticated
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.base.websocket import WebSocketMixin
from tornado import web
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from .hub import Hub
from .window import MAX_SNAPSHOT, WindowDesk

TICKET_LIFE = 30.0
"""Seconds in which a ticket must be used."""
MAX_TICKETS = 100


class Tickets:
    """One-time tickets, each for one user name."""

    def __init__(self) -> None:
        self._issued: dict[str, tuple[str, float]] = {}

    def issue(self, username: str) -> str:
        now = time.monotonic()
        alive = [(k, v) for k, v in self._issued.items() if now - v[1] < TICKET_LIFE]
        self._issued = dict(alive[-MAX_TICKETS:])
        ticket = secrets.token_urlsafe(24)
        self._issued[ticket] = (username, now)
        return ticket

    def redeem(self, ticket: str, username: str) -> bool:
        holder, issued = self._issued.pop(ticket, ("", 0.0))
        fresh = time.monotonic() - issued < TICKET_LIFE
        return fresh and secrets.compare_digest(holder.encode(), username.encode())


class ChannelHandler(WebSocketMixin, WebSocketHandler, JupyterHandler):
    auth_resource = "contents"

    @property
    def hub(self) -> Hub:
        hub: Hub = self.settings["codeinterp_hub"]
        return hub

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
        tickets: Tickets = self.settings["codeinterp_tickets"]
        if not tickets.redeem(self.get_query_argument("ticket", ""), self.current_user.username):
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
        self.desk = WindowDesk(self.hub, self._write, self._allowed)
        self.hub.join(self.desk)

    async def on_message(self, message: str | bytes) -> None:
        await self.desk.receive(message)

    def on_close(self) -> None:
        super().on_close()
        if hasattr(self, "desk"):
            self.hub.leave(self.desk)

    def _write(self, data: bytes) -> None:
        """Queue a frame. One for a socket that has just closed goes nowhere: the window
        attaches again and asks for what it missed."""
        try:
            future = asyncio.ensure_future(self.write_message(data.decode()))
        except WebSocketClosedError:
            return
        future.add_done_callback(_closed_meanwhile)


def _closed_meanwhile(future: asyncio.Future[None]) -> None:
    if not future.cancelled() and not isinstance(
        future.exception(), (WebSocketClosedError, type(None))
    ):
        raise future.exception()  # type: ignore[misc]
