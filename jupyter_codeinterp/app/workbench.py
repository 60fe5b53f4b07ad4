"""Wires all objects for work in notebooks, for a server or for one program.

Nothing here imports a model's SDK, uses the network or reads files: that waits for the first
message.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, MutableMapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jupyter_core.utils import ensure_async

from ..base.paths import root_name
from ..base.preload import preload
from ..base.sentences import Sentence
from ..base.translation import load_catalogue
from ..extensions import Extensions, Features
from ..journal.sqlite import SqliteStore
from ..models.offered.limits import Spending
from ..notebook.live import FileWriter, LiveNotebook, SessionDocument
from ..run.turn.files import FolderScan
from ..run.turn.limits import MAX_FILES, Rules
from ..run.turn.workplace import MoreTools, Workplace
from ..session.server.live_notebooks import LiveNotebooks
from ..session.server.manager import SessionManager
from ..view.redaction.found_secrets import without_secrets
from ..view.redaction.secrets import Secrets
from ..view.rule_files import RuleFile
from ..view.skills import Skill
from ..wire.commands import OpReceipt, SessionInfo, SnapshotTaken
from ..wire.ports import Kernel, Model
from ..wiring import offering
from .notebooks.instructions import rule_files, skills
from .notebooks.names import ReferenceNames
from .notebooks.notebook_kernels import NotebookKernels
from .notebooks.scan import look_around
from .notebooks.siblings import read_sibling, sibling_files, sibling_heads
from .settings import CodeInterpSettings
from .verify import NotebookRuns, Verifier

if TYPE_CHECKING:
    from ..kernel.wire import Process
    from ..kernel.zmq import KernelPool, ZmqKernel
    from ..notebook.file import FileDocument
    from ..notebook.room import ServerYDoc
    from ..session.session import Services, Session
    from ..view.untrusted import Untrusted


log = logging.getLogger(__name__)

SHARING = "jupyter_server_ydoc"
"""The server extension with rooms that ``notebook/room`` knows."""


def _markdown_risks(text: str) -> tuple[Sentence, ...]:
    from ..run.approval.plain_markdown import markdown_risks  # not at the server's start

    return markdown_risks(text)


class Workbench:
    def __init__(
        self,
        settings: CodeInterpSettings,
        contents: Any,
        kernels: Any,
        sessions: Any,
        noted: MutableMapping[str, Any],
        extensions: Any = None,
    ) -> None:
        """``contents``, ``kernels`` and ``sessions`` are jupyter_server's managers. ``noted``
        receives the last activity. ``extensions`` is the server's extension manager."""
        self.settings = settings
        self.contents = contents
        self._kernel_manager = kernels
        self._server_extensions = extensions
        self.secrets = Secrets()
        self.models = settings.make_models(self.secrets)
        self._know_keys = cache(self.models.learn_secrets)
        self.features = Features()
        self._extensions = Extensions(settings.allowed_packages)
        journal = self._journal(settings)
        self.store = SqliteStore(journal, self.scrub, settings.retention, root_name(contents))
        if settings.day_cost is not None:
            self.models.spending = Spending(self.store, settings.day_cost)
        self.notebook_kernels = NotebookKernels(sessions, contents)
        self.verifier = Verifier(
            kernels,
            contents,
            self.notebook_kernels,
            highest_mode=settings.highest_mode,
            cell_timeout=settings.cell_timeout,
            scrub=self.scrub,
        )
        self.manager = SessionManager(
            self.store,
            self._rules(),
            self._make_session,
            self._make_notebooks,
            self.models.default_for,
            noted,
            kernels,
            self._preload,
        )
        files = partial(sibling_files, contents)
        self.names = ReferenceNames(self.kernel_at, files, self.manager.is_private, self.scrub)
        for register in offering("register"):
            register(self)

    def _rules(self) -> Rules:
        settings = self.settings
        return Rules(
            settings.limits,
            settings.highest_mode,
            self.scrub,
            markdown_risks=_markdown_risks,
            auto_needs_sandbox=settings.auto_needs_sandbox,
        )

    @cached_property
    def _services(self) -> Services:
        from ..session.session import Services  # see ``preload``

        tools, hooks = self._extensions.tools, self._extensions.hooks
        return Services(self.store, self.manager.rules, self._model, tools, hooks)

    def _make_session(self, info: SessionInfo, manager: SessionManager) -> Session:
        from ..session.session import Session  # see ``preload``

        place = NotebookWorkplace(self, info.session_id, info.notebook)
        return Session(info, self._services, place, manager.announce, manager.announce_waiting)

    def _make_notebooks(self, manager: SessionManager) -> LiveNotebooks:
        return LiveNotebooks(
            self.store,
            manager.sessions,
            manager.session,
            self._make_file_writer,
            self.settings.window_grace,
            self.notebook_kernels.move,
            manager.moved,
            lambda: self._rooms is not None,
        )

    def _journal(self, settings: CodeInterpSettings) -> Path:
        """The file of conversations."""
        return settings.folder / "sessions.db"

    async def _model(self, name: str) -> Model:
        """The model of this name, also a feature's. Raises ModelError."""
        source = self.features.model_source(name)
        return source(name) if source is not None else await self.models.get(name)

    def _preload(self) -> None:
        preload(load_catalogue, self._know_keys, self._extensions.load)

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
        from ..kernel.gateway import GatewayProcess

        return GatewayProcess

    @cached_property
    def _kernels(self) -> KernelPool:
        from ..kernel.zmq import KernelPool  # not at the server's start

        return KernelPool(self._kernel_manager, self._gateway_process)

    def make_kernel(self, notebook: Callable[[], LiveNotebook]) -> Kernel:
        return self._kernel(notebook, lambda: notebook().path)

    async def skills(self, notebook: str) -> list[Skill]:
        """The person's skills, those with a defect too."""
        return await skills(self.contents, notebook) if self.settings.read_rule_files else []

    def kernel_at(self, path: str) -> ZmqKernel:
        """The notebook's kernel, if it has one."""
        return self._kernel(lambda: self.manager.notebooks.opened(path), lambda: path)

    def _kernel(
        self, notebook: Callable[[], LiveNotebook | None], path: Callable[[], str]
    ) -> ZmqKernel:
        from ..kernel.zmq import KernelSpecs, ZmqKernel

        async def current_id() -> str | None:
            """The kernel of the notebook's window, or else of the server's session list."""
            while True:
                live = notebook()
                shown = live.kernel_id if live is not None else ""
                # After a change of kernel, a window reports the old one for some seconds.
                if shown and shown in self._kernel_manager:
                    return shown
                await self.notebook_kernels.moved()
                at = path()
                found = await self.notebook_kernels.of(at)
                if at == path():
                    return found or shown

        async def change(kernel_id: str, spec: str) -> None:
            await self.notebook_kernels.change(path(), kernel_id, spec)

        specs = KernelSpecs(self.notebook_kernels.specs, change)
        return ZmqKernel(self._kernels, current_id, specs)

    @cached_property
    def _rooms(self) -> ServerYDoc | None:
        """Where several people share a notebook; None without jupyter-collaboration."""
        enabled = getattr(self._server_extensions, "extension_points", {})
        if SHARING not in enabled:
            return None
        from ..notebook.room import found  # loads pycrdt

        return found(enabled, self.contents)

    def _make_file_writer(self, notebook: LiveNotebook) -> FileWriter:
        """The writer for a notebook that no window edits: its room if it has one, or its file."""
        document = self._make_file_document(notebook)
        if self._rooms is None:
            return document
        from ..notebook.room import RoomDocument

        return RoomDocument(notebook, self._rooms, document.look)

    def _make_file_document(self, notebook: LiveNotebook) -> FileDocument:
        from ..notebook.file import ContentsFile, FileDocument  # not at the server's start

        def answer(reply: OpReceipt | SnapshotTaken) -> None:
            if isinstance(reply, OpReceipt):
                notebook.receive(document, reply)
            else:
                notebook.answer(document, reply)

        file = ContentsFile(self.contents, lambda: notebook.path, notebook.is_elsewhere)
        document = FileDocument(file, answer, notebook.written, notebook.lost)
        return document

    async def close(self) -> None:
        """Close every part, also after one fails."""
        running: tuple[Any, ...] = (*self.features.closing, self.verifier, self.manager)
        kernels = [self._kernels] if "_kernels" in vars(self) else []
        for part in (*running, *kernels, self.models, self.store):
            try:
                await ensure_async(part.close())
            except Exception:
                log.exception("Could not close %s", type(part).__name__)


