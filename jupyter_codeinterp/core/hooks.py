"""Hooks: functions, our own and of other packages, that run before and after the agent's code."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import logging
import re
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Union

import msgspec

from .approval.code_warnings import hidden_characters, notices
from .approval.installs import installs
from .approval.out_of_sight import out_of_sight
from .document.ops import Output
from .off_loop import off_loop
from .wire.events import Status

# -------------------------------------------------------------------------------------------------
# What a hook is.


class CellCode(msgspec.Struct, frozen=True):
    """Code that is to run, or has run. ``cell_id`` is "" if it runs without a cell; ``language``
    is the name that the kernel reports; ``files`` are names of files and folders (with a slash)
    beside the notebook; ``unread``: no person can read the code before it runs."""

    notebook: str
    cell_id: str
    source: str
    language: str = "python"
    title: str = ""
    files: tuple[str, ...] = ()
    session_id: str = ""
    turn: int = 0
    unread: bool = False


class CellOutputs(msgspec.Struct, frozen=True):
    """The outcome of a run. ``outputs``: a copy, in nbformat; ``elapsed``: seconds."""

    status: Status
    outputs: tuple[Output, ...]
    execution_count: Union[int, None] = None
    elapsed: float = 0.0


@dataclass(frozen=True)
class Notes:
    """A hook's notes, each a sentence or a few. ``ask`` (before a run only): a person must decide
    in every mode."""

    texts: Sequence[str] = ()
    ask: bool = False


@dataclass(frozen=True)
class Refusal:
    """Blocks the run, whoever decided on it. ``reason``: a sentence for the model and the
    person."""

    reason: str


Before = Union[Notes, Refusal, None]
After = Union[Notes, None]
BeforeRun = Callable[[CellCode], Union[Before, Awaitable[Before]]]
AfterRun = Callable[[CellCode, CellOutputs], Union[After, Awaitable[After]]]


@dataclass(frozen=True)
class Hook:
    """``before_run`` gets the exact code that the agent is about to run; the card shows its notes
    while a person is asked. It cannot refuse a run that the person began by hand. ``after_run``
    gets each finished run of the agent's code, also one that the person began; its notes go to
    the model and onto the card.

    A plain function runs in a thread of its own. A coroutine function runs on the server's
    event loop, which it must not block. Each has ``DEADLINE`` seconds. One that raises
    or takes longer ends no turn: it is logged; before a run, a person is asked instead.
    """

    name: str
    """For people and the model: letters, digits, blanks, ``_``, ``.`` and ``-``, at most 60."""
    before_run: Union[BeforeRun, None] = None
    after_run: Union[AfterRun, None] = None


# -------------------------------------------------------------------------------------------------
# Calls into other packages' code with a deadline.
#
# That code may block, raise anything, ignore cancellation or never return. So plain functions run
# in daemon threads: asyncio's pool is small, and a stopping server waits for it.

DEADLINE = 5.0
"""Seconds that a call has."""
MOST_AT_ONCE = 4
"""Running calls of one name, including abandoned ones."""


class CallFailed(Exception):
    """``str()`` says why, for the log."""


class Caller:
    """All methods on one event loop."""

    def __init__(self) -> None:
        self._under_way: Counter[str] = Counter()

    async def call(self, name: str, function: Callable[..., Any], *arguments: Any) -> Any:
        """What ``function`` returns, awaited if it is awaitable. Raises CallFailed."""
        if self._under_way[name] >= MOST_AT_ONCE:
            raise CallFailed(f"{MOST_AT_ONCE} earlier calls have not finished")
        loop = asyncio.get_running_loop()
        ends = loop.time() + DEADLINE
        if inspect.iscoroutinefunction(function):
            value: Any = function(*arguments)
        else:
            value = await self._wait(name, _in_thread(lambda: function(*arguments)), ends)
        if inspect.isawaitable(value):
            value = await self._wait(name, asyncio.ensure_future(_caught(value)), ends)
        return value

    async def _wait(self, name: str, work: asyncio.Future[Any], ends: float) -> Any:
        self._under_way[name] += 1
        work.add_done_callback(lambda _: self._under_way.subtract((name,)))
        try:
            await asyncio.wait({work}, timeout=max(0.0, ends - asyncio.get_running_loop().time()))
            if not work.done():
                raise CallFailed(f"it took longer than {DEADLINE:.0f} seconds")
        finally:
            if not isinstance(work, _ThreadFuture):
                work.cancel()
        value, error = work.result()
        if error is not None:
            raise CallFailed(f"it raised {type(error).__name__}") from error
        return value


async def _caught(awaitable: Any) -> tuple[Any, BaseException | None]:
    """The result or the exception, also one that would end the event loop."""
    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error


class _ThreadFuture(asyncio.Future[Any]):
    """A thread's future. Nothing cancels a thread, so it is done when the thread is."""


