"""What a live notebook works with: windows, the file writer, and its owner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional, Protocol, TypeVar

import msgspec

from ...wire.commands import OpenNotebook, ServerFrame
from ...wire.ops import Receipt
from ...wire.stores import OpsBySession

NotebookT = TypeVar("NotebookT", contravariant=True)


class Window(Protocol):
    """One browser tab. ``send`` queues and never waits."""

    def send(self, frame: ServerFrame) -> None: ...


class WindowState(msgspec.Struct):
    """What a window reports of its copy, as in ``OpenNotebook``, and what the server adds."""

    applied: dict[str, int]
    kernel_id: str = ""
    saved: dict[str, int] = {}
    version: str = ""
    edited: bool = False
    collaborative: bool = False
    announcement: int = 0
    file: Optional[str] = None
    """The file's version when it was compared with the copy; None before."""
    missing_ops: OpsBySession = []
    """Saved ops that this copy needs again."""
    asked_to_reload: bool = False

    @classmethod
    def of(cls, command: OpenNotebook) -> WindowState:
        return cls(
            dict(command.applied),
            command.kernel_id,
            dict(command.saved),
            command.version,
            command.edited,
            command.collaborative,
            command.announcement,
        )


class FileWriter(Window, Protocol):
    """Works in the notebook's file, as a window does in its copy, while there is no window."""

    async def open(self, cells: Mapping[str, str]) -> tuple[dict[str, int], str]:
        """The ops that the file holds, and a remark for people ("": nothing). ``cells`` are
        sources by known ids, for a file that cannot store ids. Raises DocumentError if the file
        cannot be used."""

    async def close(self) -> None:
        """Finish and answer the current write; drop the rest."""

    async def look(self) -> tuple[str, dict[str, int]]:
        """The version of the file, opened or not, and the ops that it holds. Raises
        DocumentError."""

    def look_for(self, cell_id: str) -> None:
        """A view of the room misses this cell: tell the notebook if the room has none."""


class Owner(Protocol[NotebookT]):
    """Knows the journal and the conversations of a notebook."""

    @property
    def has_rooms(self) -> bool:
        """Whether windows may share a notebook in a room of this server. The file writer then
        works in the room."""

    def file_writer(self, notebook: NotebookT) -> FileWriter: ...

    def ops(self, notebook: NotebookT, seqs: Mapping[str, int]) -> OpsBySession:
        """The ops of these sessions with higher numbers, in the journal's order."""

    def saved(self, saved: Mapping[str, int]) -> None:
        """Each session's ops up to these numbers are in the file or given up: never do them
        again."""

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None:
        """A receipt for an op that had been given up as pending."""

    def gone(self, notebook: NotebookT, words: str) -> None:
        """The notebook has no file any more."""

    def cells_gone(self, notebook: NotebookT, cell_ids: frozenset[str]) -> None:
        """People have deleted these cells in the notebook's room."""

    def not_saved(self, session_ids: frozenset[str], words: str) -> None:
        """What these conversations have done could not be saved."""

    def note(self, notebook: NotebookT, words: str) -> None:
        """Add a remark to the running conversations about the notebook."""