class NotebookWorkplace(Workplace):
    """The notebook of one session, its kernel and the files beside it."""

    document: SessionDocument

    def __init__(self, bench: Workbench, session_id: str, notebook: str) -> None:
        """``notebook``: the initial path; the notebook may move."""
        self._bench = bench
        self._session_id = session_id
        self._first = notebook
        self.document = SessionDocument(self._notebook, bench.store, session_id)
        self.kernel = bench.make_kernel(self._notebook)
        self.fresh_runs = NotebookRuns(bench.verifier, lambda: self._path)
        self.watch = bench.manager.stale_cells.watch

    def _notebook(self) -> LiveNotebook:
        return self._bench.manager.notebooks.of_session(self._session_id, self._first)

    @property
    def _path(self) -> str:
        return self._notebook().path

    @property
    def _place(self) -> tuple[Any, str]:
        return self._bench.contents, self._path

    def begin_turn(self, turn: int) -> None:
        self.document.begin_turn(turn)

    def end_turn(self) -> None:
        self.document.end_turn()
        self._bench.manager.notebooks.turn_over(self._session_id, self._path)

    def expect_no_window(self) -> None:
        self._notebook().hand_over.expect_no_window()

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        return await sibling_files(*self._place, most)

    async def read_file(self, name: str, most: int) -> bytes | None:
        return await read_sibling(*self._place, name, most)

    async def table_heads(self, names: Sequence[str]) -> dict[str, str]:
        return await sibling_heads(*self._place, names)

    async def rule_files(self) -> list[RuleFile]:
        return await rule_files(*self._place) if self._bench.settings.read_rule_files else []

    async def skills(self) -> list[Skill]:
        return await self._bench.skills(self._path)

    async def look_around(self) -> FolderScan | None:
        opened = self._bench.manager.notebooks.opened
        return await look_around(*self._place, lambda path: opened(path) is not None)

    async def more_tools(self, untrusted: Untrusted) -> MoreTools:
        features, session = self._bench.features, self._bench.manager.sessions.get(self._session_id)
        if session is not None and features.model_source(session.info.model) is not None:
            return MoreTools()
        more = [await source(untrusted) for source in features.tools]
        return MoreTools(
            tuple(tool for one in more for tool in one.tools),
            tuple(note for one in more for note in one.notes),
        )
