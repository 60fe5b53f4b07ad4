"""Routes under ``/codeinterp/api/`` (docs/openapi.json)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jupyter_server.utils import url_path_join

from ...extensions import Route
from ...wire.commands import CHANGE, EXECUTE, LOOK
from ..socket.handler import ChannelHandler
from . import notebooks, sessions, settings
from .base import Handler

if TYPE_CHECKING:
    from ...extensions import Routes


ID = r"([0-9a-f]{32})"
NUMBER = r"([0-9]{1,15})"
PROVIDER = r"([a-z][a-z0-9_-]{0,31})"

ROUTES = (
    Route("GET", r"status", (LOOK,), settings.status),
    Route("GET", r"models", (LOOK,), settings.models),
    Route("POST", r"demo", (CHANGE,), settings.copy_demo),
    Route("GET", r"connections", (LOOK,), settings.connections),
    Route("POST", rf"connections/{PROVIDER}", (EXECUTE,), settings.connect),
    Route("DELETE", rf"connections/{PROVIDER}", (EXECUTE,), settings.disconnect),
    Route("POST", rf"connections/{PROVIDER}/test", (EXECUTE,), settings.try_connection),
    Route("GET", r"local", (EXECUTE,), settings.local_servers),
    Route("GET", r"names", (EXECUTE, LOOK), notebooks.names),
    Route("GET", r"skills", (LOOK,), notebooks.skills),
    Route("GET", r"verifications", (LOOK,), notebooks.verification),
    Route("POST", r"verifications", (EXECUTE, LOOK), notebooks.verify),
    Route("DELETE", r"verifications", (EXECUTE,), notebooks.cancel_verification),
    Route("POST", r"tickets", (LOOK,), settings.issue_ticket, needs_window=False),
    Route("POST", r"clients", (LOOK,), settings.admit_client, needs_window=False),
    Route("GET", r"sessions", (LOOK,), sessions.listed),
    Route("PATCH", rf"sessions/{ID}", (CHANGE,), sessions.rename),
    Route("DELETE", rf"sessions/{ID}", (CHANGE,), sessions.delete),
    Route("GET", rf"sessions/{ID}/events", (LOOK,), sessions.events),
    Route("GET", rf"sessions/{ID}/export", (LOOK,), sessions.export),
    Route("GET", rf"sessions/{ID}/sent/{NUMBER}", (LOOK,), sessions.sent),
    Route("GET", rf"sessions/{ID}/files", (LOOK,), sessions.waiting_files),
    Route("GET", rf"sessions/{ID}/files/text", (LOOK,), sessions.waiting_text),
    Route("GET", rf"sessions/{ID}/turns/{NUMBER}/changes", (LOOK,), sessions.changes),
    Route("POST", r"command", (LOOK,), sessions.command),
)
CHANNEL = r"channel"


def handlers(base_url: str, more: Routes = ()) -> list[tuple[Any, ...]]:
    """For tornado. One handler has all methods of a path. ``more``: the routes of features."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in (*ROUTES, *more):
        if isinstance(route, Route):
            by_path.setdefault(route.path, {})[route.method] = route
    served: list[tuple[Any, ...]] = [
        *((path, Handler, {"routes": routes}) for path, routes in by_path.items()),
        (CHANNEL, ChannelHandler),
        *(route for route in more if not isinstance(route, Route)),
    ]
    return [(url_path_join(base_url, "codeinterp", "api", path), *rest) for path, *rest in served]
