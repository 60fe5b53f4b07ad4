"""REST for MCP servers of the agent."""

from __future__ import annotations

from typing import Any

import msgspec

from ...extensions import Route
from ...server.rest.base import Handler
from ...wire.commands import BOTH, LOOK


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the server may start."""

    approved: bool


async def tool_servers(handler: Handler) -> dict[str, Any]:
    """The servers of the person's file. Starts nothing."""
    found, faults = await handler.settings["codeinterp_tool_servers"].shown()
    return {"servers": found, "faults": faults}


async def change_tool_server(handler: Handler, digest: str) -> dict[str, Any]:
    """Carry out a person's wish for the server with exactly this entry."""
    servers = handler.settings["codeinterp_tool_servers"]
    wish = handler.given(Wish)
    await (servers.approve if wish.approved else servers.withdraw)(digest)
    return await tool_servers(handler)


SERVER = r"([0-9a-f]{64})"
ROUTES = (
    Route("GET", r"tool-servers", (LOOK,), tool_servers),
    Route("PATCH", rf"tool-servers/{SERVER}", BOTH, change_tool_server),
)
