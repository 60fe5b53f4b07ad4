"""The server extension: connects a Jupyter server to the workbench.

At the server's start, this imports only settings. The first page, client, started kernel or saved
notebook creates the workbench.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from functools import cached_property
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async
from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado.httputil import HTTPMessageDelegate, HTTPServerRequest
from tornado.routing import PathMatches, Router, Rule

from ..app.settings import CodeInterpSettings

if TYPE_CHECKING:
    from ..app.workbench import Workbench
    from ..extensions import Routes
    from ..session.server.manager import SessionManager


# -------------------------------------------------------------------------------------------------
# Imports and adds the extension's routes on the first request for one of them.

API = ("codeinterp", "api")


class FirstRequest(Router):
    """Adds the routes, then handles nothing itself: tornado goes on with later rules.

    It adds them like any extension's routes, so the server checks that each method needs a login.
    """

    SUPPORTED_METHODS = ()
    """For the server's login check: this router handles no method."""

    def __init__(self, app: Any, prepare: Callable[[], Routes]) -> None:
        """``app`` is the web application. ``prepare`` is called once, and gives the routes of
        features."""
        self._app = app
        self._prepare = prepare
        self._added = False

    def find_handler(self, request: HTTPServerRequest, **kwargs: Any) -> HTTPMessageDelegate | None:
        if not self._added:
            more = self._prepare()
            from .rest.routes import handlers

            self._app.add_handlers(".*$", handlers(self._app.settings["base_url"], more))
            self._added = True
        return None


LOOPBACK = ("localhost", "127.0.0.1", "::1")
CONTENTS_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"


def serves_local_user(server: ServerApp) -> bool:
    """Whether the server serves only this machine's user: it listens only locally, and no
    JupyterHub started it."""
    of_a_hub = any(name.startswith("JUPYTERHUB_") for name in os.environ)
    return not of_a_hub and (bool(server.sock) or server.ip in LOOPBACK)


MODEL_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
"""A variable with headers for requests to models, which may contain a key."""


def wrap_start_kernel(server: ServerApp, hidden: Callable[[], Collection[str]]) -> None:
    """Wrap the kernel manager's ``start_kernel``, to leave the ``hidden`` variables out of the
    environment of each new kernel. A restarted kernel keeps its environment."""
    if server.gateway_config.gateway_enabled:
        return  # A gateway's kernels run elsewhere.
    kernels: Any = server.kernel_manager
    start = kernels.start_kernel

    async def start_kernel(*args: Any, **given: Any) -> Any:
        env = dict(os.environ if given.get("env") is None else given["env"])
        for name in hidden():
            env.pop(name, None)
        return await ensure_async(start(*args, **{**given, "env": env}))

    kernels.start_kernel = start_kernel


def _before_save(**given: Any) -> None:
    from ..app.notebooks.instructions import before_save

    before_save(**given)


class CodeInterp(CodeInterpSettings, ExtensionApp):
    """A code interpreter that lives in the notebook."""

    name = "jupyter_codeinterp"
    app_name = "Code Interpreter"
    load_other_extensions = True

    def initialize_settings(self) -> None:
        server = self._server
        contents: Any = server.contents_manager
        contents.register_pre_save_hook(_before_save)
        wrap_start_kernel(server, self._hidden_variables)
        if server.event_logger is not None:
            server.event_logger.add_listener(schema_id=CONTENTS_EVENTS, listener=self._on_contents)

    def initialize_handlers(self) -> None:
        app: Any = self._server.web_app
        place = url_path_join(app.settings["base_url"], *API, ".*")
        app.add_handlers(".*$", [Rule(PathMatches(place), FirstRequest(app, self._prepare))])

    def _prepare(self) -> Routes:
        """Add the handlers' settings. Returns the routes of features."""
        bench = self.workbench
        routes = [route for routes in bench.features.routes for route in routes()]
        self._server.web_app.settings.update(
            codeinterp_bench=bench,
            **bench.features.handler_settings,
        )
        return routes

    @cached_property
    def workbench(self) -> Workbench:
        from ..app.workbench import Workbench

        server = self._server
        noted = server.web_app.settings
        bench = Workbench(
            self,
            server.contents_manager,
            server.kernel_manager,
            server.session_manager,
            noted,
            extensions=server.extension_manager,
        )
        bench.models.looks_around = serves_local_user(server)
        return bench

    def _hidden_variables(self) -> Collection[str]:
        """The environment variables that kernels do not get."""
        if self.kernels_keep_keys:
            return self.kernel_env_remove
        return (*self.kernel_env_remove, *self.workbench.models.key_variables(), MODEL_HEADERS)

    @property
    def manager(self) -> SessionManager:
        return self.workbench.manager

    async def _on_contents(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        if data["action"] != "get":
            self.manager.notebooks.file_tracker.happened(data)

    @property
    def _server(self) -> ServerApp:
        if self.serverapp is None:
            raise RuntimeError("the extension is not linked to a server")
        return self.serverapp

    def current_activity(self) -> list[str] | None:
        """Activities that prevent the server's idle shutdown."""
        working = self._in_use and self.manager.working
        return ["a turn of the code interpreter"] if working else None

    async def stop_extension(self) -> None:
        if self._in_use:
            await self.workbench.close()

    @property
    def _in_use(self) -> bool:
        return "workbench" in vars(self)
