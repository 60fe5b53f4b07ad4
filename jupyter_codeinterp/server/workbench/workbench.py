"""All objects that work in notebooks, wired on one screen: for a server and its windows, or for
one program alone.

Nothing here imports the model's SDK, touches the network or looks at files: that waits for
the first message.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, MutableMapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ...adapters.documents.live import FileWriter, LiveNotebook
from ...adapters.storage.sqlite import SqliteStore
from ...core.commands import OpReceipt, SnapshotTaken
from ...core.ports import Kernel
from ...core.redaction.secrets import Secrets
from ...core.turn.files import Seen
from ...core.turn.limits import MAX_FILES, Rules
from .. import extensions
from ..activity import Activity
from ..early import import_early
from ..files.beside import files_beside, read_beside
from ..files.file_ids import FileIds
from ..files.looking import look_around
from ..files.rule_files import rule_files
from ..models.spending import Spending
from ..names import Names
from ..notebook_kernels import NotebookKernels
from ..session_manager import SessionManager
from .models import make_models
from .settings import CodeInterpSettings

if TYPE_CHECKING:
    from ...adapters.kernels.zmq import KernelPool, ZmqKernel
    from ...adapters.providers.replay.recording import Recording
    from ...core.model_view.rule_files import RuleFile
    from ...core.tools.registry import ToolRegistry

log = logging.getLogger(__name__)


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
        recording: Recording | None = None,
    ) -> None:
        """``contents``, ``kernels`` and ``sessions`` are jupyter_server's managers. In ``noted``
        the last activity is noted; ``file_ids`` gives the manager of files' ids, if there is
        one. ``recording`` is played in place of the demo's."""
        self._contents = contents
        self._reads_rules = settings.read_rule_files
        self._kernel_manager = kernels
        self.secrets = Secrets()
        self.models = make_models(settings, self.secrets, recording)
        self.notebook_kernels = NotebookKernels(sessions, contents)
        self.store = SqliteStore(
            settings.folder / "sessions.db", self.secrets.scrub, settings.retention
        )
        if settings.day_cost is not None:
            self.models.spending = Spending(self.store, settings.day_cost)
        self._added_tools = functools.cache(extensions.tools)
        self._hooks = functools.cache(extensions.hooks)
        self.manager = SessionManager(
            self.store,
            model=self.models.get,
            default_model=self.models.default_for,
            make_kernel=self._make_kernel,
            files=self._files,
            read_file=self._read_file,
            rule_files=self._rule_files,
            look_around=self._look_around,
            rules=Rules(
                settings.limits,
                settings.highest_mode,
                self.secrets.scrub,
                markdown_risks=_markdown_risks,
            ),
            activity=Activity(noted, kernels, settings.wait_keeps_kernel),
            file_writer=self._make_file_writer,
            grace=settings.window_grace,
            leave_grace=settings.leave_grace,
            moved=self.notebook_kernels.move,
            seen=lambda path: self.file_ids.seen(path),
            tools=self._tools,
            hooks=self._hooks,
            early=self._early,
        )
        self.names = Names(self._kernel_at, self._files, self.manager.is_private)
        self.file_ids = FileIds(file_ids, self.manager.whereabouts.found)

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

    @cached_property
    def _kernels(self) -> KernelPool:
        from ...adapters.kernels.zmq import KernelPool  # not at the server's start

        return KernelPool(self._kernel_manager)

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

        from ...adapters.kernels.zmq import ZmqKernel

        return ZmqKernel(self._kernels, current_id)

    def _kernel_at(self, path: str) -> ZmqKernel:
        """The one that the notebook has, if it has one."""

        async def current_id() -> str | None:
            live = self.manager.opened(path)
            shown = live.kernel_id if live is not None else ""
            return shown or await self.notebook_kernels.of(path)

        from ...adapters.kernels.zmq import ZmqKernel

        return ZmqKernel(self._kernels, current_id)

    def _make_file_writer(self, notebook: LiveNotebook) -> FileWriter:
        """Who works in the notebook's file while no window has it open."""
        from ...adapters.documents.file import ContentsFile, FileDocument  # not at the start

        def answer(said: OpReceipt | SnapshotTaken) -> None:
            if isinstance(said, OpReceipt):
                notebook.receive(document, said)
            else:
                notebook.answer(document, said)

        async def is_elsewhere(path: str) -> bool:
            if not await notebook.is_elsewhere(path):
                self.file_ids.look_for(path)
            return notebook.path != path

        file = ContentsFile(self._contents, lambda: notebook.path, is_elsewhere)
        document = FileDocument(file, answer, notebook.written, notebook.lost)
        return document

    async def _look_around(self, notebook: str) -> Seen | None:
        return await look_around(self._contents, notebook)

    async def _files(self, notebook: str, most: int = MAX_FILES) -> list[tuple[str, int]]:
        return await files_beside(self._contents, notebook, most)

    async def _read_file(self, notebook: str, name: str, most: int) -> bytes | None:
        return await read_beside(self._contents, notebook, name, most)

    async def _rule_files(self, notebook: str) -> list[RuleFile]:
        return await rule_files(self._contents, notebook) if self._reads_rules else []

    async def close(self) -> None:
        await self.manager.close()
        if "_kernels" in vars(self):
            self._kernels.close()
        await self.models.close()
        self.store.close()
