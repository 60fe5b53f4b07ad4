"""Wires all objects for work in notebooks, for a server or for one program.

Nothing here imports a model's SDK, uses the network or reads files: that waits for the first
message.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, MutableMapping
from functools import cache, cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async

from ...adapters.documents.live import FileWriter, LiveNotebook
from ...adapters.storage.sqlite import SqliteStore
from ...core.ports import Kernel, Model, NewNotebooks
from ...core.redaction.found_secrets import without_secrets
from ...core.redaction.secrets import Secrets
from ...core.turn.limits import Rules
from ...core.wire.commands import OpReceipt, SnapshotTaken
from ..activity import Activity
from ..extensions import FEATURES, Extensions, Features
from ..files.file_ids import FileIds
from ..files.own_commands import own_commands
from ..files.paths import folder_of, root_name
from ..files.rule_files import rule_files
from ..files.scan import look_around
from ..files.siblings import read_sibling, sibling_files, sibling_heads
from ..models.limits import Spending
from ..names import Names
from ..new_notebooks import NotebookMaker, NotebooksBeside
from ..notebook_kernels import KernelsOf, NotebookKernels
from ..place import Surroundings
from ..preload import preload
from ..session_manager import SessionManager
from ..tables.variables import VariableTables
from ..translation import load_catalogue
from ..verify import NotebookRuns, Verifier
from .models import make_models
from .settings import CodeInterpSettings

if TYPE_CHECKING:
    from ...adapters.documents.file import FileDocument
    from ...adapters.documents.room import Rooms
    from ...adapters.kernel_wire import Process
    from ...adapters.kernels.zmq import KernelPool, ZmqKernel
    from ...core.checks.checks import Checks
    from ...core.hooks import Hooks
    from ...core.model_view.rule_files import RuleFile
    from ...core.model_view.untrusted import Untrusted
    from ...core.own_command import OwnCommand
    from ...core.tools.registry import ToolRegistry
    from ...core.tools.shared.base import MoreTools


log = logging.getLogger(__name__)

SHARING = frozenset({"jupyter_server_ydoc", "jupyter_server_documents"})
"""The server extensions with rooms that ``adapters/documents/room`` knows."""


def _markdown_risks(text: str) -> tuple[str, ...]:
    from ...adapters.plain_markdown import markdown_risks  # not at the server's start

    return markdown_risks(text)


class Workbench:
    def __init__(
        self,
        settings: CodeInterpSettings,
        contents: Any,
        kernels: Any,
        sessions: Any,
        noted: MutableMapping[str, Any],
        file_ids: Callable[[], Any] = lambda: None,
        extensions: Any = None,
    ) -> None:
        """``contents``, ``kernels`` and ``sessions`` are jupyter_server's managers. ``noted``
        receives the last activity. ``file_ids`` gives the file id manager, if installed.
        ``extensions`` is the server's extension manager."""
        self.settings = settings
        self.contents = contents
        self._server_extensions = extensions
        self._files = partial(sibling_files, contents)
        self._reads_rules = settings.read_rule_files
        self._kernel_manager = kernels
        self.secrets = Secrets()
        self.models = make_models(settings, self.secrets)
        self.features = Features()
        self._know_keys = cache(self.models.learn_secrets)
        self.notebook_kernels = NotebookKernels(sessions, contents)
        self._notebook_maker = NotebookMaker(contents, self.notebook_kernels)
        journal = self._journal(settings)
        self.store = SqliteStore(journal, self.scrub, settings.retention, root_name(contents))
        if settings.day_cost is not None:
            self.models.spending = Spending(self.store, settings.day_cost)
        self._extensions = Extensions(settings.allowed_packages)
        self._all_tools = cache(self._extensions.tools)
        self._all_hooks = cache(self._extensions.hooks)
        self._all_checks = cache(self._extensions.checks)
        self.manager = SessionManager(
            self.store,
            model=self._model,
            default_model=self.models.default_for,
            surroundings=Surroundings(
                make_kernel=self._make_kernel,
                files=self._files,
                read_file=partial(read_sibling, contents),
                folder=partial(folder_of, contents),
                table_heads=partial(sibling_heads, contents),
                rule_files=self._rule_files,
                own_commands=self.own_commands,
                look_around=partial(look_around, contents),
                more_tools=self._more_tools,
                make_new_notebooks=self._new_notebooks,
                make_fresh_runs=lambda path: NotebookRuns(self.verifier, path),
            ),
            rules=Rules(
                settings.limits,
                settings.highest_mode,
                self.scrub,
                markdown_risks=_markdown_risks,
                second_look=settings.second_look,
                auto_needs_sandbox=settings.auto_needs_sandbox,
            ),
            activity=Activity(noted, kernels, settings.wait_keeps_kernel),
            file_writer=self._make_file_writer,
            grace=settings.window_grace,
            leave_grace=settings.leave_grace,
            moved=self.notebook_kernels.move,
            seen=lambda path: self.file_ids.seen(path),
            tools=self._tools,
            hooks=self._hooks,
            checks=self._checks,
            on_window=self._preload,
            has_rooms=lambda: self._rooms is not None,
        )
        self.names = Names(self._kernel_at, self._files, self.manager.is_private, self.scrub)
        self.tables = VariableTables(self._kernel_at)
        self.verifier = Verifier(
            kernels,
            contents,
            self.notebook_kernels,
            highest_mode=settings.highest_mode,
            cell_timeout=settings.cell_timeout,
            scrub=self.scrub,
        )
        self.file_ids = FileIds(file_ids, self.manager.notebooks.file_tracker.found)
        for feature in FEATURES:
            import_module(feature).register(self)

    def _journal(self, settings: CodeInterpSettings) -> Path:
        """The file of conversations."""
        return settings.folder / "sessions.db"

    def _model(self, name: str) -> Model:
        """The model of this name, also a feature's. Raises ModelError."""
        return (self.features.model_source(name) or self.models.get)(name)

    def _tools(self) -> ToolRegistry:
        return self._all_tools()[0]

    def _hooks(self) -> Hooks:
        return self._all_hooks()[0]

    def _checks(self) -> Checks:
        return self._all_checks()[0]

    @cached_property
    def _others_installed(self) -> bool:
        return self._extensions.installed()

    def _preload(self) -> None:
        others = (self._know_keys, self._tools, self._hooks, self._checks)
        preload(load_catalogue, *(others if self._others_installed else ()))

    def scrub(self, text: str) -> str:
        """The text without keys. Learns all providers' keys before the first text."""
        self._know_keys()
        return self.secrets.scrub(text)

    def scrub_data(self, text: str) -> str:
        """The text without keys and without what looks like a secret, for a model."""
        return without_secrets(self.scrub(text))

    @cached_property
    def _gateway_process(self) -> Callable[[Any, str], Process] | None:
        """The factory for a gateway's kernels; None if kernels run on this machine."""
        from jupyter_server.gateway.managers import GatewayMappingKernelManager

        if not isinstance(self._kernel_manager, GatewayMappingKernelManager):
            return None
        from ...adapters.kernels.gateway import GatewayProcess

        return GatewayProcess

    @cached_property
    def _kernels(self) -> KernelPool:
        from ...adapters.kernels.zmq import KernelPool  # not at the server's start

        return KernelPool(self._kernel_manager, self._gateway_process)

    def _make_kernel(self, notebook: Callable[[], LiveNotebook]) -> Kernel:
        async def current_id() -> str | None:
            """The kernel of the notebook's window, or else of the server's session list."""
            while True:
                live = notebook()
                # After a change of kernel, a window reports the old one for some seconds.
                if live.kernel_id and live.kernel_id in self._kernel_manager:
                    return live.kernel_id
                await self.notebook_kernels.moved()
                path = live.path
                found = await self.notebook_kernels.of(path)
                if path == notebook().path:
                    return found or live.kernel_id

        from ...adapters.kernels.zmq import ZmqKernel

        specs = KernelsOf(self.notebook_kernels, lambda: notebook().path)
        return ZmqKernel(self._kernels, current_id, specs)

    def _new_notebooks(self, session_id: str, path: Callable[[], str]) -> NewNotebooks | None:
        kernels = self.notebook_kernels
        return NotebooksBeside(self._notebook_maker, kernels, self.manager, session_id, path)

    def _kernel_at(self, path: str) -> ZmqKernel:
        """The notebook's kernel, if it has one."""

        async def current_id() -> str | None:
            live = self.manager.notebooks.opened(path)
            shown = live.kernel_id if live is not None else ""
            return shown or await self.notebook_kernels.of(path)

        from ...adapters.kernels.zmq import ZmqKernel

        return ZmqKernel(self._kernels, current_id)

    @cached_property
    def _rooms(self) -> Rooms | None:
        """Where several people share a notebook; None without a known package for that."""
        enabled = getattr(self._server_extensions, "extension_points", {})
        if not SHARING.intersection(enabled):
            return None
        from ...adapters.documents.room import found  # loads pycrdt

        return found(enabled, self.contents)

    def _make_file_writer(self, notebook: LiveNotebook) -> FileWriter:
        """The writer for a notebook that no window edits: its room if it has one, or its file."""

        async def is_elsewhere(path: str) -> bool:
            if not await notebook.is_elsewhere(path):
                self.file_ids.look_for(path)
            return notebook.path != path

        document = self._make_file_document(notebook, is_elsewhere)
        if self._rooms is None:
            return document
        from ...adapters.documents.room import RoomDocument

        return RoomDocument(notebook, self._rooms, document.look, is_elsewhere)

    def _make_file_document(
        self, notebook: LiveNotebook, is_elsewhere: Callable[[str], Awaitable[bool]]
    ) -> FileDocument:
        from ...adapters.documents.file import ContentsFile, FileDocument  # not at the start

        def answer(reply: OpReceipt | SnapshotTaken) -> None:
            if isinstance(reply, OpReceipt):
                notebook.receive(document, reply)
            else:
                notebook.answer(document, reply)

        file = ContentsFile(self.contents, lambda: notebook.path, is_elsewhere)
        document = FileDocument(file, answer, notebook.written, notebook.lost)
        return document

    async def _rule_files(self, notebook: str) -> list[RuleFile]:
        return await rule_files(self.contents, notebook) if self._reads_rules else []

    async def own_commands(self, notebook: str) -> list[OwnCommand]:
        return await own_commands(self.contents, notebook) if self._reads_rules else []

    async def _more_tools(
        self, session_id: str, notebook: str, untrusted: Untrusted, contents: Any = None
    ) -> MoreTools:
        """``contents``: where the notebook's folder is, if not in the server's contents."""
        from ...core.tools.shared.base import MoreTools  # not at the server's start

        session = self.manager.live(session_id)
        if session is not None and self.features.model_source(session.info.model) is not None:
            return MoreTools()
        sources = self.features.tools
        more = [await source(session_id, notebook, untrusted, contents) for source in sources]
        return MoreTools(
            tuple(tool for one in more for tool in one.tools),
            tuple(note for one in more for note in one.notes),
            all(one.complete for one in more),
        )

    async def close(self) -> None:
        """Close every part, also after one fails."""
        running: tuple[Any, ...] = (*self.features.closing, self.verifier, self.manager)
        kernels = [self._kernels] if "_kernels" in vars(self) else []
        for part in (*running, *kernels, self.models, self.store):
            try:
                await ensure_async(part.close())
            except Exception:
                log.exception("Could not close %s", type(part).__name__)
