"""The server extension: what a Jupyter server has is given to the workbench, routes are added."""

from __future__ import annotations

import os
from typing import Any

from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp

from .._version import __version__
from .files.whereabouts import clean
from .kernel_models import wiring
from .rest.completions import Completions
from .rest.routes import handlers
from .workbench.settings import CodeInterpSettings
from .workbench.workbench import Workbench

LOOPBACK = ("localhost", "127.0.0.1", "::1")
CONTENTS_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"


def persons_own(server: ServerApp) -> bool:
    """Whether it serves whoever sits at this machine: it listens there alone, and no hub has
    started it for somebody elsewhere."""
    of_a_hub = any(name.startswith("JUPYTERHUB_") for name in os.environ)
    return not of_a_hub and (bool(server.sock) or server.ip in LOOPBACK)


class CodeInterp(CodeInterpSettings, ExtensionApp):
    """A code interpreter that lives in the notebook."""

    name = "jupyter_codeinterp"
    app_name = "Code Interpreter"
    load_other_extensions = True

    def initialize_settings(self) -> None:
        server = self._server
        noted = server.web_app.settings
        self.workbench = bench = Workbench(
            self,
            server.contents_manager,
            server.kernel_manager,
            server.session_manager,
            noted,
            file_ids=lambda: noted.get("file_id_manager"),
        )
        self.models, self.store, self.manager = bench.models, bench.store, bench.manager
        self.notebook_kernels, self.file_ids = bench.notebook_kernels, bench.file_ids
        looks = self.find_local_servers
        self.models.looks_around = persons_own(server) if looks is None else looks
        kernel_models = wiring.settings(
            server,
            bench.models,
            bench.secrets,
            allowed=self.kernel_models,
            most=self.kernel_cost,
            keep_keys=self.kernels_keep_keys,
            remove=self.kernel_env_remove,
        )
        completions = Completions(bench.models, bench.names, bench.secrets.scrub)
        self.settings.update(
            codeinterp_manager=self.manager,
            codeinterp_kernels=self.notebook_kernels,
            codeinterp_models=self.models,
            codeinterp_names=bench.names,
            codeinterp_store=self.store,
            codeinterp_completions=completions if self.inline_completion else None,
            codeinterp_token_windows=self.allow_token_windows,
            codeinterp_version=__version__,
            **kernel_models,
        )

        if server.event_logger is not None:
            server.event_logger.add_listener(schema_id=CONTENTS_EVENTS, listener=self._on_contents)

    async def _on_contents(self, logger: Any, schema_id: str, data: dict[str, Any]) -> None:
        self.manager.whereabouts.happened(data)
        if data["action"] == "save":
            self.file_ids.written(clean(data["path"]))

    @property
    def _server(self) -> ServerApp:
        if self.serverapp is None:
            raise RuntimeError("the extension is not linked to a server")
        return self.serverapp

    def initialize_handlers(self) -> None:
        self.handlers.extend(handlers("/"))

    def current_activity(self) -> list[str] | None:
        """What keeps the server from shutting itself down for want of anything to do."""
        return ["a turn of the code interpreter"] if self.manager.working else None

    async def stop_extension(self) -> None:
        await self.workbench.close()
