"""The notebook of one session, wherever it is by now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol, Union

from ..adapters.documents.live import LiveNotebook, SessionDocument
from ..core.model_view.rule_files import RuleFile
from ..core.ports import Kernel
from ..core.stores import OpStore
from ..core.turn.files import Seen
from ..core.turn.limits import MAX_FILES

Files = Callable[[str, int], Awaitable[list[tuple[str, int]]]]
"""Names and sizes of at most so many files beside a notebook (its server path)."""

ReadFile = Callable[[str, str, int], Awaitable[Union[bytes, None]]]
"""A file beside a notebook (its server path), by name; None if it has more bytes than that, or
cannot be read."""

LookAround = Callable[[str], Awaitable[Union[Seen, None]]]
"""What lies under the folder of a notebook (its server path); None where that is not known."""


RuleFiles = Callable[[str], Awaitable[list[RuleFile]]]
"""The files of wishes for a notebook (its server path)."""


class LiveNotebooks(Protocol):
    """What is asked of the session manager."""

    make_kernel: Callable[[Callable[[], LiveNotebook]], Kernel]
    files: Files
    read_file: ReadFile
    rule_files: RuleFiles
    look_around: LookAround

    @property
    def store(self) -> OpStore: ...

    def notebook_of(self, session_id: str, path: str) -> LiveNotebook: ...

    def turn_over(self, session_id: str, path: str) -> None: ...


class NotebookPlace:
    """Fulfils the core's ``Workplace``."""

    def __init__(self, manager: LiveNotebooks, session_id: str, notebook: str) -> None:
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

    def nobody_comes(self) -> None:
        self._notebook().nobody_comes()

    async def files(self, most: int = MAX_FILES) -> list[tuple[str, int]]:
        return await self._manager.files(self._notebook().path, most)

    async def read_file(self, name: str, most: int) -> bytes | None:
        return await self._manager.read_file(self._notebook().path, name, most)

    async def rule_files(self) -> list[RuleFile]:
        return await self._manager.rule_files(self._notebook().path)

    async def look_around(self) -> Seen | None:
        return await self._manager.look_around(self._notebook().path)
