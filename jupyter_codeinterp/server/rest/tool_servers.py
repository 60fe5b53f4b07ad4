"""MCP servers whose tools the agent may call: which there are, and a person's word on each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Union

import msgspec
from jupyter_server.auth.decorator import authorized
from tornado import web

from ..files.paths import normalize
from .base import Handler

if TYPE_CHECKING:
    from ..tool_servers.servers import ToolServers


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``approve`` starts it, also again; ``off`` ends it; ``pick`` names the ``tools`` that new
    conversations get (None: as many as fit)."""

    notebook: str
    action: Literal["approve", "off", "pick"]
    tools: Union[tuple[str, ...], None] = None


class _ToolServers(Handler):
    @property
    def servers(self) -> ToolServers:
        servers: ToolServers = self.settings["codeinterp_tool_servers"]
        return servers

    async def answer_list(self, notebook: str) -> None:
        found, faults = await self.servers.shown(notebook)
        self.answer({"servers": found, "faults": faults})


class ToolServersHandler(_ToolServers):
    @web.authenticated
    @authorized("read")
    async def get(self) -> None:
        """The servers of a notebook. Starts nothing."""
        await self.answer_list(normalize(self.get_query_argument("notebook", "")))


class ToolServerHandler(_ToolServers):
    @web.authenticated
    @authorized("execute", "kernels")
    @authorized("write")
    async def patch(self, digest: str) -> None:
        """Carry out a person's wish for the server with exactly this entry."""
        wish = self.given(Wish)
        notebook = normalize(wish.notebook)
        if wish.action == "approve":
            await self.servers.approve(notebook, digest)
        elif wish.action == "off":
            await self.servers.turn_off(notebook, digest)
        else:
            await self.servers.pick(notebook, digest, wish.tools)
        await self.answer_list(notebook)
