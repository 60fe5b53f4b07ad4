"""Decisions on drafts and answers to questions: who waits for which, and what is accepted.

A decision is good for one draft, once: the draft's id and its one-time nonce must fit, the
first one wins, and it covers exactly the source that it carries. Anything else changes
nothing and is answered with an error.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from typing import Literal

import msgspec

from ..errors import CommandError
from ..events import Draft
from ..ports import ExternalRun

FROM_ELSEWHERE = "Run from elsewhere."
REJECTED = "The person rejected this cell."


class Decision(msgspec.Struct, frozen=True):
    """``source`` is all that is to run. ``reason`` is for the model, in words."""

    action: Literal["run", "reject"]
    by: Literal["person", "policy", "stop"]
    source: str
    run_all: bool = False
    reason: str = ""
    edited: bool = False
    """Whether ``source`` is not what the model wrote."""
    window: int = 0
    """The number of the window that decided; 0: none did."""
    said: str = ""
    """The person's words with a rejection."""

    def with_source(self, source: str, *, edited: bool) -> Decision:
        return msgspec.structs.replace(self, source=source, edited=edited)


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


class Decisions:
    """What one session waits for. All methods on the event loop."""

    def __init__(self) -> None:
        self._drafts: dict[str, tuple[Draft, asyncio.Future[Decision]]] = {}
        self._decided: set[str] = set()
        self._questions: dict[str, asyncio.Future[str]] = {}
        self._asked = 0.0

    @property
    def waiting(self) -> bool:
        return bool(self._drafts or self._questions)

    @property
    def asked(self) -> dict[str, Literal["question", "draft"]]:
        """What the person's word is waited for on: calls of questions, nonces of drafts."""
        questions = [call for call, answer in self._questions.items() if not answer.done()]
        drafts = [draft.nonce for draft, word in self._drafts.values() if not word.done()]
        return {**dict.fromkeys(questions, "question"), **dict.fromkeys(drafts, "draft")}

    @property
    def waited(self) -> float:
        """Seconds since the person was asked for what is waited for; 0 if nothing is."""
        return time.monotonic() - self._asked if self.waiting else 0.0

    async def ask(self, draft: Draft, seen: asyncio.Future[ExternalRun] | None = None) -> Decision:
        """Wait for the person's word on ``draft``, for as long as it takes. Where its code
        is ``seen`` to run from elsewhere first, that was their word."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        self._drafts[draft.draft_id] = (draft, future)
        self._asked = time.monotonic()
        if seen is not None:
            seen.add_done_callback(lambda seen: self._accept_external(draft, seen))
        try:
            return await future
        finally:
            del self._drafts[draft.draft_id]

    def _accept_external(self, draft: Draft, seen: asyncio.Future[ExternalRun]) -> None:
        waiting = self._drafts.get(draft.draft_id)
        if seen.cancelled() or waiting is None or waiting[1].done() or waiting[0] is not draft:
            return
        self._decided.add(draft.nonce)
        waiting[1].set_result(Decision("run", "person", draft.source, reason=FROM_ELSEWHERE))

    def decide(
        self,
        draft_id: str,
        nonce: str,
        action: Literal["run", "reject"],
        source: str,
        run_all: bool,
        window: int = 0,
        said: str = "",
    ) -> Draft:
        """The draft that it was about. ``said`` is why it is rejected. Raises CommandError
        ``unknown_draft``, ``already_decided`` or ``stale_decision``."""
        waiting = self._drafts.get(draft_id)
        if waiting is None or waiting[1].done():
            if nonce in self._decided:
                raise CommandError("already_decided", "This cell has been decided already.")
            raise CommandError("unknown_draft", "This cell no longer waits for a decision.")
        draft, future = waiting
        if not secrets.compare_digest(draft.nonce.encode(), nonce.encode()):
            raise CommandError(
                "stale_decision", "This cell asks again since then: look at it once more."
            )
        self._decided.add(nonce)
        if action == "run":
            run_all = run_all and draft.can_run_all
            decision = Decision("run", "person", source, run_all, window=window)
        else:
            reason = f"{REJECTED} They say: {said}" if said else REJECTED
            decision = Decision("reject", "person", source, reason=reason, window=window, said=said)
        future.set_result(decision)
        return draft

    def reject(self, nonce: str, said: str, source: str | None, window: int = 0) -> Draft:
        """The draft with this nonce, for a reason; ``source`` None: it is as it was put
        forward. Raises CommandError as ``decide``."""
        for draft, _ in self._drafts.values():
            if draft.nonce == nonce:
                theirs = draft.source if source is None else source
                return self.decide(draft.draft_id, nonce, "reject", theirs, False, window, said)
        raise CommandError("unknown_draft", "This cell no longer waits for a decision.")

    def gone(self, cell_id: str) -> None:
        """The person deleted a draft's cell: that is a rejection."""
        for draft, future in self._drafts.values():
            if draft.cell_id == cell_id and not future.done():
                reason = "The person deleted this cell."
                future.set_result(Decision("reject", "person", draft.source, reason=reason))

    async def question(self, call_id: str) -> str:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._questions[call_id] = future
        self._asked = time.monotonic()
        try:
            return await future
        finally:
            del self._questions[call_id]

    def answer(self, call_id: str, text: str) -> None:
        """Raises CommandError ``unknown_question``."""
        future = self._questions.get(call_id)
        if future is None or future.done():
            raise CommandError("unknown_question", "This question no longer waits.")
        future.set_result(text)
