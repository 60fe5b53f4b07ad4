"""The workplace of one session: its notebook, which may move, and the notebook's kernel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol, Union

from ..adapters.documents.live import LiveNotebook, SessionDocument
from ..core.history.outputs import Store
from ..core.model_view.rule_files import RuleFile
from ..core.own_commands.own_command import OwnCommand
from ..core.ports import Kernel, NewNotebooks
from ..core.tools.outside.port import OutsideTools
from ..core.turn.files import Seen
from ..core.turn.limits import MAX_FILES
from ..core.verify.verification import FreshRuns

if TYPE_CHECKING:
    from .windows.stale_cells import ReportedCells

Files = Callable[[str, int], Awaitable[list[tuple[str, int]]]]
"""Names and sizes of files beside a notebook, by its path and the maximum number."""

ReadFile = Callable[[str, str, int], Awaitable[Union[bytes, None]]]
"""A file beside a notebook, by the notebook's path, the name and the maximum size; None if it is
larger or unreadable."""

LookAround = Callable[[str], Awaitable[Union[Seen, None]]]
"""The files below a notebook's folder, by the notebook's path; None if unknown."""

RuleFiles = Callable[[str], Awaitable[list[RuleFile]]]
"""A notebook's instruction files, by its path."""

OwnCommands = Callable[[str], Awaitable[list[OwnCommand]]]
"""A person's commands and skills, by the notebook's path."""


GetOutsideTools = Callable[[str, str], Awaitable[Union[tuple[OutsideTools, list[str]], None]]]
"""Tools of MCP servers, by session id and the notebook's path; None if there are none."""

MakeFreshRuns = Callable[[Callable[[], str]], Union[FreshRuns, None]]
MakeNewNotebooks = Callable[[str, Callable[[], str]], Union[NewNotebooks, None]]
"""By session id, and a function that returns its notebook's path; None where not available."""


async def no_outside_tools(session_id: str, notebook: str) -> None:
    """Where no MCP servers are used."""


class LiveNotebooks(Protocol):
    """The part of the session manager that a workplace uses."""

    make_kernel: Callable[[Callable[[], LiveNotebook]], Kernel]
    files: Files
    read_file: ReadFile
    rule_files: RuleFiles
    own_commands: OwnCommands
    look_around: LookAround
    outside_tools: GetOutsideTools
    make_new_notebooks: MakeNewNotebooks
    make_fresh_runs: MakeFreshRuns

    @property
    def store(self) -> Store: ...

    @property
    def stale_cells(self) -> ReportedCells: ...

    def notebook_of(self, session_id: str, path: str) -> LiveNotebook: ...

    def turn_over(self, session_id: str, path: str) -> None: ...


class NotebookPlace:
    """Implements the core's ``Workplace``."""

    def __init__(self, manager: LiveNotebooks, session_id: str, notebook: str) -> None:
        self._manager = manager
        self._session_id = session_id
        self._first = notebook
        self.document = SessionDocument(self._notebook, manager.store, session_id)
        self.kernel = manager.make_kernel(self._notebook)
        self.new_notebooks = manager.make_new_notebooks(session_id, lambda: self._notebook().path)
        self.fresh_runs = manager.make_fresh_runs(lambda: self._notebook().path)
        self.watch = manager.stale_cells.watch

    def _notebook(self) -> LiveNotebook:
        return self._manager.notebook_of(self._session_id, self._first)

    def begin_turn(self, turn: int) -> None:
        self.document.begin_turn(turn)

    def end_turn(self) -> None:
        self.document.end_turn()
        self._manager.turn_over(self._session_id, self._notebook().path)

    def expect_no_window(self) -> None:
        self._notebook().expect_no_window()

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        return await self._manager.files(self._notebook().path, most)

    async def read_file(self, name: str, most: int) -> bytes | None:
        return await self._manager.read_file(self._notebook().path, name, most)

    async def rule_files(self) -> list[RuleFile]:
        return await self._manager.rule_files(self._notebook().path)

    async def own_commands(self) -> list[OwnCommand]:
        return await self._manager.own_commands(self._notebook().path)

    async def look_around(self) -> Seen | None:
        return await self._manager.look_around(self._notebook().path)

    async def outside_tools(self) -> tuple[OutsideTools, list[str]] | None:
        return await self._manager.outside_tools(self._session_id, self._notebook().path)
