"""The workplace of one session: its notebook, which may move, and the notebook's kernel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from ..adapters.documents.live import LiveNotebook, SessionDocument
from ..core.history.ledger import Store
from ..core.model_view.rule_files import RuleFile
from ..core.own_command import OwnCommand
from ..core.ports import Kernel, NewNotebooks
from ..core.turn.files import Seen
from ..core.turn.limits import MAX_FILES
from ..core.verify.verification import FreshRuns
from .files.live_notebooks import LiveNotebooks

if TYPE_CHECKING:
    from ..core.model_view.untrusted import Untrusted
    from ..core.staleness import Watch
    from ..core.tools.shared.base import MoreTools


@dataclass
class Surroundings:
    """What sessions need besides their notebook. The functions take its server path."""

    make_kernel: Callable[[Callable[[], LiveNotebook]], Kernel]
    files: Callable[[str, int], Awaitable[list[tuple[str, int]]]]
    """Names and sizes of files beside it, by their maximum number."""
    read_file: Callable[[str, str, int], Awaitable[Union[bytes, None]]]
    """A file beside it, by name and maximum size; None if it is larger or unreadable."""
    folder: Callable[[str], str]
    """Its folder as an absolute path; "" if unknown."""
    table_heads: Callable[[str, Sequence[str]], Awaitable[dict[str, str]]]
    """Descriptions of the tables beside it, by file name."""
    rule_files: Callable[[str], Awaitable[list[RuleFile]]]
    """The person's instruction files."""
    own_commands: Callable[[str], Awaitable[list[OwnCommand]]]
    """The person's commands and skills."""
    look_around: Callable[[str], Awaitable[Union[Seen, None]]]
    """The files below its folder; None if unknown."""
    more_tools: Callable[[str, str, Untrusted], Awaitable[MoreTools]]
    """Tools of features for a session, by its id and the path."""
    make_new_notebooks: Callable[[str, Callable[[], str]], Union[NewNotebooks, None]]
    """By session id. Lets the session continue in another notebook; None if it cannot."""
    make_fresh_runs: Callable[[Callable[[], str]], Union[FreshRuns, None]]
    """Runs the notebook in a fresh kernel; None if this is impossible."""


class NotebookPlace:
    """Implements the core's ``Workplace``."""

    def __init__(
        self,
        notebooks: LiveNotebooks,
        around: Surroundings,
        store: Store,
        watch: Watch,
        session_id: str,
        notebook: str,
    ) -> None:
        """``notebook``: the initial path."""
        self._notebooks = notebooks
        self._around = around
        self._session_id = session_id
        self._first = notebook
        self.document = SessionDocument(self._notebook, store, session_id)
        self.kernel = around.make_kernel(self._notebook)
        self.new_notebooks = around.make_new_notebooks(session_id, lambda: self._notebook().path)
        self.fresh_runs = around.make_fresh_runs(lambda: self._notebook().path)
        self.watch = watch

    def _notebook(self) -> LiveNotebook:
        return self._notebooks.of_session(self._session_id, self._first)

    def begin_turn(self, turn: int) -> None:
        self.document.begin_turn(turn)

    def end_turn(self) -> None:
        self.document.end_turn()
        self._notebooks.turn_over(self._session_id, self._notebook().path)

    def expect_no_window(self) -> None:
        self._notebook().expect_no_window()

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        return await self._around.files(self._notebook().path, most)

    async def read_file(self, name: str, most: int) -> bytes | None:
        return await self._around.read_file(self._notebook().path, name, most)

    def folder(self) -> str:
        return self._around.folder(self._notebook().path)

    async def table_heads(self, names: Sequence[str]) -> dict[str, str]:
        return await self._around.table_heads(self._notebook().path, names)

    async def rule_files(self) -> list[RuleFile]:
        return await self._around.rule_files(self._notebook().path)

    async def own_commands(self) -> list[OwnCommand]:
        return await self._around.own_commands(self._notebook().path)

    async def look_around(self) -> Seen | None:
        return await self._around.look_around(self._notebook().path)

    async def more_tools(self, untrusted: Untrusted) -> MoreTools:
        return await self._around.more_tools(self._session_id, self._notebook().path, untrusted)
