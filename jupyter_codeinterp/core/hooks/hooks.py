"""The hooks round a run, in the order in which they were added, and what they say together.

One is added with a line in ``code_checks.BUILT_IN``, or from another package by the entry-point
group ``jupyter_codeinterp.hooks``.
"""

from __future__ import annotations

import asyncio
import copy
import logging
import re
from collections.abc import Callable, Iterable
from typing import Any, Union

import msgspec

from .bounded import Caller, CallFailed
from .code_checks import BUILT_IN
from .hook import CellCode, CellOutputs, Hook, Notes, Refusal

LONGEST = 100_000
"""Characters of a note that are read; far fewer are shown."""
MOST_NOTES = 10
"""Notes of one hook that are looked at."""
_NAME = re.compile(r"[\w.-](?:[\w .-]{0,58}[\w.-])?", re.ASCII)

log = logging.getLogger(__name__)


class Note(msgspec.Struct, frozen=True):
    """``by`` is the hook's name; "" for one of ours, whose text needs no care."""

    by: str
    text: str


class Checked(msgspec.Struct, frozen=True):
    """What all hooks say before a run. ``ask``: a person must decide in every mode.
    ``refusal`` is the first one, if there is any."""

    notes: tuple[Note, ...] = ()
    ask: bool = False
    refusal: Union[Note, None] = None


class Hooks:
    def __init__(self, hooks: Iterable[Hook] = BUILT_IN) -> None:
        """Those given here are ours: they are called as they are."""
        self._ours = tuple(hooks)
        self._others: list[Hook] = []
        self._caller = Caller()

    def add(self, hook: Hook) -> None:
        """One of others. Raises ValueError with what is wrong with it."""
        if not isinstance(hook, Hook):
            raise ValueError(f"{hook!r} is no Hook")
        if not isinstance(hook.name, str) or not _NAME.fullmatch(hook.name):
            raise ValueError(f"{hook.name!r} is no name for a hook")
        if hook.name in {known.name for known in (*self._ours, *self._others)}:
            raise ValueError(f"there is a hook {hook.name!r} already")
        given = [call for call in (hook.before_run, hook.after_run) if call is not None]
        if not given or not all(map(callable, given)):
            raise ValueError(f"{hook.name!r} must have a before_run or an after_run to call")
        self._others.append(hook)

    async def before_run(self, cell: CellCode) -> Checked:
        """Ask all of them. What one of others cannot say, a person is asked for."""
        notes: list[Note] = []
        ask = False
        for hook in self._ours:
            if hook.before_run is not None:
                said = await _awaited(hook.before_run(cell))
                notes += (Note("", text) for text in said.texts)
                ask = ask or said.ask
        answers = await asyncio.gather(*(self._asked(hook, cell) for hook in self._others))
        for hook, answer in zip(self._others, answers, strict=True):
            if isinstance(answer, Refusal):
                return Checked(refusal=Note(hook.name, answer.reason))
            notes += (Note(hook.name, text) for text in answer.texts)
            ask = ask or answer.ask
        return Checked(tuple(notes), ask)

    async def _asked(self, hook: Hook, cell: CellCode) -> Notes | Refusal:
        if hook.before_run is None:
            return Notes()
        said = await self._said(hook, hook.before_run, cell)
        return Notes((NOT_MADE,), ask=True) if said is None else said

    async def after_run(self, cell: CellCode, outputs: CellOutputs) -> tuple[Note, ...]:
        """Tell all of them, and what they say. One that cannot say it says nothing."""
        told = [hook for hook in self._others if hook.after_run is not None]
        if not told:
            return ()
        theirs = msgspec.structs.replace(outputs, outputs=copy.deepcopy(outputs.outputs))
        answers = await asyncio.gather(
            *(self._said(hook, hook.after_run, cell, theirs) for hook in told)
        )
        return tuple(
            Note(hook.name, text)
            for hook, answer in zip(told, answers, strict=True)
            if isinstance(answer, Notes)
            for text in answer.texts
        )

    async def _said(
        self, hook: Hook, call: Callable[..., Any] | None, *about: Any
    ) -> Notes | Refusal | None:
        """None if it has failed: that ends no turn."""
        try:
            if call is None:
                return Notes()
            return _read(await self._caller.call(hook.name, call, *about))
        except CallFailed as error:
            log.warning("The hook %s failed: %s", hook.name, error, exc_info=error.__cause__)
        except Exception:
            # It may return anything, also what raises when it is looked at.
            log.warning("What the hook %s says cannot be read", hook.name, exc_info=True)
        return None


NOT_MADE = "This check could not be made."


async def _awaited(said: Any) -> Notes:
    """Of ours, which are coroutine functions and refuse nothing."""
    notes: Notes = await said
    return notes


def _read(said: object) -> Notes | Refusal:
    """What a hook returned, with texts that are texts. Raises TypeError or
    ValueError."""
    if said is None:
        return Notes()
    if isinstance(said, Refusal):
        return Refusal(_text(said.reason))
    if not isinstance(said, Notes):
        raise TypeError(f"a hook returned {type(said).__name__}")
    texts = (said.texts,) if isinstance(said.texts, str) else said.texts
    if not isinstance(texts, (tuple, list)):
        raise TypeError(f"a hook's notes are {type(texts).__name__}")
    return Notes(tuple(map(_text, texts[:MOST_NOTES])), bool(said.ask))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a hook said {type(value).__name__}")
    if len(value) > LONGEST:
        raise ValueError(f"a hook said {len(value):,} characters")
    return value
