"""What happens while no window has a notebook open: after a grace time somebody works in its
file, and makes room when a window is back (docs/adr/0004-hand-over.md).

Who has the lease is the notebook's to say; it is told here who can have it.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine, Mapping
from typing import Generic, Protocol, TypeVar

from ....core.errors import DocumentError
from .parties import FileWriter, Owner, Window, WindowState

NO_FILE = "no_file"
IN_FILE = "No window has the notebook open: the work goes on in its file."
UNSAVED = (
    "The notebook has unsaved changes in a window that is out of reach. "
    "Bring that window back, or open the notebook anew."
)


class HandedOver(Protocol):
    """The notebook, as far as it is told here who can have its lease."""

    def grant(self, holder: Window, applied: Mapping[str, int]) -> None: ...

    def vacate(self) -> None: ...

    def offer_next(self) -> None: ...

    def offer_to(self, window: Window, state: WindowState) -> None: ...

    def nobody_works(self, reason: str) -> None: ...


NotebookT = TypeVar("NotebookT", bound=HandedOver)


class HandOver(Generic[NotebookT]):
    def __init__(
        self,
        notebook: NotebookT,
        owner: Owner[NotebookT] | None,
        grace: float,
        leave_grace: float,
    ) -> None:
        """``grace`` is how long (seconds) a window may be away, ``leave_grace`` how long one
        that has said that it goes. Without an ``owner`` nobody stands in."""
        self.file_writer: FileWriter | None = None
        self.version = ""
        """Names the file as the file writer has written it last; "" where a window knows best."""
        self.why_nobody = ""
        """Why nobody can work in the notebook, and nobody is being waited for."""
        self.headless = False
        """Whether no window is waited for."""
        self._notebook = notebook
        self._owner = owner
        self._grace = grace
        self._leave_grace = min(grace, leave_grace)
        self._awaited: dict[Window | None, float] = {None: _now() + grace}
        """Who may come back, and until when: the windows that left since one was here last."""
        self._sooner = asyncio.Event()
        """One of them has said that it does not."""
        self._left_edited = False
        """Whether a window has gone with changes of the person's own that the file lacks."""
        self._change: asyncio.Task[None] | None = None
        """The file writer's coming or going, or a look at the file."""
        self._ending: asyncio.Future[None] | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing would be lost without it."""
        return not (self.file_writer or self.version or self._left_edited or self.headless)

    @property
    def under_way(self) -> bool:
        return self._change is not None

    # --- windows come and go ---------------------------------------------------------

    def nobody_comes(self) -> None:
        """No window is waited for, until one comes by itself. What one that is gone has left
        unsaved still keeps all others from the file."""
        self.headless, self.why_nobody = True, ""
        self._awaited.clear()
        self._sooner.set()

    def window_came(self) -> None:
        self.headless, self._left_edited, self.why_nobody = False, False, ""
        self._awaited.clear()

    def window_left(self, window: Window, *, edited: bool, said_so: bool) -> None:
        """``edited``: with changes of the person's own that the file lacks. ``said_so``: it
        is not only its socket that is gone."""
        self._awaited[window] = _now() + (self._leave_grace if said_so else self._grace)
        self._left_edited = self._left_edited or edited

    def window_goes(self, window: Window) -> None:
        """A window that has left already says that it does not only connect again."""
        if window in self._awaited:
            self._awaited[window] = min(self._awaited[window], _now() + self._leave_grace)
            self._sooner.set()

    # --- to the file and back --------------------------------------------------------

    def to_file(self) -> None:
        """Something waits and no window is there. If none comes in time, somebody works in
        the file."""
        if self._owner is not None and self._change is None and not self.why_nobody:
            self._begin(self._to_file(self._owner))

    async def _to_file(self, owner: Owner[NotebookT]) -> None:
        while (wait := max(self._awaited.values(), default=0.0) - _now()) > 0:
            self._sooner.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._sooner.wait(), wait)
        file_writer = owner.file_writer(self._notebook)
        if file_writer is None:
            return
        if self._left_edited:
            self._nobody(UNSAVED)
            return
        try:
            applied, known = await file_writer.open()
        except DocumentError as error:
            self._nobody(error.message)
            if error.code == NO_FILE:
                owner.gone(self._notebook, error.message)
            return
        owner.note(self._notebook, f"{IN_FILE} {known}".strip())
        self.file_writer = file_writer
        self._notebook.grant(file_writer, applied)

    def to_window(self) -> None:
        """A window is there again: the lease is free as soon as the file writer has ended."""
        if self._change is None or self._change.done():
            self._begin(self._to_window())

    async def _to_window(self) -> None:
        if self.file_writer is not None:
            await self.file_writer.close()
        self.file_writer = None
        self._notebook.vacate()
        self._change = None
        self._notebook.offer_next()

    def lost(self, reason: str, gone: bool = False) -> None:
        """The file writer cannot work in the file any longer; ``gone``: there is none."""
        self.file_writer = None
        self._notebook.vacate()
        self._nobody(reason)
        if gone and self._owner is not None:
            self._owner.gone(self._notebook, reason)

    def give_up(self, reason: str) -> None:
        """The notebook is no more: nobody works in it from now on."""
        self.stop()
        if self.file_writer is not None:
            self._ending = asyncio.ensure_future(self.file_writer.close())
        self.lost(reason)

    def _nobody(self, reason: str) -> None:
        self.why_nobody = reason
        self._notebook.nobody_works(reason)

    # --- what a window has -----------------------------------------------------------

    def look(self, window: Window, state: WindowState, saved: Mapping[str, int]) -> None:
        """Has the window an old copy, or has an old file been put back? The lease is offered
        again when that is known."""
        if self._owner is not None:
            self.stop()
            self._begin(self._look(self._owner, window, state, saved))

    async def _look(
        self, owner: Owner[NotebookT], window: Window, state: WindowState, saved: Mapping[str, int]
    ) -> None:
        file, holds = state.version, dict[str, int]()
        file_writer = owner.file_writer(self._notebook)
        if file_writer is not None:
            with contextlib.suppress(DocumentError):  # then the window knows best
                file, holds = await file_writer.look()
        state.file = file
        if state.edited and file != state.version:
            # An old copy that the person has edited gets what the file has since.
            for session_id in saved:
                above = owner.ops(session_id, state.applied.get(session_id, 0))
                last = holds.get(session_id, 0)
                state.lacks[session_id] = [op for op in above if op.seq <= last]
        self._change = None
        self._notebook.offer_to(window, state)

    # --- one change at a time --------------------------------------------------------

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = self._change = asyncio.ensure_future(work)

        def over(_: object) -> None:
            if self._change is task:
                self._change = None

        task.add_done_callback(over)

    def stop(self) -> None:
        """A window is in time, or nobody needs it any longer."""
        if self._change is not None:
            self._change.cancel()
            self._change = None

    async def aclose(self) -> None:
        """What is being written to the file is written."""
        if self.file_writer is not None:
            await self.file_writer.close()


def _now() -> float:
    return asyncio.get_running_loop().time()
