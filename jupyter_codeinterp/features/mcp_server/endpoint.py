"""Runs MCP sessions from the first request to the server's end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING

from ..._version import __version__
from ...base.errors import CommandError
from .tokens import Tokens

if TYPE_CHECKING:
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from ...app.workbench import Workbench
    from ...wire.ports import Model
    from .service import ClientService

NOT_INSTALLED = (
    "This server cannot speak MCP: a package is missing. Install it and restart the server: "
    "pip install 'jupyter_codeinterp[mcp]'"
)


def _load() -> Callable[..., StreamableHTTPSessionManager]:
    """Import the protocol, which takes seconds: call this in a thread. Raises ImportError."""
    import anyio

    from .protocol import session_manager

    anyio.run(anyio.sleep, 0)  # This loads the rest.
    return session_manager


class Endpoint:
    def __init__(
        self,
        tokens: Tokens,
        service: Callable[[], ClientService],
        version: str,
        runs_at_once: bool = False,
    ) -> None:
        self.tokens = tokens
        self.runs_at_once = runs_at_once
        self._make_service = service
        self._version = version
        self._starting = asyncio.Lock()
        self._make: Callable[..., StreamableHTTPSessionManager] | None = None
        self._open: dict[str, _Sessions] = {}
        """By token id, so that no token uses up the sessions of another."""

    @classmethod
    def of(cls, bench: Workbench) -> Endpoint:
        def service() -> ClientService:
            from .service import ClientService  # not at the server's start

            return ClientService(tokens, bench)

        tokens = Tokens(bench.settings.folder)
        return cls(tokens, service, __version__, bench.settings.mcp_runs_at_once)

    @cached_property
    def _service(self) -> ClientService:
        return self._make_service()

    def model(self, name: str) -> Model:
        """The client of this name. Raises ModelError ``unknown_model``."""
        return self._service.model(name)

    @property
    def installed(self) -> bool:
        """Whether the package that speaks the protocol is there. Does not import it."""
        return find_spec("mcp") is not None

    async def sessions(self, token_id: str) -> StreamableHTTPSessionManager:
        """The session manager of a token. Raises CommandError ``not_installed``."""
        async with self._starting:
            if self._make is None:
                try:
                    self._make = await asyncio.to_thread(_load)
                except ImportError:
                    raise CommandError("not_installed", NOT_INSTALLED) from None
            for revoked in self._open.keys() - {token.id for token in self.tokens.all()}:
                await self._open.pop(revoked).close()
            if token_id not in self._open:
                self._open[token_id] = _Sessions(self._make(self._service, self._version))
            return await self._open[token_id].begun()

    async def close(self) -> None:
        for one in self._open.values():
            await one.close()


class _Sessions:
    """Runs the sessions of one token in a task: its task group must be entered and left in one."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager
        self._ready = asyncio.Event()
        self._over = asyncio.Event()
        self._running = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        async with self._manager.run():
            self._ready.set()
            await self._over.wait()

    async def begun(self) -> StreamableHTTPSessionManager:
        await self._ready.wait()
        return self._manager

    async def close(self) -> None:
        self._over.set()
        await self._running