def _in_thread(work: Callable[[], Any]) -> _ThreadFuture:
    loop = asyncio.get_running_loop()
    future = _ThreadFuture(loop=loop)

    def body() -> None:
        done: tuple[Any, BaseException | None]
        try:
            done = (work(), None)
        except BaseException as error:
            done = (None, error)
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits.
            loop.call_soon_threadsafe(future.set_result, done)

    threading.Thread(target=body, daemon=True, name="jupyter_codeinterp hook").start()
    return future


# -------------------------------------------------------------------------------------------------
# Our own hooks: warn of what a reader may overlook or cannot see.

NOT_CHECKED = "Could not check what else this runs."


async def checked(
    check: Callable[..., tuple[str, ...]], source: str, *more: object
) -> tuple[str, ...]:
    """The notices of ``check`` on a text of any length; ``NOT_CHECKED`` if it fails."""
    work = partial(check, source, *more)
    return await off_loop(work, len(source), lambda: (NOT_CHECKED,))


async def _unseen(cell: CellCode) -> Notes:
    """Ask a person in every mode about hidden characters and code out of sight (about the latter
    only if somebody reads the code)."""
    hidden = await checked(hidden_characters, cell.source)
    apart = await checked(out_of_sight, cell.source)
    return Notes(hidden + apart, ask=bool(hidden or (apart and not cell.unread)))


async def _warnings(cell: CellCode) -> Notes:
    modules = frozenset(name[:-3] for name in cell.files if name.endswith(".py"))
    return Notes(await checked(notices, cell.source, cell.language, modules))


async def _packages(cell: CellCode) -> Notes:
    """Ask a person in every mode about installed or removed packages."""
    texts = await checked(installs, cell.source, cell.language)
    return Notes(texts, ask=bool(texts))


BUILT_IN = (
    Hook("Hidden code", before_run=_unseen),
    Hook("Packages", before_run=_packages),
    Hook("Indirect code", before_run=_warnings),
)


# -------------------------------------------------------------------------------------------------
# Runs the hooks before and after a cell, and combines their answers.
#
# Add one with a line in ``BUILT_IN``, or from another package with the entry-point
# group ``jupyter_codeinterp.hooks``.

LONGEST = 100_000
"""Characters of a note; a longer one is an error. Far fewer are shown."""
MOST_NOTES = 10
"""Notes accepted from one hook."""
_NAME = re.compile(r"[\w.-](?:[\w .-]{0,58}[\w.-])?", re.ASCII)

log = logging.getLogger(__name__)


class Note(msgspec.Struct, frozen=True):
    """``by``: the hook's name; "" for our own hooks, whose text is trusted."""

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
        validate(hook, Hook, (*self._ours, *self._others))
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
        copied = msgspec.structs.replace(outputs, outputs=copy.deepcopy(outputs.outputs))
        answers = await asyncio.gather(
            *(self._answer(hook, hook.after_run, cell, copied) for hook in notified)
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


def validate(added: Any, kind: type[Any], known: Iterable[Any]) -> None:
    """Raises ValueError if ``added`` is not a valid Hook or Check (``kind``) with a new name."""
    if not isinstance(added, kind):
        raise ValueError(f"{added!r} is not a {kind.__name__}")
    name, word = added.name, kind.__name__.lower()
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is not a valid {word} name")
    if name in {one.name for one in known}:
        raise ValueError(f"a {word} named {name!r} already exists")
    given = [call for call in (added.before_run, added.after_run) if call is not None]
    if not given or not all(map(callable, given)):
        raise ValueError(f"{name!r} must have a callable before_run or after_run")


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
