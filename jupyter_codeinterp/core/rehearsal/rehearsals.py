"""Tries waiting drafts: when a person asks for it, and by itself where they want that.

Only the draft that waits is tried, only in an idle kernel, and one at a time. The decision ends
it. Nothing of it reaches the model.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable, Coroutine
from typing import Any

from ..approval.decisions import Decisions
from ..errors import CommandError, KernelError
from ..events import Draft, Event, RehearsalStarted, Rehearsed, TriesDrafts
from ..model_view import outputs
from ..off_loop import off_loop
from ..ports import Kernel, KernelInfo
from .kernel_answer import Rehearsal, Scrub, no_rehearsal, read

SECONDS = 10.0
"""That the code of a draft has when a person asks."""
SECONDS_UNASKED = 5.0
"""The same when it is tried by itself."""
MOST_TEXT = 10_000
MOST_IMAGE = 400_000
"""Characters of the base64 of an image; larger ones are left out."""
OFF = "Trying cells first is turned off on this server."
NOT_THIS = "This cell cannot be tried now. It may have changed; review it once more."
BUSY = "This cell is being tried already."

log = logging.getLogger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], "asyncio.Task[None]"]


class Rehearsals:
    def __init__(
        self,
        decisions: Decisions,
        kernel: Callable[[], Kernel],
        show: Callable[[Event], None],
        spawn: Spawn,
        scrub: Scrub,
        *,
        allowed: bool,
    ) -> None:
        self.allowed = allowed
        self.wanted: tuple[TriesDrafts, ...] = ()
        """Which drafts the person wants tried by themselves."""
        self._decisions = decisions
        self._kernel = kernel
        self._show = show
        self._spawn = spawn
        self._scrub = scrub
        self._task: asyncio.Task[None] | None = None

    def try_first(self, draft_id: str, nonce: str, source: str, window: int = 0) -> Draft:
        """Try ``source`` in place of the waiting draft's. Raises CommandError ``rehearsals_off``,
        ``no_rehearsal`` or ``busy``."""
        if not self.allowed:
            raise CommandError("rehearsals_off", OFF)
        draft = self._decisions.draft
        is_it = (
            draft is not None
            and draft.draft_id == draft_id
            and secrets.compare_digest(draft.nonce.encode(), nonce.encode())
        )
        if draft is None or not is_it or not may_be_tried(draft):
            raise CommandError("no_rehearsal", NOT_THIS)
        if self._task is not None and not self._task.done():
            raise CommandError("busy", BUSY)
        self._begin(draft, source, SECONDS, window)
        return draft

    def waits(self, draft: Draft, info: KernelInfo | None) -> None:
        """Try a draft that begins to wait, where the person wants that."""
        if info is None or not (self.allowed and may_be_tried(draft)):
            return
        # In a plain kernel, what looks suspicious waits for the person.
        quiet = info.sandboxed or not draft.notices
        labelled = "labelled" in self.wanted and bool(draft.labels) and quiet
        if labelled or ("sandboxed" in self.wanted and info.sandboxed):
            self._begin(draft, draft.source, SECONDS_UNASKED)

    def end(self) -> None:
        """Nobody needs the result any more."""
        if self._task is not None:
            self._task.cancel()

    def _begin(self, draft: Draft, source: str, seconds: float, window: int = 0) -> None:
        self._show(RehearsalStarted(draft.call_id, draft.draft_id, window))
        self._task = self._spawn(self._try(draft, source, seconds, window))

    async def _try(self, draft: Draft, source: str, seconds: float, window: int) -> None:
        try:
            found = read(await self._kernel().rehearse(source, seconds), seconds, self._scrub)
        except KernelError as error:
            found = no_rehearsal(error.code)
        except Exception:
            log.exception("A rehearsal failed")
            found = no_rehearsal("failed", "see the server's log")
        text, images = await self._seen(found)
        if self._decisions.draft is not draft:
            return
        self._show(
            Rehearsed(
                draft.call_id,
                draft.draft_id,
                found.how,
                found.words,
                None if source == draft.source else source,
                text,
                images,
                found.changes,
                found.reached,
                found.seconds,
                window,
            )
        )

    async def _seen(self, found: Rehearsal) -> tuple[str, tuple[str, ...]]:
        """The outputs as text, and at most one image."""
        see = lambda: outputs.see(  # noqa: E731
            found.outputs, images_left=1, budget=MOST_TEXT, scrub=self._scrub
        )
        seen = await off_loop(see, outputs.size(found.outputs), lambda: outputs.Seen(""))
        images = (one.source for one in seen.images)
        kept = (f"data:{one.media_type};base64,{one.data}" for one in images)
        return seen.text, tuple(one for one in kept if len(one) <= MOST_IMAGE)


def may_be_tried(draft: Draft) -> bool:
    """Whether it is code of a cell."""
    return draft.runs and draft.kind in ("insert", "edit")
