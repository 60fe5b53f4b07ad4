"""Connections of providers. Keys can be written, never read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...wire.commands import DoneElsewhere
from .base import Handler, Nothing
from .settings import Status, status

if TYPE_CHECKING:
    from ...models.offered.registry import LocalServers


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
