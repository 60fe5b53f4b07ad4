"""The outcome of a tool call: a result for the model, and the end of the card for people."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec

from ...base.off_loop import INLINE, off_loop
from ...base.sentences import Sentence, as_it_is
from ...base.visible import visible_line
from ...view import outputs
from ...view.attached import weight
from ...view.outputs import Seen
from ...view.untrusted import Untrusted, bare
from ...wire.events import Status, ToolDone
from ...wire.findings import Observation
from ...wire.messages import Image, Text, ToolResult, ToolUse
from ...wire.ops import Output
from ...wire.ports import ExecutionDone

log = logging.getLogger(__name__)

UNREADABLE = "[Could not read the outputs.]"
SHOWN = 5
"""Names of each kind of connection on a card."""
LONGEST = 100
"""Characters of such a name."""


class OutputRoom(NamedTuple):
    """Room for a run's outputs in a result."""

    characters: int = outputs.BUDGET
    images: int = outputs.IMAGES_A_RESULT


WHOLE = OutputRoom()
NONE = Sentence()


class Result(msgspec.Struct, frozen=True):
    """``block`` is for the model, ``done`` for people."""

    block: ToolResult
    done: ToolDone

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.block.content if isinstance(part, Text))


def noted(result: Result, words: str) -> Result:
    """Add inert words for the model alone to the end of a result."""
    content = (*result.block.content, Text(f"\n{words}"))
    return Result(msgspec.structs.replace(result.block, content=content), result.done)


def with_words(result: Result, words: str) -> Result:
    """Add inert words to the end of a result and to the card's detail."""
    detail = f"{result.done.detail}\n{bare(words)}"
    return Result(noted(result, words).block, msgspec.structs.replace(result.done, detail=detail))


def joined(first: Result, second: Result, words: str) -> Result:
    """The call's result, then ``words`` and the result of a cell that the call caused."""
    heading = Text(f"\n{words}\n" if words else "\n")
    content = (*first.block.content, heading, *second.block.content)
    return Result(msgspec.structs.replace(first.block, content=content), first.done)


class Results:
    def __init__(
        self,
        untrusted: Untrusted,
        attached: int = 0,
        shown: int = 0,
        stands: Callable[[str], str] = lambda cell_id: "",
    ) -> None:
        """``attached`` and ``shown``: images and bytes of the person's files in the conversation
        so far. ``stands`` is ``TurnNotebook.stands``."""
        self.attached = attached
        self.shown = shown
        self._untrusted = untrusted
        self._stands = stands

    # --- outputs ---------------------------------------------------------------------

    def has_shown(self, blocks: Sequence[object]) -> None:
        """Count the person's files that the conversation now shows."""
        self.attached += sum(isinstance(block, Image) for block in blocks)
        self.shown += weight(blocks)

    def forget_shown(self) -> None:
        self.attached = self.shown = 0

    async def see(self, cell_outputs: Sequence[Output], room: OutputRoom = WHOLE) -> Seen:
        left, scrub = room.images, self._untrusted.scrub
        return await off_loop(
            lambda: outputs.see(
                cell_outputs, images_left=left, budget=room.characters, scrub=scrub
            ),
            weight(cell_outputs),
            lambda: Seen(UNREADABLE),
        )

    def see_at_once(self, cell_outputs: Sequence[Output]) -> Seen:
        """As ``see``, but without waiting, for Stop: reads less, and no images."""
        try:
            return outputs.see(
                cell_outputs, images_left=None, scrub=self._untrusted.scrub, most=INLINE
            )
        except Exception:
            log.warning("Could not read outputs", exc_info=True)
            return Seen(UNREADABLE)

    # --- results ---------------------------------------------------------------------

    def make(
        self,
        call: ToolUse,
        status: Status,
        body: str = "",
        *,
        title: Sentence = NONE,
        cell_id: str = "",
        is_error: bool | None = None,
        summary: Sentence = NONE,
        images: tuple[Image, ...] = (),
        quoted: str = "",
    ) -> Result:
        """A result without a run. ``body`` is our text; ``quoted`` follows it and is untrusted,
        inert and between delimiters."""
        words = self._untrusted.inert(body)
        text = self._untrusted.scrub(
            outputs.result_text(
                status=status,
                cell_id=cell_id,
                place=self._stands(cell_id),
                body="\n".join(part for part in (words, quoted) if part),
            )
        )
        failed = status in ("error", "not_started", "not_confirmed")
        content: tuple[Text | Image, ...] = (Text(text), *images)
        block = ToolResult(call.id, content, failed if is_error is None else is_error)
        done = ToolDone(
            call_id=call.id,
            name=call.name,
            title=title or as_it_is(call.name),
            status=status,
            cell_id=cell_id,
            summary=summary.changed(self._untrusted.scrub),
            detail=bare(text),
        )
        return Result(block, done)

    def not_run(
        self,
        call: ToolUse,
        body: str,
        title: Sentence,
        cell_id: str,
        summary: Sentence = NONE,
        quoted: str = "",
        *,
        by: str = "policy",
    ) -> Result:
        """The result of a call that ``by`` forbids: ``rejected`` if by the person, else
        ``not_run``."""
        return self.make(
            call,
            "rejected" if by == "person" else "not_run",
            body,
            title=title,
            cell_id=cell_id,
            is_error=True,
            summary=summary or as_it_is(body if "\n" not in body else body.split("\n")[0]),
            quoted=quoted,
        )

    def of_run(
        self,
        call: ToolUse,
        status: Status,
        *,
        title: Sentence,
        cell_id: str,
        done: ExecutionDone,
        seen: Seen,
        notes: tuple[str, ...] = (),
        fixed: bool = False,
    ) -> Result:
        """The result of a run. ``cell_id`` is "" if the notebook has no such cell; ``notes`` are
        inert."""
        text = self._untrusted.scrub(
            outputs.result_text(
                status=status,
                cell_id=cell_id,
                place=self._stands(cell_id),
                execution_count=done.execution_count,
                elapsed=done.elapsed,
                body=self._untrusted.quoted(seen.text) if seen.text else "",
                notes=notes,
            )
        )
        name = Text(outputs.picture_text(cell_id, done.execution_count))
        content: list[Text | Image] = [Text(text)]
        for image in seen.images:
            content += [name, image]
        card_end = ToolDone(
            call_id=call.id,
            name=call.name,
            title=title,
            status=status,
            cell_id=cell_id,
            execution_count=done.execution_count,
            elapsed=done.elapsed,
            summary=done.note
            if done.status == "dead"
            else as_it_is(outputs.summary(done.outputs, self._untrusted.scrub)),
            detail=bare(text),
            fixed=fixed,
            sandbox=tuple(map(self._observed, done.observed)),
        )
        return Result(ToolResult(call.id, tuple(content), status != "ok"), card_end)

    def _observed(self, one: Observation) -> Observation:
        """Bounded for a card. Names come from code, so each becomes one plain line without keys."""
        lines = (visible_line(self._untrusted.scrub(name)) for name in one.names[:SHOWN])
        names = tuple(n if len(n) <= LONGEST else f"{n[: LONGEST - 1]}\u2026" for n in lines)
        return Observation(one.kind, names, max(0, len(one.names) - SHOWN), one.limit)
