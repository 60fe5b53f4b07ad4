"""The server extension: settings in, objects made, wired on one screen.

Nothing here imports the model's SDK, touches the network or looks at files: that waits for
the first message.
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.paths import jupyter_data_dir
from jupyter_core.utils import ensure_async
from jupyter_server.extension.application import ExtensionApp
from jupyter_server.serverapp import ServerApp
from tornado import web
from traitlets import Bool, Dict, Enum, Float, Integer, List, Unicode

from .._version import __version__
from ..adapters.documents.live import FileWriter, LiveNotebook
from ..adapters.providers.anthropic.provider import DEFAULT_MODEL
from ..adapters.storage.sqlite import Retention, SqliteStore
from ..core.approval.modes import BY_RANK, HIGHEST
from ..core.commands import OpReceipt, SnapshotTaken
from ..core.ports import Kernel
from ..core.redaction.secrets import Secrets
from ..core.turn.limits import Limits, Rules
from . import extensions
from .activity import Activity
from .early import import_early
from .files.file_ids import FileIds
from .files.whereabouts import clean
from .kernel_models import wiring
from .models import Models
from .notebook_kernels import NotebookKernels
from .rest.routes import handlers
from .session_manager import SessionManager

if TYPE_CHECKING:
    from ..adapters.kernels.zmq import KernelPool
    from ..core.tools.registry import ToolRegistry

CONTENTS_EVENTS = "https://events.jupyter.org/jupyter_server/contents_service/v1"
MAX_FILES = 50
"""Names of files beside the notebook that the model is told of."""
LISTING_TIMEOUT = 1.0
"""Seconds. A folder of tens of thousands of files takes longer; nobody waits for that."""


def _markdown_risks(text: str) -> tuple[str, ...]:
    from ..adapters.plain_markdown import markdown_risks  # not at the server's start

    return markdown_risks(text)


class CodeInterp(ExtensionApp):
    """A code interpreter that lives in the notebook."""

    name = "jupyter_codeinterp"
    app_name = "Code Interpreter"
    load_other_extensions = True

    model = Unicode(
        DEFAULT_MODEL,
        help="The model that answers by default: an id of the default provider, or provider/model.",
    ).tag(config=True)
    base_url = Unicode(
        None,
        allow_none=True,
        help="Address of a server that speaks the Messages API, without /v1. "
        "Default: ANTHROPIC_BASE_URL, else Anthropic.",
    ).tag(config=True)
    highest_mode = Enum(
        BY_RANK,
        HIGHEST,
        help="The most that a person may allow: plan (nothing runs), review (each run is "
        "asked for) or auto (runs without asking).",
    ).tag(config=True)
    max_steps = Integer(25, min=1, help="Model calls in one turn at most.").tag(config=True)
    max_tokens = Integer(16_000, min=256, help="Tokens of one answer at most.").tag(config=True)
    max_cost = Float(
        None,
        allow_none=True,
        min=0,
        help="US dollars a turn may cost at most. Needs known prices (see prices).",
    ).tag(config=True)
    prices = Dict(
        help="Prices by model id, in US dollars a million tokens: (input, output, cache write, "
        "cache read)."
    ).tag(config=True)
    kernel_models = List(
        Unicode(),
        None,
        allow_none=True,
        help="Models that code in kernels (%%ai) may ask through this server. None: all.",
    ).tag(config=True)
    kernel_cost = Float(
        None,
        allow_none=True,
        min=0,
        help="US dollars that the model calls of one kernel (%%ai) may cost through this "
        "server. Needs known prices (see prices).",
    ).tag(config=True)
    kernels_keep_keys = Bool(
        False,
        help="Whether kernels get the variables of the server's environment that hold keys of "
        "models, such as ANTHROPIC_API_KEY. %%ai does not need them.",
    ).tag(config=True)
    cell_timeout = Float(
        600.0, allow_none=True, min=0, help="Seconds a cell may run in Auto mode. None: no limit."
    ).tag(config=True)
    turn_timeout = Float(
        3600.0, allow_none=True, min=0, help="Seconds a turn may take in Auto mode."
    ).tag(config=True)
    window_grace = Float(
        30.0,
        min=0,
        help="Seconds that a turn waits for a window that is gone. Then it goes on in the "
        "notebook's file, if nothing that a person has written is missing there.",
    ).tag(config=True)
    leave_grace = Float(
        5.0,
        min=0,
        help="The same for a window that has said that it goes: a page that is loaded anew is "
        "back by then. Never longer than window_grace.",
    ).tag(config=True)
    allow_token_windows = Bool(
        False,
        help="Whether a client that has the server's token, but no cookies of a login, may "
        "decide and change modes and keys as a window does. Code in a kernel can read that "
        "token. Needed only where the page is served from another host than the server.",
    ).tag(config=True)
    wait_keeps_kernel = Float(
        3600.0,
        min=0,
        help="Seconds for which a turn that waits for a person keeps its kernel, and the "
        "server, from being shut down as idle. A turn that works always does.",
    ).tag(config=True)
    data_dir = Unicode(
        help="Where conversations and a pasted key are kept. Default: codeinterp in Jupyter's "
        "data directory."
    ).tag(config=True)
    keep_conversations_days = Float(
        None,
        allow_none=True,
        min=0,
        help="Days after its last change for which a conversation is kept. None: for ever.",
    ).tag(config=True)
    keep_outputs_days = Float(
        None,
        allow_none=True,
        min=0,
        help="Days for which conversations keep outputs that the model may read again. "
        "(Notebooks keep their own.) None: as long as the conversation.",
    ).tag(config=True)
    keep_outputs_size = Integer(
        1_000_000_000,
        allow_none=True,
        min=0,
        help="Bytes that the outputs of all conversations take at most; the oldest go first.",
    ).tag(config=True)
    demo_pace = Float(
        None, allow_none=True, help="Words a second of the offline demo; 0: at once."
    ).tag(config=True)

    def initialize_settings(self) -> None:
        server = self._server
        folder = Path(self.data_dir or Path(jupyter_data_dir()) / "codeinterp")
        secrets = Secrets()
        self.models = Models(
            folder,
            secrets,
            default_model=self.model,
            base_url=self.base_url,
            demo_pace=self.demo_pace,
            max_tokens=self.max_tokens,
            prices=self.prices,
        )
        kernel_models = wiring.settings(
            server,
            self.models,
            secrets,
            allowed=self.kernel_models,
            most=self.kernel_cost,
            keep_keys=self.kernels_keep_keys,
        )
        retention = Retention(
            self.keep_outputs_days, self.keep_conversations_days, self.keep_outputs_size
        )
        self.notebook_kernels = NotebookKernels(server.session_manager, server.contents_manager)
        self.store = SqliteStore(folder / "sessions.db", secrets.scrub, retention)
        self._added_tools = functools.cache(extensions.tools)
        self._hooks = functools.cache(extensions.hooks)
        self.manager = SessionManager(
            self.store,
            model=self.models.get,
            default_model=self.models.default_for,
            make_kernel=self._make_kernel,
            files=self._files,
            rules=Rules(
                self._limits(),
                self.highest_mode,
                secrets.scrub,
                markdown_risks=_markdown_risks,
            ),
            activity=Activity(
                server.web_app.settings, server.kernel_manager, self.wait_keeps_kernel
            ),
            file_writer=self._make_file_writer,
            grace=self.window_grace,
            leave_grace=self.leave_grace,
            moved=self.notebook_kernels.move,
            seen=lambda path: self.file_ids.seen(path),
            tools=self._tools,
            hooks=self._hooks,
            early=self._early,
        )
        self.file_ids = FileIds(
            lambda: server.web_app.settings.get("file_id_manager"), self.manager.whereabouts.found
        )
        self.settings.update(
            codeinterp_manager=self.manager,
            codeinterp_kernels=self.notebook_kernels,
            codeinterp_models=self.models,
            codeinterp_store=self.store,
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

    @cached_property
    def _others_installed(self) -> bool:
        return extensions.installed()

    def _early(self) -> None:
        others = (self.models.load, self._added_tools, self._hooks)
        import_early(*(others if self._others_installed else ()))

    def _tools(self) -> ToolRegistry:
        # The keys of all providers must be known before anything is said in a session.
        self.models.learn_secrets()
        return self._added_tools()

    def _limits(self) -> Limits:
        return Limits(
            steps=self.max_steps,
            cell_timeout=self.cell_timeout,
            turn_timeout=self.turn_timeout,
            cost=self.max_cost,
        )

    @cached_property
    def _kernels(self) -> KernelPool:
        from ..adapters.kernels.zmq import KernelPool  # not at the server's start

        return KernelPool(self._server.kernel_manager)

    def _make_kernel(self, notebook: Callable[[], LiveNotebook]) -> Kernel:
        async def current_id() -> str | None:
            """As the notebook's window says. While there is none, or it has not connected to
            the kernel yet, as the server's own list of sessions has it."""
            while True:
                live = notebook()
                if live.kernel_id:
                    return live.kernel_id
                await self.notebook_kernels.moved()
                path = live.path
                found = await self.notebook_kernels.of(path)
                if path == notebook().path:
                    return found

        from ..adapters.kernels.zmq import ZmqKernel

        return ZmqKernel(self._kernels, current_id)

    def _make_file_writer(self, notebook: LiveNotebook) -> FileWriter:
        """Who works in the notebook's file while no window has it open."""
        from ..adapters.documents.file import ContentsFile, FileDocument  # not at the start

        def answer(said: OpReceipt | SnapshotTaken) -> None:
            if isinstance(said, OpReceipt):
                notebook.receive(document, said)
            else:
                notebook.answer(document, said)

        async def is_elsewhere(path: str) -> bool:
            if not await notebook.is_elsewhere(path):
                self.file_ids.look_for(path)
            return notebook.path != path

        contents = self._server.contents_manager
        file = ContentsFile(contents, lambda: notebook.path, is_elsewhere)
        document = FileDocument(file, answer, notebook.written, notebook.lost)
        return document

    async def _files(self, notebook: str) -> list[tuple[str, int]]:
        """Names and sizes of what lies beside the notebook, folders with a slash. None in a
        folder that cannot be listed, or not in time."""
        folder, _, own = notebook.rpartition("/")
        contents: Any = self._server.contents_manager
        try:
            listing = ensure_async(contents.get(folder, content=True, type="directory"))
            model = await asyncio.wait_for(listing, LISTING_TIMEOUT)
        except (web.HTTPError, asyncio.TimeoutError) as error:
            self.log.info("The folder of %s is not listed: %r", notebook, error)
            return []
        entries: list[dict[str, Any]] = [e for e in model["content"] if e["name"] != own]
        entries.sort(key=lambda entry: str(entry["name"]))
        return [
            (f"{e['name']}/", 0) if e["type"] == "directory" else (e["name"], e.get("size") or 0)
            for e in entries[:MAX_FILES]
        ]

    def current_activity(self) -> list[str] | None:
        """What keeps the server from shutting itself down for want of anything to do."""
        return ["a turn of the code interpreter"] if self.manager.working else None

    async def stop_extension(self) -> None:
        await self.manager.close()
        if "_kernels" in vars(self):
            self._kernels.close()
        await self.models.close()
        self.store.close()
