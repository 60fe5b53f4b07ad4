"""What one turn works with, and the result that a tool call leaves behind."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import msgspec

from . import outputs
from .context import Context
from .decisions import Decisions
from .document import Op, Output, Receipt, Snapshot
from .errors import KernelError
from .events import Mode, Status, ToolDone
from .guard import LoopGuard
from .ledger import Changes, Ledger
from .messages import Image, Text, ToolResult, ToolUse
from .ports import Document, Kernel, KernelInfo, SessionStore

MAX_IMAGES = 19
"""Images in a conversation: past 20 the API limits each to 2,000 px."""
ANCHORS = 5
"""How many preceding cells an insert names, so that a deleted anchor is no loss."""


class Limits(msgspec.Struct, frozen=True):
    """Bounds of a turn. None means no bound.

    ``cell_timeout`` (seconds a cell, in Auto mode), ``turn_timeout`` (seconds of an
    unattended turn), ``cost`` (US dollars a turn; needs known prices).
    """

    steps: int = 25
    cell_timeout: float | None = 600.0
    review_cell_timeout: float | None = None
    turn_timeout: float | None = 3600.0
    cost: float | None = None
    context_share: float = 0.8


class Result(msgspec.Struct, frozen=True):
    """What a tool call came to: ``block`` for the model, ``done`` for people."""

    block: ToolResult
    done: ToolDone
    error_signature: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.block.content if isinstance(part, Text))


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
    scrub: Callable[[str], str]
    scale: Callable[[bytes, str], bytes | None] | None = None
    images: int = 0
    """Images in the conversation so far."""
    kernel_start: tuple[str, int] | None = None
    """Kernel id and start that the agent's last cell ran in, or that the turn began with."""
    snapshot: Snapshot = field(default_factory=lambda: Snapshot(""))
    files: list[tuple[str, int]] = field(default_factory=list)
    guard: LoopGuard = field(default_factory=LoopGuard)
    started: float = field(default_factory=time.monotonic)

    may_run_all: bool = True
    """Whether Auto is allowed here, so that a card may offer "Run all in this turn"."""
    _posted: set[asyncio.Future[Receipt]] = field(default_factory=set)

    def apply(self, op: Op) -> asyncio.Future[Receipt]:
        """Post an op now, in order; its receipt, once the ledger has it, may be awaited."""
        task = asyncio.ensure_future(self._recorded(op, self.document.apply(op)))
        self._posted.add(task)
        task.add_done_callback(self._posted.discard)
        return asyncio.shield(task)

    async def _recorded(self, op: Op, answer: Awaitable[Receipt]) -> Receipt:
        receipt = await answer
        self.ledger.record(self.number, op, receipt)
        return receipt

    async def look(self) -> Snapshot:
        self.snapshot = await self.document.snapshot()
        return self.snapshot

    def changes(self) -> Changes:
        return self.ledger.changes(self.number)

    def above(self, cell_id: str) -> tuple[str, ...]:
        """``cell_id`` and the cells above it, nearest first: where an insert goes."""
        ids = [cell.cell_id for cell in self.snapshot.cells]
        for touched in self.ledger.touched:
            if touched not in ids:
                ids.append(touched)
        if cell_id not in ids:
            return (cell_id,)
        end = ids.index(cell_id) + 1
        return tuple(reversed(ids[max(0, end - ANCHORS) : end]))

    def place(self) -> tuple[str, ...]:
        """Where a new cell goes: after the agent's last, else the active one, else the end."""
        ids = {cell.cell_id for cell in self.snapshot.cells}
        for cell_id in reversed(self.ledger.touched):
            if cell_id in ids or cell_id in self.changes().added:
                return self.above(cell_id)
        if self.snapshot.active_cell_id:
            return self.above(self.snapshot.active_cell_id)
        return self.above(self.snapshot.cells[-1].cell_id) if self.snapshot.cells else ()

    def knows(self, cell_id: str) -> bool:
        return cell_id in self.ledger.touched or self.snapshot.cell(cell_id) is not None

    def known_ids(self) -> str:
        ids = [cell.cell_id for cell in self.snapshot.cells][-30:]
        return ", ".join(dict.fromkeys([*ids, *self.ledger.touched[-10:]])) or "none"

    async def kernel_info(self) -> KernelInfo | None:
        try:
            return await self.kernel.info()
        except KernelError:
            return None

    @property
    def cell_timeout(self) -> float | None:
        auto = self.mode == "auto"
        return self.limits.cell_timeout if auto else self.limits.review_cell_timeout

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
    ) -> Result:
        """A result without outputs."""
        text = self.scrub(
            outputs.result_text(
                status=status, cell_id=cell_id, execution_count=None, elapsed=None, body=body
            )
        )
        failed = status in ("error", "not_started", "not_confirmed")
        block = ToolResult(call.id, (Text(text),), failed if is_error is None else is_error)
        done = ToolDone(
            call_id=call.id,
            name=call.name,
            title=title or call.name,
            status=status,
            cell_id=cell_id,
            summary=summary,
            detail=text,
        )
        return Result(block, done)

    def output_result(
        self,
        call: ToolUse,
        status: Status,
        *,
        title: str,
        cell_id: str,
        source: str,
        cell_outputs: tuple[Output, ...],
        execution_count: int | None,
        elapsed: float,
        notes: tuple[str, ...] = (),
        mended: bool = False,
    ) -> Result:
        """The result of a run: status, outputs, images, as the model sees them."""
        self.store.put_outputs(self.session_id, cell_id, cell_outputs)
        seen = outputs.see(
            cell_outputs, images_left=max(0, MAX_IMAGES - self.images), scale=self.scale
        )
        self.images += len(seen.images)
        text = self.scrub(
            outputs.result_text(
                status=status,
                cell_id=cell_id,
                execution_count=execution_count,
                elapsed=elapsed,
                body=seen.text,
                notes=notes,
            )
        )
        content: tuple[Text | Image, ...] = (Text(text), *seen.images)
        done = ToolDone(
            call_id=call.id,
            name=call.name,
            title=title,
            status=status,
            cell_id=cell_id,
            execution_count=execution_count,
            elapsed=elapsed,
            summary=_summary(cell_outputs),
            detail=text,
            images=len(seen.images),
            mended=mended,
        )
        signature = outputs.error_signature(cell_outputs, source) if status == "error" else None
        return Result(ToolResult(call.id, content, status != "ok"), done, signature)


def new_cell_id() -> str:
    return uuid.uuid4().hex[:8]


def _summary(cell_outputs: tuple[Output, ...]) -> str:
    """One line for a card: the error, where there is one."""
    for output in cell_outputs:
        if output.get("output_type") == "error":
            return f"{output.get('ename', '')}: {output.get('evalue', '')}"[:200]
    return ""
