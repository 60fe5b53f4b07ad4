"""REST for MCP servers of the agent."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from ...base.paths import normalize
from ...extensions import Route
from ...server.rest.base import Handler
from ...wire.commands import BOTH, LOOK
from .servers import ToolServers


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``approve`` starts or restarts the server; ``off`` stops it; ``pick`` sets the ``tools`` that
    new conversations get (None: as many as fit)."""

    notebook: str
    action: Literal["approve", "off", "pick"]
    tools: tuple[str, ...] | None = None


async def tool_servers(handler: Handler) -> dict[str, Any]:
    """The servers of a notebook. Starts nothing."""
    return await _shown(handler, normalize(handler.get_query_argument("notebook", "")))


async def _shown(handler: Handler, notebook: str) -> dict[str, Any]:
    servers: ToolServers = handler.settings["codeinterp_tool_servers"]
    found, faults = await servers.shown(notebook)
    return {"servers": found, "faults": faults}


async def change_tool_server(handler: Handler, digest: str) -> dict[str, Any]:
    """Carry out a person's wish for the server with exactly this entry."""
    wish = handler.given(Wish)
    servers: ToolServers = handler.settings["codeinterp_tool_servers"]
    notebook = normalize(wish.notebook)
    if wish.action == "approve":
        await servers.approve(notebook, digest)
    elif wish.action == "off":
        await servers.turn_off(notebook, digest)
    else:
        await servers.pick(notebook, digest, wish.tools)
    return await _shown(handler, notebook)


SERVER = r"([0-9a-f]{64})"
ROUTES = (
    Route("GET", r"tool-servers", (LOOK,), tool_servers),
    Route("PATCH", rf"tool-servers/{SERVER}", BOTH, change_tool_server),
)
