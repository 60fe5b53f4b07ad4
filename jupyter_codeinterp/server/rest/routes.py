"""Routes under ``/codeinterp/api/`` (docs/openapi.json)."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_server.utils import url_path_join
from tornado import web

from ..kernel_models.handler import KERNEL_ROUTES
from ..socket.handler import ChannelHandler
from . import connections, notebooks, sessions, settings, turns, windows
from .base import UnknownHandler

_ID = r"([0-9a-f]{32})"
PROVIDER = r"([a-z][a-z0-9_-]{0,31})"
_NUMBER = sessions.NUMBER

ROUTES: list[tuple[str, type[web.RequestHandler]]] = [
    (r"status", settings.StatusHandler),
    (rf"notices/{_NUMBER}", settings.NoticeHandler),
    (r"models", settings.ModelsHandler),
    (r"connections", connections.ConnectionsHandler),
    (rf"connections/{PROVIDER}", connections.ConnectionHandler),
    (rf"connections/{PROVIDER}/test", connections.TrialHandler),
    (r"key", connections.KeyHandler),
    (r"local", connections.LocalHandler),
    (r"demo", settings.DemoHandler),
    (r"names", notebooks.NamesHandler),
    (r"commands", notebooks.CommandsHandler),
    (r"verifications", notebooks.VerificationsHandler),
    (r"tickets", windows.TicketsHandler),
    (r"clients", windows.ClientsHandler),
    (r"leaving", windows.LeavingHandler),
    (r"sessions", sessions.SessionsHandler),
    (rf"sessions/{_ID}", sessions.SessionHandler),
    (rf"sessions/{_ID}/events", sessions.EventsHandler),
    (rf"sessions/{_ID}/export", sessions.ExportHandler),
    (rf"sessions/{_ID}/sent/{_NUMBER}", sessions.SentHandler),
    (rf"sessions/{_ID}/messages", turns.MessagesHandler),
    (rf"sessions/{_ID}/branches", turns.BranchesHandler),
    (rf"sessions/{_ID}/queued/{_NUMBER}", turns.QueuedHandler),
    (rf"sessions/{_ID}/decisions", turns.DecisionsHandler),
    (rf"sessions/{_ID}/answers", turns.AnswersHandler),
    (rf"sessions/{_ID}/stop", turns.StopHandler),
    (rf"sessions/{_ID}/retry", turns.RetryHandler),
    (rf"sessions/{_ID}/mode", turns.ModeHandler),
    (rf"sessions/{_ID}/model", turns.ModelHandler),
    (rf"sessions/{_ID}/look", turns.LookHandler),
    (rf"sessions/{_ID}/files", turns.FilesHandler),
    (rf"sessions/{_ID}/files/text", turns.FileTextHandler),
    (rf"sessions/{_ID}/turns/{_NUMBER}/changes", sessions.ChangesHandler),
    (rf"sessions/{_ID}/turns/{_NUMBER}/undo", turns.UndoHandler),
    (rf"sessions/{_ID}/turns/{_NUMBER}/redo", turns.RedoHandler),
    (r"channel", ChannelHandler),
]
UNKNOWN = r".*"
"""Every other path, after all routes."""


def handlers(
    base_url: str, more: Iterable[tuple[str, type[web.RequestHandler]]] = ()
) -> list[tuple[str, type[web.RequestHandler]]]:
    """``more``: the routes of features."""
    unknown: tuple[str, type[web.RequestHandler]] = (UNKNOWN, UnknownHandler)
    served = (*ROUTES, *KERNEL_ROUTES, *more, unknown)
    return [(url_path_join(base_url, "codeinterp", "api", path), kind) for path, kind in served]
