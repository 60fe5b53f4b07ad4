"""Runs the protocol's sessions from the first request to the server's end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Union

from ...core.errors import CommandError
from .tokens import Tokens

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from .service import OutsideClients

NOT_INSTALLED = (
    "This server cannot speak MCP: a package is missing. Install it and restart the server: "
    "pip install 'jupyter_codeinterp[mcp]'"
)


def _load() -> Any:
    """In a thread: it takes seconds. Raises ImportError."""
    import anyio

    from .server import session_manager

    anyio.run(anyio.sleep, 0)  # This loads the rest.
    return session_manager


class Endpoint:
    def __init__(
        self,
        tokens: Tokens,
        service: Callable[[], OutsideClients],
        version: str,
        runs_at_once: bool = False,
    ) -> None:
        """``service`` is made with the first request."""
        self.tokens = tokens
        self.runs_at_once = runs_at_once
        self._service = service
        self._version = version
        self._starting = asyncio.Lock()
        self._sessions: Union[StreamableHTTPSessionManager, None] = None
        self._running: Union[asyncio.Task[None], None] = None
        self._over = asyncio.Event()

    @property
    def installed(self) -> bool:
        """Whether the package that speaks the protocol is there. Does not import it."""
        return find_spec("mcp") is not None

    async def sessions(self) -> StreamableHTTPSessionManager:
        """Raises CommandError ``not_installed``."""
        async with self._starting:
            if self._sessions is None:
                try:
                    session_manager = await asyncio.to_thread(_load)
                except ImportError:
                    raise CommandError("not_installed", NOT_INSTALLED) from None
                made = session_manager(self._service(), self._version)
                ready = asyncio.Event()
                self._running = asyncio.ensure_future(self._run(made, ready))
                await ready.wait()
                self._sessions = made
            return self._sessions

    async def _run(self, sessions: Any, ready: asyncio.Event) -> None:
        # Enter and leave in one task, as its task group needs it.
        async with sessions.run():
            ready.set()
            await self._over.wait()

    async def close(self) -> None:
        self._over.set()
        if self._running is not None:
            await self._running
