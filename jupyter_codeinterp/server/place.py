"""The notebook of one session, wherever it is by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..adapters.documents.live import LiveNotebook, SessionDocument

if TYPE_CHECKING:
    from .session_manager import SessionManager


class NotebookPlace:
    """Fulfils the core's ``Workplace``."""

    def __init__(self, manager: SessionManager, session_id: str, notebook: str) -> None:
        self._manager = manager
        self._session_id = session_id
        self._first = notebook
        self.document = SessionDocument(self._notebook, manager.store, session_id)
        self.kernel = manager.make_kernel(self._notebook)

    def _notebook(self) -> LiveNotebook:
        return self._manager.notebook_of(self._session_id, self._first)

    def begin_turn(self, turn: int) -> None:
        self.document.begin_turn(turn)

    def end_turn(self) -> None:
        self.document.end_turn()
        self._manager.turn_over(self._session_id, self._notebook().path)

    async def files(self) -> list[tuple[str, int]]:
        return await self._manager.files(self._notebook().path)
