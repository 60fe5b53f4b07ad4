"""The notebook of one session, wherever it is by now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..adapters.live_document import LiveNotebook, SessionDocument

if TYPE_CHECKING:
    from .hub import Hub


class NotebookPlace:
    """Fulfils the core's ``Workplace``."""

    def __init__(self, hub: Hub, session_id: str, notebook: str) -> None:
        self._hub = hub
        self._session_id = session_id
        self._first = notebook
        self.document = SessionDocument(self._notebook, hub.store, session_id)
        self.kernel = hub.make_kernel(self._notebook)

    def _notebook(self) -> LiveNotebook:
        return self._hub.notebook_of(self._session_id, self._first)

    def begin_turn(self, turn: int) -> None:
        self.document.begin_turn(turn)

    def end_turn(self) -> None:
        self.document.end_turn()
        self._hub.turn_over(self._session_id, self._notebook().path)

    async def files(self) -> list[tuple[str, int]]:
        return await self._hub.files(self._notebook().path)
