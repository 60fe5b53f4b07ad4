"""The runs whose outputs people want kept, and whether their page still follows them.

A page follows its own runs: it gets the kernel's messages and writes the outputs into its own
copy. While it does, the server only gathers. Once the page has gone, a ``Delivery`` brings the
outputs into the notebook. A page that comes back after all ignores that for runs of its own.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...adapters.documents.live import LiveNotebook
from ...core.commands import OpenNotebook, OutputsNotKept, OwnRun
from ...core.document.ops import Receipt
from ...core.errors import KernelError
from ..windows.broadcaster import FrontWindow
from .delivery import OWN, Delivery
from .lost_runs import LOST, LostRuns

if TYPE_CHECKING:
    from ...adapters.kernels.zmq import GatheredRun, KernelLink  # not at the server's start

MOST = 200
"""Runs at a time. Further ones are not kept."""

log = logging.getLogger(__name__)


class _Kept:
    def __init__(
        self, notebook: LiveNotebook, window: int, command: OwnRun, link: KernelLink
    ) -> None:
        self.notebook = notebook
        self.window = window
        """The page that follows it; 0: none any more."""
        self.command = command
        self.link = link
        self.run: GatheredRun = link.others.claim(command.msg_id)
        self.delivery: Delivery | None = None
        self.task: asyncio.Task[None] | None = None
        self.leaving: asyncio.TimerHandle | None = None


class OwnRuns:
    def __init__(
        self,
        link: Callable[[str], KernelLink] | None,
        grace: float,
        lost: LostRuns | None = None,
    ) -> None:
        """``link`` connects to a kernel; None: the admin does not allow to keep outputs.
        ``grace``: seconds that a page whose socket is gone may take to come back. ``lost``
        remembers runs beyond the server's end."""
        self._link = link
        self._grace = grace
        self._lost = lost
        self._kept: dict[str, _Kept] = {}
        """By request."""
        self._untold: dict[str, str] = {}
        """What the next window of a notebook is to be told, by path."""

    # --- what pages report -----------------------------------------------------------

    def opened(self, window: FrontWindow, notebook: LiveNotebook, command: OpenNotebook) -> None:
        """A page has the notebook open, for the first time or again."""
        if command.keep_outputs:
            self.listen(command.kernel_id)
            self._tell_late(window, notebook.path)
        for kept in self._of(notebook):
            follows = kept.command.msg_id in command.own_runs
            if kept.window == window.number:
                self._back(kept, follows=follows)
            elif kept.delivery is not None and not kept.delivery.begun and follows:
                self._take_back(kept, window.number)
            elif kept.delivery is not None:
                kept.delivery.look()

    def _tell_late(self, window: FrontWindow, path: str) -> None:
        words = self._untold.pop(path, "")
        if words:
            window.send(OutputsNotKept(path, words))
        if self._lost is not None and self._lost.take(path, self._kept):
            window.send(OutputsNotKept(path, LOST))

    def listen(self, kernel_id: str) -> None:
        """Connect to the kernel before the person runs anything in it."""
        if self._link is None or not kernel_id:
            return
        try:
            link = self._link(kernel_id)
            link.connect()
        except KernelError as error:
            log.debug("Cannot follow kernel %s: %s", kernel_id, error.message)
        else:
            link.others.active = True

    def report(self, window: int, notebook: LiveNotebook, command: OwnRun) -> None:
        """The page began a run, or follows it to the end. Raises KernelError without such a
        kernel."""
        known = self._kept.get(command.msg_id)
        if known is not None or command.ended:
            if known is not None and command.ended and known.window == window:
                self._back(known, follows=False)
            return
        if self._link is None:
            return
        for earlier in self._of(notebook):
            if earlier.command.cell_id == command.cell_id:
                self._drop(earlier)
        link = self._link(command.kernel_id)
        if command.msg_id in link.listeners or len(self._kept) >= MOST:
            return  # The agent's own run, or too many.
        link.connect()
        self._kept[command.msg_id] = _Kept(notebook, window, command, link)
        notebook.kept_runs += 1

    def closed(self, window: int, notebook: LiveNotebook | None) -> None:
        """The person closed the notebook; the page itself may stay."""
        for kept in self._of(notebook):
            if kept.window == window:
                self._gone(kept)

    def left(self, window: int, *, announced: bool) -> None:
        """The page's socket is gone; ``announced``: the page, too."""
        for kept in list(self._kept.values()):
            if not window or kept.window != window:
                continue
            if announced:
                self._gone(kept)
            elif kept.leaving is None:
                loop = asyncio.get_running_loop()
                kept.leaving = loop.call_later(self._grace, self._gone, kept)

    def gone(self, notebook: LiveNotebook) -> None:
        """The notebook has no file any more."""
        for kept in self._of(notebook):
            self._stop_timer(kept)
            if kept.task is not None:
                kept.task.cancel()
            self._release(kept)

    def late(self, number: int, receipt: Receipt) -> None:
        """A receipt for an op that had been given up as pending."""
        for kept in list(self._kept.values()):
            if kept.delivery is not None:
                kept.delivery.late(number, receipt)

    # --- one run ---------------------------------------------------------------------

    def _of(self, notebook: LiveNotebook | None) -> list[_Kept]:
        return [kept for kept in self._kept.values() if kept.notebook is notebook]

    def _back(self, kept: _Kept, *, follows: bool) -> None:
        """The page is there: it follows the run, or has followed it to its end."""
        self._stop_timer(kept)
        if not follows:
            self._drop(kept)

    def _take_back(self, kept: _Kept, window: int) -> None:
        """A page that was away for long follows the run after all."""
        assert kept.task is not None
        kept.task.cancel()
        kept.task, kept.delivery, kept.window = None, None, window

    def _gone(self, kept: _Kept) -> None:
        self._stop_timer(kept)
        kept.window = 0
        if kept.task is None:
            if self._lost is not None:
                self._lost.note(kept.notebook.path, kept.command.msg_id)
            kept.delivery = Delivery(kept.notebook, kept.command, kept.link, kept.run)
            kept.task = asyncio.ensure_future(self._deliver(kept, kept.delivery))

    async def _deliver(self, kept: _Kept, delivery: Delivery) -> None:
        try:
            await delivery.deliver(lambda words: self._tell(kept.notebook, words))
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("Could not keep the outputs of a cell in %s", kept.notebook.path)
        self._release(kept)

    def _tell(self, notebook: LiveNotebook, words: str) -> None:
        if notebook.has_window:
            notebook.tell(OutputsNotKept(notebook.path, words))
        else:
            self._untold[notebook.path] = words

    def _drop(self, kept: _Kept) -> None:
        """Nobody needs the outputs. What the notebook has begun to get comes to its end: the
        document ignores it if the cell has run again."""
        self._stop_timer(kept)
        if kept.task is None:
            self._release(kept)
        elif kept.delivery is not None and not kept.delivery.begun:
            kept.task.cancel()
            self._release(kept)

    def _release(self, kept: _Kept) -> None:
        if self._kept.pop(kept.command.msg_id, None) is None:
            return
        kept.link.others.release(kept.command.msg_id)
        if self._lost is not None:
            self._lost.forget(kept.command.msg_id)
        kept.notebook.kept_runs -= 1
        if not self._of(kept.notebook):
            kept.notebook.end_turn(OWN)

    def _stop_timer(self, kept: _Kept) -> None:
        if kept.leaving is not None:
            kept.leaving.cancel()
            kept.leaving = None

    def close(self) -> None:
        for kept in list(self._kept.values()):
            self._stop_timer(kept)
            if kept.task is not None:
                kept.task.cancel()
        self._kept.clear()
