"""What a tool call leaves behind: a result for the model, and the end of a card for people."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import msgspec

from ..attached.showing import weight
from ..document.ops import Output
from ..errors import StoreError
from ..events import Status, ToolDone
from ..messages import Image, Text, ToolResult, ToolUse
from ..model_view import outputs
from ..model_view.foreign import Foreign, bare
from ..model_view.outputs import Seen
from ..off_loop import INLINE, off_loop
from ..ports import ExecutionDone
from ..stores import SessionStore

log = logging.getLogger(__name__)

UNREADABLE = "[The outputs could not be read.]"


class Result(msgspec.Struct, frozen=True):
    """What a tool call came to: ``block`` for the model, ``done`` for people."""

    block: ToolResult
    done: ToolDone
    error_signature: str | None = None

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.block.content if isinstance(part, Text))


class Results:
    def __init__(
        self,
        session_id: str,
        store: SessionStore,
        foreign: Foreign,
        journal_failed: Callable[[StoreError], None],
        images: int = 0,
        shown: int = 0,
    ) -> None:
        """``store`` keeps outputs for the model to read again; ``images`` is how many are in
        the conversation so far, ``shown`` how many bytes of the person's files."""
        self.images = images
        self.shown = shown
        self._session_id = session_id
        self._store = store
        self._foreign = foreign
        self._journal_failed = journal_failed

    # --- outputs ---------------------------------------------------------------------

    @property
    def images_left(self) -> int:
        """How many more images the conversation may have."""
        return max(0, outputs.IMAGES_A_CONVERSATION - self.images)

    def has_shown(self, blocks: Sequence[object]) -> None:
        """The person's files, in the conversation now."""
        self.images += sum(isinstance(block, Image) for block in blocks)
        self.shown += weight(blocks)

    def forget_shown(self) -> None:
        """The conversation begins anew."""
        self.images = self.shown = 0

    async def see(self, cell_outputs: Sequence[Output]) -> Seen:
        """The outputs as the model sees them."""
        left, scrub = self.images_left, self._foreign.scrub
        return await off_loop(
            lambda: outputs.see(cell_outputs, images_left=left, scrub=scrub),
            outputs.size(cell_outputs),
            lambda: Seen(UNREADABLE),
        )

    def see_at_once(self, cell_outputs: Sequence[Output]) -> Seen:
        """The same after Stop, which waits for nothing: less is read, and no image."""
        try:
            return outputs.see(
                cell_outputs, images_left=None, scrub=self._foreign.scrub, most=INLINE
            )
        except Exception:
            log.warning("Outputs could not be read", exc_info=True)
            return Seen(UNREADABLE)

    # --- results ---------------------------------------------------------------------

    def make(
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
        words = self._foreign.inert(body)
        text = self._foreign.scrub(
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
            summary=self._foreign.scrub(summary),
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
        return self.make(
            call,
            "rejected",
            body,
            title=title,
            cell_id=cell_id,
            is_error=True,
            summary=summary or body.split("\n")[0],
            quoted=quoted,
        )

    def of_run(
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
        text = self._foreign.scrub(
            outputs.result_text(
                status=status,
                cell_id=cell_id,
                execution_count=done.execution_count,
                elapsed=done.elapsed,
                body=self._foreign.quoted(seen.text) if seen.text else "",
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
            summary=outputs.summary(done.outputs, self._foreign.scrub),
            detail=bare(text),
            images=len(seen.images),
            mended=mended,
        )
        signature = outputs.error_signature(done.outputs, source) if status == "error" else None
        return Result(ToolResult(call.id, content, status != "ok"), told, signature)

    def _keep_outputs(self, cell_id: str, cell_outputs: tuple[Output, ...]) -> None:
        """For ``read_output``. The code has run: there is a result in any case."""
        try:
            self._store.put_outputs(self._session_id, cell_id, cell_outputs)
        except StoreError as error:
            self._journal_failed(error)
