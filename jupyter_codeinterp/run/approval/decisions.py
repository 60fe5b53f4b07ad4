"""Pending decisions on drafts and answers to questions.

A decision needs the draft's id and its one-time nonce. The first one wins and covers exactly the
source that it carries. Any other gets an error and changes nothing.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import msgspec

from ...base.errors import CommandError
from ...base.sentences import Sentence, together
from ...wire.events import Draft
from .policy import is_barred

BY_HAND = Sentence("Run by hand.")
REJECTED = Sentence("The person rejected this cell.")
THEY_SAY = "They say: {said}"
NOBODY = Sentence("Not run: it needs a person's decision, and nobody can be asked here.")
Alone = Literal["", "run", "edits", "all"]
"""The rights of a turn in which nobody can be asked; "" if a person can."""
ALONE: dict[Alone, str] = {
    "": "",
    "run": "Nobody can be asked: the person's cells can be run, not changed or deleted (add cells "
    "instead); nothing can be installed; the kernel stays.",
    "edits": "Nobody can be asked: the person's cells can be changed, not deleted; nothing can be "
    "installed; the kernel stays.",
    "all": "Nobody can be asked, so nobody answers questions.",
}
"""What the model reads about each ``Alone``."""
_WAYS_OUT = {
    "edit": "Cells that are there are not changed without a person; run_cells runs them unchanged. "
    "If the request wants that very cell changed, give the change in the answer and say that it "
    "was not made. Otherwise add a new cell instead.",
    "delete": "Cells that are there are not deleted without a person; leave it.",
    "kernel": "Go on with the kernel as it is.",
}
_ANOTHER_WAY = "Go on without it, or find a way that needs no decision."
_NO_CODE = (
    "No other code runs in this kernel without a decision, either. Answer from the results so far, "
    "and say why the work ends here."
)


class Decision(msgspec.Struct, frozen=True):
    """A decision on exactly ``source``. ``reason`` is for the model."""

    action: Literal["run", "reject"]
    by: Literal["person", "policy", "nobody", "stop"]
    source: str
    run_all: bool = False
    reason: Sentence = msgspec.field(default_factory=Sentence)
    edited: bool = False
    """Whether ``source`` differs from the model's."""
    window: int = 0
    """The window that decided; 0 for none."""
    said: str = ""
    """The person's words with a rejection."""
    person: str = ""
    """The name of the person who decided, if several share the notebook."""

    def with_source(self, source: str, *, edited: bool) -> Decision:
        return msgspec.structs.replace(self, source=source, edited=edited)


class QuestionReply(NamedTuple):
    """The answer to a question, from ``window`` (0: unknown). ``nobody``: a program's words,
    because it has nobody to ask."""

    text: str
    window: int = 0
    nobody: bool = False


def unasked(draft: Draft) -> Sentence:
    """The result for a draft that nobody could review: a line with the reasons for asking, and one
    with what the model can do instead."""
    why = together(NOBODY, *draft.notices)
    way_out = _NO_CODE if is_barred(draft) else _WAYS_OUT.get(draft.kind, _ANOTHER_WAY)
    return together(why, way_out, between="\n")


def new_nonce() -> str:
    return secrets.token_urlsafe(16)


