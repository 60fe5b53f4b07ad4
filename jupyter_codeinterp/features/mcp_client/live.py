"""One approved MCP server: starts on demand, also again after its end, and lists its tools."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...base.errors import ToolServerError
from ...base.sentences import Sentence, as_it_is
from .entries import ServerEntry, filled, secrets_of

if TYPE_CHECKING:
    from .client import ServerConnection
    from .tools import OutsideAnswer, RawTool

CLIENT = "jupyter_codeinterp.features.mcp_client.client"
OFF = Sentence("The person has turned this server off.")
NOT_INSTALLED = Sentence(
    "MCP servers need a package. Install it and restart the server: "
    "pip install 'jupyter_codeinterp[mcp]'"
)


class Live:
    def __init__(
        self,
        entry: ServerEntry,
        environment: Mapping[str, str],
        scrub: Callable[[str], str],
        call_timeout: float,
    ) -> None:
        self.entry = entry
        self.fault = Sentence()
        """Why it does not run, for people."""
        self.listed: list[RawTool] = []
        """Its tools as last listed."""
        self.secrets = secrets_of(entry, environment)
        """Texts that are redacted while it is on."""
        self._env = filled(entry.env, environment)
        self._headers = filled(entry.headers, environment)
        self._scrub = scrub
        self._call_timeout = call_timeout
        self._connection: ServerConnection | None = None
        self._one = asyncio.Lock()
        self._closed = False

    @property
    def running(self) -> bool:
        return self._connection is not None and self._connection.alive

    async def start_again(self) -> None:
        """Start, after a person's approval, or anew after a fault. Raises ToolServerError."""
        async with self._one:
            if self.fault:
                await self._disconnect()
        await self.look()

    async def look(self) -> list[RawTool]:
        """List its tools again. Raises ToolServerError."""
        try:
            self.listed = await self._listed()
            self.fault = Sentence()
            return self.listed
        except ToolServerError as error:
            failed = self._failed(error)
            self.fault = failed.message
            raise failed from None

    async def _listed(self) -> list[RawTool]:
        connection = await self._connected()
        try:
            return await connection.list_tools()
        except ToolServerError as error:
            if error.code != "ended":
                raise
        # Listing has no effect, so it can be repeated. A remote server's restart shows only in the
        # first request after it.
        return await (await self._connected()).list_tools()

    async def call(self, tool: str, arguments: dict[str, Any]) -> OutsideAnswer:
        """Raises ToolServerError. No call is repeated, because it may have done something."""
        try:
            connection = await self._connected()
            return await connection.call(tool, arguments, self._call_timeout)
        except ToolServerError as error:
            raise self._failed(error) from None

    def _failed(self, error: ToolServerError) -> ToolServerError:
        words = error.message.changed(self._scrub)
        if not self.running:
            self.fault = words
        return ToolServerError(error.code, as_it_is(words))

    async def _connected(self) -> ServerConnection:
        async with self._one:
            if self._connection is not None and not self._connection.alive:
                await self._disconnect()
            if self._connection is None and not self._closed:
                await self._connect()
            if self._connection is None or self._closed:
                raise ToolServerError("not_started", OFF)
            return self._connection

    async def _connect(self) -> None:
        """``close`` ends it. Raises ToolServerError."""
        try:
            # The import takes seconds.
            client = await asyncio.to_thread(importlib.import_module, CLIENT)
        except ImportError:
            raise ToolServerError("not_installed", NOT_INSTALLED) from None
        if self._closed:
            return
        made: ServerConnection = client.ServerConnection(self.entry, self._env, self._headers)
        self._connection = made
        try:
            await made.start()
        except ToolServerError:
            if self._closed:
                raise ToolServerError("not_started", OFF) from None
            raise
        finally:
            if not made.alive:
                self._connection = None

    async def _disconnect(self) -> None:
        if self._connection is not None:
            await self._connection.close()
            self._connection = None

    async def close(self) -> None:
        """Stop it for good, even while it starts."""
        self._closed = True
        if self._connection is not None:
            await self._connection.close()
