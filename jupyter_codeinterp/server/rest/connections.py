"""Connections of providers, and the MCP servers of the agent. Keys can be written, never read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Union

import msgspec

from ...core.wire.commands import DoneElsewhere
from ..files.paths import normalize
from .base import Handler, Nothing
from .settings import Status, status

if TYPE_CHECKING:
    from ..models.registry import LocalServers
    from ..tool_servers.servers import ToolServers


async def connections(handler: Handler) -> dict[str, Any]:
    return {"connections": handler.models.connections()}


async def connect(handler: Handler, provider: str = "") -> Any:
    """Test and save a key, an address or both. Without ``provider``: the default one's."""
    given = handler.body()
    key, base_url, model = (handler.text(given, n) for n in ("key", "base_url", "model"))
    await handler.models.connect(provider or handler.models.default_provider, key, base_url, model)
    return _changed(handler, provider)


async def disconnect(handler: Handler, provider: str = "") -> Any:
    handler.models.forget(provider or handler.models.default_provider)
    return _changed(handler, provider)


def _changed(handler: Handler, provider: str) -> dict[str, Any] | Status:
    handler.manager.tell_others(DoneElsewhere(handler.by, "key"))
    if not provider:
        return status(handler)
    return {"connection": handler.models.described(provider), "status": status(handler)}


async def try_connection(handler: Handler, provider: str) -> dict[str, Any]:
    """Test the saved connection."""
    handler.given(Nothing)
    return {"connection": await handler.models.test(provider)}


async def local_servers(handler: Handler) -> LocalServers:
    return await handler.models.local_servers()


# --- MCP servers ---------------------------------------------------------------------


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``approve`` starts or restarts the server; ``off`` stops it; ``pick`` sets the ``tools`` that
    new conversations get (None: as many as fit)."""

    notebook: str
    action: Literal["approve", "off", "pick"]
    tools: Union[tuple[str, ...], None] = None


def _servers(handler: Handler) -> ToolServers:
    servers: ToolServers = handler.settings["codeinterp_tool_servers"]
    return servers


async def tool_servers(handler: Handler) -> dict[str, Any]:
    """The servers of a notebook. Starts nothing."""
    return await _shown(handler, normalize(handler.get_query_argument("notebook", "")))


async def _shown(handler: Handler, notebook: str) -> dict[str, Any]:
    found, faults = await _servers(handler).shown(notebook)
    return {"servers": found, "faults": faults}


async def change_tool_server(handler: Handler, digest: str) -> dict[str, Any]:
    """Carry out a person's wish for the server with exactly this entry."""
    wish, servers = handler.given(Wish), _servers(handler)
    notebook = normalize(wish.notebook)
    if wish.action == "approve":
        await servers.approve(notebook, digest)
    elif wish.action == "off":
        await servers.turn_off(notebook, digest)
    else:
        await servers.pick(notebook, digest, wish.tools)
    return await _shown(handler, notebook)