class Decisions:
    """The pending drafts and questions of a session. Call all methods on the event loop."""

    def __init__(self, changed: Callable[[], None] = lambda: None) -> None:
        """``changed`` is called when ``waiting`` may have changed."""
        self._changed = changed
        self._drafts: dict[str, tuple[Draft, asyncio.Future[Decision]]] = {}
        self._decided: set[str] = set()
        self._by_hand: set[str] = set()
        """Cells of drafts that the person ran by a notebook command."""
        self._questions: dict[str, asyncio.Future[QuestionReply]] = {}

    @property
    def waiting(self) -> bool:
        return bool(self._drafts or self._questions)

    @property
    def draft(self) -> Draft | None:
        """The waiting draft, of which there is at most one."""
        return next((draft for draft, word in self._drafts.values() if not word.done()), None)

    @property
    def questions(self) -> list[str]:
        """The call ids of pending questions."""
        return [call for call, answer in self._questions.items() if not answer.done()]

    async def ask(self, draft: Draft) -> Decision:
        """Wait for the person's decision on ``draft``, without a time limit."""
        future: asyncio.Future[Decision] = asyncio.get_running_loop().create_future()
        with self._open(self._drafts, draft.draft_id, (draft, future)):
            return await future

    @contextmanager
    def _open(self, which: dict[str, Any], key: str, value: Any) -> Iterator[None]:
        which[key] = value
        self._changed()
        try:
            yield
        finally:
            del which[key]
            self._changed()

    def ran_by_hand(self, cell_id: str) -> bool:
        return cell_id in self._by_hand

    def run_by_hand(self, cell_id: str, source: str) -> None:
        """Record that the person runs the draft in this cell by a notebook command. If it waits,
        that is their decision. A run of a cell with a proposed change decides nothing."""
        self._by_hand.add(cell_id)
        draft = self.draft
        if draft is not None and draft.kind == "insert" and draft.cell_id == cell_id:
            self._decided.add(draft.nonce)
            decision = Decision("run", "person", source, reason=BY_HAND)
            self._drafts[draft.draft_id][1].set_result(decision)

    def decide(
        self,
        draft_id: str,
        nonce: str,
        action: Literal["run", "reject"],
        source: str,
        run_all: bool,
        window: int = 0,
        said: str = "",
        person: str = "",
        nobody: bool = False,
    ) -> Draft:
        """Decide on a waiting draft, and return it. ``said``: the person's words with a rejection;
        ``person``: their name if several share the notebook. ``nobody``: a program rejects the
        draft because it has nobody to ask.

        Raises CommandError ``unknown_draft``, ``already_decided`` or ``stale_decision``."""
        waiting = self._drafts.get(draft_id)
        if waiting is None or waiting[1].done():
            if nonce in self._decided:
                raise CommandError("already_decided", "This cell was already decided.")
            raise CommandError("unknown_draft", "This cell is no longer waiting for a decision.")
        draft, future = waiting
        if not secrets.compare_digest(draft.nonce.encode(), nonce.encode()):
            raise CommandError(
                "stale_decision", "This cell was proposed again. Review it once more."
            )
        self._decided.add(nonce)
        if action == "run":
            run_all = run_all and draft.can_run_all
            decision = Decision("run", "person", source, run_all, window=window)
        elif nobody:
            decision = Decision("reject", "nobody", source, reason=unasked(draft), window=window)
        else:
            reason = together(REJECTED, Sentence(THEY_SAY, said=said)) if said else REJECTED
            decision = Decision("reject", "person", source, reason=reason, window=window, said=said)
        decision = msgspec.structs.replace(decision, person=person)
        future.set_result(decision)
        return draft

    def gone(self, cell_id: str) -> None:
        """Reject a draft whose cell the person deleted."""
        draft = self.draft
        if draft is not None and draft.cell_id == cell_id:
            reason = Sentence("The person deleted this cell.")
            decision = Decision("reject", "person", draft.source, reason=reason)
            self._drafts[draft.draft_id][1].set_result(decision)

    async def question(self, call_id: str) -> QuestionReply:
        future: asyncio.Future[QuestionReply] = asyncio.get_running_loop().create_future()
        with self._open(self._questions, call_id, future):
            return await future

    def answer(self, call_id: str, text: str, window: int = 0, *, nobody: bool = False) -> None:
        """Answer a question. Raises CommandError ``unknown_question``."""
        future = self._questions.get(call_id)
        if future is None or future.done():
            raise CommandError("unknown_question", "This question is no longer open.")
        future.set_result(QuestionReply(text, window, nobody))
