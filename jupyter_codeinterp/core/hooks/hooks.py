"""Runs the hooks before and after a cell, and combines their answers.

Add one with a line in ``code_checks.BUILT_IN``, or from another package with the entry-point group
``jupyter_codeinterp.hooks``.
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
"""Characters of a note; a longer one is an error. Far fewer are shown."""
MOST_NOTES = 10
"""Notes read of one hook."""
_NAME = re.compile(r"[\w.-](?:[\w .-]{0,58}[\w.-])?", re.ASCII)

log = logging.getLogger(__name__)


class Note(msgspec.Struct, frozen=True):
    """``by`` is the hook's name; "" for one of ours, whose text is trusted."""

    by: str
    text: str


class Checked(msgspec.Struct, frozen=True):
    """All hooks' answers before a run. ``ask``: a person must decide in every mode. ``refusal``
    is the first one, if any."""

    notes: tuple[Note, ...] = ()
    ask: bool = False
    refusal: Union[Note, None] = None


class Hooks:
    def __init__(self, hooks: Iterable[Hook] = BUILT_IN) -> None:
        """``hooks`` are our own, called directly and without a deadline."""
        self._ours = tuple(hooks)
        self._others: list[Hook] = []
        self._caller = Caller()

    def add(self, hook: Hook) -> None:
        """Add another package's hook. Raises ValueError with the fault."""
        if not isinstance(hook, Hook):
            raise ValueError(f"{hook!r} is not a Hook")
        if not is_name(hook.name):
            raise ValueError(f"{hook.name!r} is not a valid hook name")
        if hook.name in {known.name for known in (*self._ours, *self._others)}:
            raise ValueError(f"a hook named {hook.name!r} already exists")
        given = [call for call in (hook.before_run, hook.after_run) if call is not None]
        if not given or not all(map(callable, given)):
            raise ValueError(f"{hook.name!r} must have a callable before_run or after_run")
        self._others.append(hook)

    async def before_run(self, cell: CellCode) -> Checked:
        """Ask all hooks. If another package's hook fails, a person decides."""
        notes: list[Note] = []
        ask = False
        for hook in self._ours:
            if hook.before_run is not None:
                said = await _awaited(hook.before_run(cell))
                notes += (Note("", text) for text in said.texts)
                ask = ask or said.ask
        answers = await asyncio.gather(*(self._before(hook, cell) for hook in self._others))
        for hook, answer in zip(self._others, answers, strict=True):
            if isinstance(answer, Refusal):
                return Checked(refusal=Note(hook.name, answer.reason))
            notes += (Note(hook.name, text) for text in answer.texts)
            ask = ask or answer.ask
        return Checked(tuple(notes), ask)

    async def _before(self, hook: Hook, cell: CellCode) -> Notes | Refusal:
        if hook.before_run is None:
            return Notes()
        said = await self._answer(hook, hook.before_run, cell)
        return Notes((NOT_MADE,), ask=True) if said is None else said

    async def after_run(self, cell: CellCode, outputs: CellOutputs) -> tuple[Note, ...]:
        """Notify all hooks and return their notes. A failed hook adds none."""
        notified = [hook for hook in self._others if hook.after_run is not None]
        if not notified:
            return ()
        theirs = msgspec.structs.replace(outputs, outputs=copy.deepcopy(outputs.outputs))
        answers = await asyncio.gather(
            *(self._answer(hook, hook.after_run, cell, theirs) for hook in notified)
        )
        return tuple(
            Note(hook.name, text)
            for hook, answer in zip(notified, answers, strict=True)
            if isinstance(answer, Notes)
            for text in answer.texts
        )

    async def _answer(
        self, hook: Hook, call: Callable[..., Any] | None, *about: Any
    ) -> Notes | Refusal | None:
        """The hook's answer; None if it failed, which ends no turn."""
        try:
            if call is None:
                return Notes()
            return _read(await self._caller.call(hook.name, call, *about))
        except CallFailed as error:
            log.warning("The hook %s failed: %s", hook.name, error, exc_info=error.__cause__)
        except Exception:
            # It may return anything, even objects that raise when read.
            log.warning("Cannot read the result of the hook %s", hook.name, exc_info=True)
        return None


def is_name(name: object) -> bool:
    """Whether a hook or a check may have this name."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


NOT_MADE = "This check failed to run."


async def _awaited(said: Any) -> Notes:
    """The notes of our own hooks, which are coroutine functions and never refuse."""
    notes: Notes = await said
    return notes


def _read(said: object) -> Notes | Refusal:
    """Validate what a hook returned. Raises TypeError or ValueError."""
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
        raise TypeError(f"a hook returned {type(value).__name__}")
    if len(value) > LONGEST:
        raise ValueError(f"a hook returned {len(value):,} characters")
    return value
