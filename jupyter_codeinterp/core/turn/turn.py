"""What one turn works with, and the result that a tool call leaves behind."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

import msgspec

from ..approval.decisions import Decisions
from ..approval.markdown_cells import MarkdownRisks, not_checked
from ..approval.modes import MODES, Permissions
from ..document.ops import CellView, Delete, FinishRun, Op, Output, Receipt, Snapshot
from ..errors import KernelError, StoreError
from ..events import Mode, Status, ToolDone
from ..history.ledger import Ledger
from ..hooks.hooks import Hooks
from ..messages import Image, Text, ToolResult, ToolUse
from ..model_view import outputs
from ..model_view.context import Context
from ..model_view.foreign import Foreign, bare
from ..model_view.outputs import Seen
from ..off_loop import INLINE, off_loop
from ..ports import Document, ExecutionDone, Kernel, KernelInfo
from ..redaction.private_names import PrivateNames, Variables
from ..stores import SessionStore
from .limits import Limits
from .loop_guard import LoopGuard

T = TypeVar("T")

log = logging.getLogger(__name__)

UNREADABLE = "[The outputs could not be read.]"

ANCHORS = 5
"""How many preceding cells an insert names, so that a deleted anchor is no loss."""


class Result(msgspec.Struct, frozen=True):
    """What a tool call came to: ``block`` for the model, ``done`` for people."""

    block: ToolResult
    done: ToolDone
    error_signature: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.block.content if isinstance(part, Text))


class StoppedRun(Protocol):
    """A run that Stop has ended for the turn, though perhaps not in the kernel."""

    async def has_obeyed(self) -> bool:
        """Whether the kernel has ended it since, or had not begun it."""


@dataclass
class Turn:
    """One turn of one session. The mode may change while it goes on."""

    number: int
    session_id: str
    model: str
    mode: Mode
    always_ask: bool
    document: Document
    kernel: Kernel
    store: SessionStore
    decisions: Decisions
    ledger: Ledger
    context: Context
    limits: Limits
    foreign: Foreign
    """For everything that is not the model's or our own, on its way to the model."""
    journal_failed: Callable[[StoreError], None]
    """To be told of what cannot be journaled, where the turn cannot simply fail."""
    private: PrivateNames = field(default_factory=PrivateNames)
    hooks: Hooks = field(default_factory=Hooks)
    markdown_risks: MarkdownRisks = not_checked
    since: int = 0
    """The turn in which the person asked; an earlier one if it is tried again."""
    may_run_all: bool = True
    """Whether a card may offer "Run all in this turn"."""
    images: int = 0
    """Images in the conversation so far."""
    kernel_start: tuple[str, int] | None = None
    """Kernel id and start that the agent's last cell ran in, or that the turn began with."""
    snapshot: Snapshot = field(default_factory=lambda: Snapshot(""))
    files: list[tuple[str, int]] = field(default_factory=list)
    guard: LoopGuard = field(default_factory=LoopGuard)
    started: float = field(default_factory=time.monotonic)
    placed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Cells that this turn has inserted, the latest last, with the ids above each."""
    disobeying: StoppedRun | None = None
    """A stopped run that the kernel had not ended in time."""
    over: bool = False
    """Whether all that is left to do is to leave order behind."""
    owed: list[Op] = field(default_factory=list)
    """Ops that end something in the notebook, and could not be journaled when it ended."""
    _attended: float = 0.0
    """Seconds that it has waited for the person."""
    _posted: set[asyncio.Future[Any]] = field(default_factory=set)

    @property
    def scrub(self) -> Callable[[str], str]:
        return self.foreign.scrub

    # --- the notebook ----------------------------------------------------------------

    def apply(self, op: Op) -> asyncio.Future[Receipt]:
        """Post an op now, in order; its receipt, once the ledger has it, may be awaited.

        Raises StoreError if it cannot be journaled. The end of something that stands in the
        notebook is owed then, and pending.
        """
        try:
            posted = self.document.apply(op)
        except StoreError as error:
            if not self.over and not isinstance(op, FinishRun):
                raise
            self.owed.append(op)
            self.journal_failed(error)
            pending: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
            pending.set_result(Receipt("pending"))
            return pending
        answer = asyncio.ensure_future(self._recorded(op, posted))
        self._keep(answer)
        return asyncio.shield(answer)

    def pay(self) -> None:
        """Post what is owed, as far as it can be journaled by now."""
        owed, self.owed = self.owed, []
        for op in owed:
            self.apply(op)

    async def _recorded(self, op: Op, answer: Awaitable[Receipt]) -> Receipt:
        receipt = await answer
        self.ledger.record(self.number, op, receipt)
        return receipt

    def take_out(self, cell_id: str, source: str) -> None:
        """Delete a draft's cell, also if the person has typed into it since ``source``."""
        self.placed.pop(cell_id, None)
        self._keep(
            asyncio.ensure_future(self._taken_out(self.apply(Delete(cell_id, source)), cell_id))
        )

    async def _taken_out(self, answer: Awaitable[Receipt], cell_id: str) -> None:
        receipt = await answer
        if receipt.status == "conflict":
            await self.apply(Delete(cell_id, receipt.source))

    def _keep(self, task: asyncio.Future[Any]) -> None:
        self._posted.add(task)
        task.add_done_callback(self._posted.discard)

    async def settled(self, seconds: float) -> None:
        """Wait for the receipts of what has been posted, but not longer."""
        deadline = time.monotonic() + seconds
        while self._posted and (left := deadline - time.monotonic()) > 0:
            await asyncio.wait(set(self._posted), timeout=left)

    async def look(self) -> Snapshot:
        self.snapshot = await self.document.snapshot()
        self.private.learn(self.snapshot.cells)
        return self.snapshot

    async def look_at(self, cell_id: str) -> CellView | None:
        """One cell as it is now; None if there is none. The others stay as they were seen."""
        cells = await self.document.cells((cell_id,))
        self.private.learn(cells)
        cell = next((cell for cell in cells if cell.cell_id == cell_id), None)
        self.snapshot = self.snapshot.with_cell(cell_id, cell, self.above(cell_id))
        return cell

    async def variables(self, names: tuple[str, ...] = ()) -> Variables:
        """As the kernel tells them, but for the values of private ones."""
        return self.private.veil(await self.kernel.variables(names))

    def above(self, cell_id: str) -> tuple[str, ...]:
        """``cell_id`` and the cells above it, nearest first: where an insert goes."""
        ids = [cell.cell_id for cell in self.snapshot.cells]
        if cell_id in ids:
            end = ids.index(cell_id) + 1
            return tuple(reversed(ids[max(0, end - ANCHORS) : end]))
        return (cell_id, *self.placed.get(cell_id, ()))[:ANCHORS]

    def place(self) -> tuple[str, ...]:
        """Where a new cell goes: after the agent's last, else the active one, else the end."""
        ids = {cell.cell_id for cell in self.snapshot.cells} | self.placed.keys()
        unconfirmed = [cell_id for cell_id in self.placed if cell_id not in self.ledger.touched]
        for cell_id in reversed([*self.ledger.touched, *unconfirmed]):
            if cell_id in ids:
                return self.above(cell_id)
        if self.snapshot.active_cell_id:
            return self.above(self.snapshot.active_cell_id)
        return self.above(self.snapshot.cells[-1].cell_id) if self.snapshot.cells else ()

    def knows(self, cell_id: str) -> bool:
        return cell_id in self.ledger.touched or self.snapshot.cell(cell_id) is not None

    def known_ids(self) -> str:
        ids = [cell.cell_id for cell in self.snapshot.cells][-30:]
        known = dict.fromkeys([*ids, *self.ledger.touched[-10:]])
        return ", ".join(" ".join(cell_id.split())[:100] for cell_id in known) or "none"

    async def kernel_info(self) -> KernelInfo | None:
        try:
            return await self.kernel.info()
        except KernelError:
            return None

    # --- limits ----------------------------------------------------------------------

    @property
    def allowed(self) -> Permissions:
        """What the mode allows, as it is now."""
        return MODES[self.mode]

    async def attend(self, answer: Awaitable[T]) -> T:
        """Wait for the person. That time is not the turn's own."""
        began = time.monotonic()
        try:
            return await answer
        finally:
            self._attended += time.monotonic() - began

    @property
    def unattended(self) -> float:
        """Seconds that it has worked by itself."""
        return time.monotonic() - self.started - self._attended

    @property
    def cell_timeout(self) -> float | None:
        limits = self.limits
        return limits.cell_timeout if self.allowed.unasked else limits.review_cell_timeout

    # --- results ---------------------------------------------------------------------

    async def see(self, cell_outputs: Sequence[Output]) -> Seen:
        """The outputs as the model sees them."""
        left, scrub = self.images_left, self.scrub
        return await off_loop(
            lambda: outputs.see(cell_outputs, images_left=left, scrub=scrub),
            outputs.size(cell_outputs),
            lambda: Seen(UNREADABLE),
        )

    def see_at_once(self, cell_outputs: Sequence[Output]) -> Seen:
        """The same after Stop, which waits for nothing: less is read, and no image."""
        try:
            return outputs.see(cell_outputs, images_left=None, scrub=self.scrub, most=INLINE)
        except Exception:
            log.warning("Outputs could not be read", exc_info=True)
            return Seen(UNREADABLE)

    def result(
        self,
        call: ToolUse,
        status: Status,
        body: str = "",
        *,
        title: str = "",
        cell_id: str = "",
        is_error: bool | None = None,
        summary: str = "",
        images: tuple[Image, ...] = (),
        quoted: str = "",
    ) -> Result:
        """A result of something else than a run. ``body`` is ours; ``quoted``, which follows
        it, is of others, inert and between delimiters."""
        words = self.foreign.inert(body)
        text = self.scrub(
            outputs.result_text(
                status=status,
                cell_id=cell_id,
                body="\n".join(part for part in (words, quoted) if part),
            )
        )
        failed = status in ("error", "not_started", "not_confirmed")
        self.images += len(images)
        content: tuple[Text | Image, ...] = (Text(text), *images)
        block = ToolResult(call.id, content, failed if is_error is None else is_error)
        done = ToolDone(
            call_id=call.id,
            name=call.name,
            title=title or call.name,
            status=status,
            cell_id=cell_id,
            summary=self.scrub(summary),
            detail=bare(text),
            images=len(images),
        )
        return Result(block, done)

    def rejected(
        self,
        call: ToolUse,
        body: str,
        title: str,
        cell_id: str,
        summary: str = "",
        quoted: str = "",
    ) -> Result:
        """A result of something that a person, or the policy, did not let happen."""
        return self.result(
            call,
            "rejected",
            body,
            title=title,
            cell_id=cell_id,
            is_error=True,
            summary=summary or body.split("\n")[0],
            quoted=quoted,
        )

    @property
    def images_left(self) -> int:
        """How many more images the conversation may have."""
        return max(0, outputs.IMAGES_A_CONVERSATION - self.images)

    def output_result(
        self,
        call: ToolUse,
        status: Status,
        *,
        title: str,
        cell_id: str,
        source: str,
        done: ExecutionDone,
        seen: Seen,
        notes: tuple[str, ...] = (),
        mended: bool = False,
    ) -> Result:
        """The result of a run: status, outputs, images, as the model sees them (``seen``).
        ``cell_id`` is "" if it was not in a cell of this notebook; ``notes`` are inert."""
        if cell_id:
            self._keep_outputs(cell_id, done.outputs)
        self.images += len(seen.images)
        text = self.scrub(
            outputs.result_text(
                status=status,
                cell_id=cell_id,
                execution_count=done.execution_count,
                elapsed=done.elapsed,
                body=self.foreign.quoted(seen.text) if seen.text else "",
                notes=notes,
            )
        )
        content: tuple[Text | Image, ...] = (Text(text), *seen.images)
        told = ToolDone(
            call_id=call.id,
            name=call.name,
            title=title,
            status=status,
            cell_id=cell_id,
            execution_count=done.execution_count,
            elapsed=done.elapsed,
            summary=outputs.summary(done.outputs, self.scrub),
            detail=bare(text),
            images=len(seen.images),
            mended=mended,
        )
        signature = outputs.error_signature(done.outputs, source) if status == "error" else None
        return Result(ToolResult(call.id, content, status != "ok"), told, signature)

    def _keep_outputs(self, cell_id: str, cell_outputs: tuple[Output, ...]) -> None:
        """For ``read_output``. The code has run: there is a result in any case."""
        try:
            self.store.put_outputs(self.session_id, cell_id, cell_outputs)
        except StoreError as error:
            self.journal_failed(error)


def identity(info: KernelInfo) -> tuple[str, int]:
    """A kernel and its start: what a decision is good for."""
    return info.kernel_id, info.start


def new_cell_id() -> str:
    return uuid.uuid4().hex[:8]
