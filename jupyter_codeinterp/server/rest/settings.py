"""Status, models, the demo, connections of providers, and windows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.filemanager import FileContentsManager

from ..._version import __version__
from ...base.errors import CommandError
from ...base.sentences import Sentence, together
from ...models.replay import provider as replay
from ...session.server.windows import Bearer
from ...wire.commands import DoneElsewhere
from ...wire.events import Mode
from ..socket.handler import bearer_of
from .base import Handler, Nothing, described

if TYPE_CHECKING:
    from ...models.offered.registry import LocalServers


class Status(msgspec.Struct, frozen=True):
    """Whether and how a model is connected.

    configured  the default model has a key or needs none
    connected  providers whose models the person can choose
    demo_model       the model id of the offline demo; "" if the server does not allow it
    looks_around     the server may search its machine for model servers
    untrusted_clicks  the person may let clicks act that the browser does not trust
    keys_from_admin  only the admin sets keys and addresses
    warning          a problem of the server that the person should know; "" if none
    """

    configured: bool
    default_model: str
    connected: list[str]
    demo_model: str
    looks_around: bool
    untrusted_clicks: bool
    keys_from_admin: bool
    highest_mode: Mode
    version: str
    warning: Sentence


async def status(handler: Handler) -> Status:
    models, settings = handler.bench.models, handler.bench.settings
    return Status(
        configured=models.configured,
        default_model=models.default,
        connected=models.connected,
        demo_model=models.demo,
        looks_around=models.looks_around,
        untrusted_clicks=settings.untrusted_clicks,
        keys_from_admin=models.limits.environment_only,
        highest_mode=handler.manager.rules.highest_mode,
        version=__version__,
        warning=together(handler.bench.store.warning, models.warning),
    )


async def models(handler: Handler) -> dict[str, Any]:
    found, error = await handler.bench.models.available()
    why = {"error": described(error)} if error else {}
    return {"models": found, **why}


async def copy_demo(handler: Handler) -> dict[str, str]:
    """Copy the demo into a new folder, unless the notebook in front is a demo's."""
    contents: Any = handler.contents_manager

    def root() -> Path:
        """Kernels must find the data beside the notebook, so both must be files here."""
        if not isinstance(contents, FileContentsManager):
            words = "The demo needs notebooks in files, but this server stores them elsewhere."
            raise CommandError("no_files", words)
        return Path(contents.root_dir)

    try:
        front = handler.text(handler.body(), "notebook")
        # The page's address may still name a deleted notebook.
        is_there = front and await ensure_async(contents.file_exists(front))
        notebook = await replay.notebook_for(front if is_there else "", root)
    except OSError as error:
        words = "Could not copy the demo to this server's folder: {why}."
        raise CommandError("not_writable", words, why=error.strerror) from None
    return {"notebook": notebook, "model": replay.NAME}


# -------------------------------------------------------------------------------------------------
# Connections of providers. Keys can be written, never read.


async def connections(handler: Handler) -> dict[str, Any]:
    return {"connections": handler.bench.models.connections()}


async def connect(handler: Handler, provider: str) -> Any:
    """Test and save a key, an address or both."""
    given = handler.body()
    key, base_url, model = (handler.text(given, n) for n in ("key", "base_url", "model"))
    await handler.bench.models.connect(provider, key, base_url, model)
    return await _changed(handler, provider)


async def disconnect(handler: Handler, provider: str) -> Any:
    handler.bench.models.forget(provider)
    return await _changed(handler, provider)


async def _changed(handler: Handler, provider: str) -> dict[str, Any]:
    handler.manager.tell_others(DoneElsewhere(handler.by, "key"))
    return {"connection": handler.bench.models.described(provider), "status": await status(handler)}


async def try_connection(handler: Handler, provider: str) -> dict[str, Any]:
    """Test the saved connection."""
    handler.given(Nothing)
    return {"connection": await handler.bench.models.test(provider)}


async def local_servers(handler: Handler) -> LocalServers:
    return await handler.bench.models.local_servers()


# -------------------------------------------------------------------------------------------------
# Windows, and other clients with the same permissions.

TOKEN_ONLY = (
    "Only logged-in browsers get windows; requests with the server's token do not. Leave out "
    "the token and send the login's cookies. (An admin can allow it: "
    "c.CodeInterp.allow_token_windows.)"
)


async def issue_ticket(handler: Handler) -> dict[str, str]:
    """Register a window. Needs the browser's cookies and no token: code in a kernel can read
    the server's token, but not cookies."""
    bearer = _browser(handler)
    secret = handler.text(handler.body(), "secret")
    ticket, secret = handler.manager.windows.issue(bearer, secret)
    return {"ticket": ticket, "secret": secret}


async def admit_client(handler: Handler) -> dict[str, Any]:
    """Register a client without a socket, by the same rule."""
    bearer = _browser(handler)
    handler.given(Nothing)
    number, secret = handler.manager.windows.admit(bearer)
    return {"client": number, "secret": secret}


def _browser(handler: Handler) -> Bearer:
    bearer = bearer_of(handler)
    if bearer.has_token and not handler.bench.settings.allow_token_windows:
        raise CommandError("no_session", TOKEN_ONLY)
    return bearer
