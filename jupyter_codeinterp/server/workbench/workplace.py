"""The notebook of one session, its kernel and the files beside it, on a Jupyter server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...adapters.documents.live import LiveNotebook, SessionDocument
from ...core.model_view.rule_files import RuleFile
from ...core.own_command import OwnCommand
from ...core.ports import OutsideTools
from ...core.turn.files import Seen
from ...core.turn.limits import MAX_FILES
from ...core.turn.workplace import Workplace
from ..files.paths import folder_of
from ..files.rule_files import rule_files
from ..files.scan import look_around
from ..files.siblings import read_sibling, sibling_files, sibling_heads
from ..mcp.clients import MODELS
from ..verify import NotebookRuns

if TYPE_CHECKING:
    from .workbench import Workbench


class NotebookWorkplace(Workplace):
    document: SessionDocument

    def __init__(self, bench: Workbench, session_id: str, notebook: str) -> None:
        """``notebook``: the initial path; the notebook may move."""
        self._bench = bench
        self._session_id = session_id
        self._first = notebook
        self.document = SessionDocument(self._notebook, bench.store, session_id)
        self.kernel = bench.make_kernel(self._notebook)
        self.new_notebooks = bench.new_notebooks(session_id, lambda: self._path)
        self.fresh_runs = NotebookRuns(bench.verifier, lambda: self._path)
        self.watch = bench.manager.stale_cells.watch

    def _notebook(self) -> LiveNotebook:
        return self._bench.manager.notebooks.of_session(self._session_id, self._first)

    @property
    def _path(self) -> str:
        return self._notebook().path

    @property
    def _place(self) -> tuple[Any, str]:
        return self._bench.place_of(self._path)

    def begin_turn(self, turn: int) -> None:
        self.document.begin_turn(turn)

    def end_turn(self) -> None:
        self.document.end_turn()
        self._bench.manager.notebooks.turn_over(self._session_id, self._path)

    def expect_no_window(self) -> None:
        self._notebook().expect_no_window()

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        return await sibling_files(*self._place, most)

    async def read_file(self, name: str, most: int) -> bytes | None:
        return await read_sibling(*self._place, name, most)

    def folder(self) -> str:
        return folder_of(*self._place)

    async def table_heads(self, names: Sequence[str]) -> dict[str, str]:
        return await sibling_heads(*self._place, names)

    async def rule_files(self) -> list[RuleFile]:
        return await rule_files(*self._place) if self._bench.settings.read_rule_files else []

    async def own_commands(self) -> list[OwnCommand]:
        return await self._bench.own_commands(self._path)

    async def look_around(self) -> Seen | None:
        return await look_around(self._bench.contents, self._path)

    async def outside_tools(self) -> tuple[OutsideTools, list[str]] | None:
        session = self._bench.manager.live(self._session_id)
        if session is not None and session.info.model.startswith(MODELS):
            return None  # An outside client has tools of its own.
        contents, path = self._place
        return await self._bench.tool_servers.for_session(self._session_id, path, contents)
