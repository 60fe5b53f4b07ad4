"""Hooks: functions that run around the agent's code, and after its answer.

A feature offers them in its ``hooks``; another package by an entry point of the group
``jupyter_codeinterp.hooks``. One that fails ends no turn: it is logged; before a run, a person is
asked instead.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar, Union

import msgspec

from ...base.off_loop import DEADLINE, off_loop
from ...base.sentences import from_journal, to_journal
from ...wire.events import FiguresFound, event_json, read_event
from ...wire.findings import Finding, Place
from ...wire.messages import Message
from ...wire.ops import CellView, Output

log = logging.getLogger(__name__)
T = TypeVar("T")


class CellCode(msgspec.Struct, frozen=True):
    """Code that is to run, or has run. ``language`` is the name that the kernel reports;
    ``asked``: the person's message; ``notebook``: the notebook's path."""

    source: str
    language: str = "python"
    session_id: str = ""
    turn: int = 0
    asked: str = ""
    notebook: str = ""


class Fact(msgspec.Struct, frozen=True):
    """What the kernel observed in a run: values by name (``figures``). ``place`` is the place of
    the observed call in the source, if any."""

    kind: str
    place: Union[Place, None] = None
    figures: dict[str, Any] = {}


class CellOutputs(msgspec.Struct, frozen=True):
    """The outcome of a run. ``outputs`` are in nbformat. Only Python kernels report ``facts``,
    which leave out private variables."""

    outputs: tuple[Output, ...]
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True)
class FinalAnswer:
    """The answer that ended a turn. ``texts``: its parts by block of the model's ``step``.
    ``cells``: the notebook's, without private ones. ``ran``: outputs of the cells that the
    conversation ran, by id, the latest first. ``messages``: the conversation with the model.
    ``scrub`` removes known keys from a text."""

    step: int
    question: str
    texts: Mapping[int, str]
    cells: tuple[CellView, ...] = ()
    ran: Mapping[str, tuple[Output, ...]] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    scrub: Callable[[str], str] = str


@dataclass(frozen=True)
class Notes:
    """Lines for the person. ``ask`` (before a run only): a person must decide in every mode."""

    texts: Sequence[str] = ()
    ask: bool = False


@dataclass(frozen=True)
class Refusal:
    """Blocks the run, whoever decided on it. ``reason``: a sentence for the model and the
    person."""

    reason: str


Before = Union[Notes, Refusal, None]
After = Union[Iterable[Finding], None]
AtEnd = Union[Notes, Sequence[FiguresFound], None]


@dataclass(frozen=True)
class Hook:
    """Each function has ``DEADLINE`` seconds. It may be a coroutine function, which must not block
    the server's event loop. A plain one runs in a thread of its own; that of a feature, which has
    no name, must be quick.

    before_run    gets the exact code that is to run, also after a person's edit
    after_run     gets each finished run of the agent's code, and finds nothing if all is well
    after_answer  gets the answer that ends a turn
    """

    name: str = ""
    before_run: Union[Callable[[CellCode], Union[Before, Awaitable[Before]]], None] = None
    after_run: Union[Callable[[CellCode, CellOutputs], Union[After, Awaitable[After]]], None] = None
    after_answer: Union[Callable[[FinalAnswer], Union[AtEnd, Awaitable[AtEnd]]], None] = None


LONGEST_NAME = 60
LONGEST = 100_000
"""Characters of a note or finding; a longer one is an error. Far fewer are shown."""
MOST = 1_000
"""Findings, or notes, read from one hook."""
MOST_EVIDENCE = 20
NOT_CHECKED: Union[Notes, Refusal] = Notes(("This check failed to run.",), ask=True)


def validate(hook: object) -> Hook:
    """The hook of another package. Raises ValueError with the fault."""
    if not isinstance(hook, Hook):
        raise ValueError(f"{hook!r} is not a Hook")
    if not 0 < len(hook.name) <= LONGEST_NAME or not hook.name.isprintable():
        raise ValueError(f"{hook.name!r} is not a valid hook name")
    if not any((hook.before_run, hook.after_run, hook.after_answer)):
        raise ValueError(f"{hook.name!r} must have before_run, after_run or after_answer")
    return hook


async def before_run(hooks: Sequence[Hook], code: CellCode) -> list[tuple[str, Notes | Refusal]]:
    """What hooks say of code before it runs, with their names; the first refusal is the last."""
    said: list[tuple[str, Notes | Refusal]] = []
    for hook in hooks:
        if hook.before_run is not None:
            size = len(code.source)
            found = await _called(hook, hook.before_run, size, _before, NOT_CHECKED, code)
            said.append((hook.name, found))
            if isinstance(found, Refusal):
                break
    return said


async def findings(hooks: Sequence[Hook], code: CellCode, outputs: CellOutputs) -> list[Finding]:
    """What all hooks find in a run."""
    found: list[Finding] = []
    for hook in hooks:
        if hook.after_run is not None:
            size = len(code.source)
            found += await _called(hook, hook.after_run, size, _findings, [], code, outputs)
    return found


async def after_answer(
    hooks: Sequence[Hook], answer: FinalAnswer
) -> list[tuple[str, Notes | FiguresFound]]:
    """What hooks say of an answer, with their names."""
    said: list[tuple[str, Notes | FiguresFound]] = []
    for hook in hooks:
        if hook.after_answer is not None:
            size = sum(map(len, answer.texts.values()))
            nothing: list[Notes | FiguresFound] = []
            found = await _called(hook, hook.after_answer, size, _at_end, nothing, answer)
            said += ((hook.name, one) for one in found)
    return said


async def _called(
    hook: Hook,
    call: Callable[..., Any],
    size: int,
    read: Callable[[Any], T],
    fault: T,
    *about: object,
) -> T:
    """What the function returns, as ``read`` takes it; ``fault`` if one of them fails or the
    function takes too long."""
    name = hook.name or getattr(call, "__qualname__", "")

    def work() -> T:
        # SystemExit would end the thread, or the event loop and with it the server.
        try:
            return read(call(*about))
        except (Exception, SystemExit):
            log.exception("A hook failed: %s", name)
            return fault

    async def awaited() -> T:
        try:
            return read(await call(*about))
        except (Exception, SystemExit):
            log.exception("A hook failed: %s", name)
            return fault

    is_async = inspect.iscoroutinefunction(call)
    if not (is_async or hook.name):
        return await off_loop(work, size, lambda: fault)
    result = asyncio.ensure_future(awaited()) if is_async else _in_thread(work)
    try:
        # ``wait_for`` would wait for a hook that ignores its cancellation.
        await asyncio.wait({result}, timeout=DEADLINE)
        if result.done() and not result.cancelled():
            return result.result()
    finally:
        result.cancel()
    log.warning("The hook %s took over %d seconds, or cancelled itself", name, DEADLINE)
    return fault


def _in_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """Start a thread that may never end: asyncio's own are few, and a stopping server waits for
    them. ``work`` raises nothing."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def end(found: T) -> None:
        if not future.done():
            future.set_result(found)

    def body() -> None:
        found = work()
        with suppress(RuntimeError):  # The loop is closed: nobody waits.
            loop.call_soon_threadsafe(end, found)

    threading.Thread(target=body, daemon=True, name="jupyter_codeinterp hook").start()
    return future


def _before(found: Before) -> Notes | Refusal:
    if isinstance(found, Refusal):
        return Refusal(_text(found.reason))
    return _notes(found or Notes())


def _findings(found: After) -> list[Finding]:
    return [_finding(one) for one in islice(found or (), MOST)]


def _finding(found: Finding) -> Finding:
    """The finding as the journal will have it: it may have a plain text, or any other value."""
    if not isinstance(found, Finding):
        raise TypeError(f"a hook returned {type(found).__name__}")
    text = msgspec.json.encode(found, enc_hook=to_journal)
    if len(text) > LONGEST:
        raise ValueError(f"a hook returned a finding of {len(text):,} characters")
    read = msgspec.json.decode(text, type=Finding, dec_hook=from_journal)
    return msgspec.structs.replace(read, evidence=read.evidence[:MOST_EVIDENCE])


def _at_end(found: AtEnd) -> list[Notes | FiguresFound]:
    if isinstance(found, Notes):
        return [_notes(found)]
    for one in found or ():
        if not isinstance(one, FiguresFound):
            raise TypeError(f"a hook returned {type(one).__name__}")
    return [read_event(event_json(one)) for one in found or ()]


def _notes(notes: Notes) -> Notes:
    if not isinstance(notes, Notes):
        raise TypeError(f"a hook returned {type(notes).__name__}")
    texts = (notes.texts,) if isinstance(notes.texts, str) else notes.texts
    return Notes(tuple(_text(text) for text in islice(texts, MOST)), bool(notes.ask))


def _text(text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"a hook returned {type(text).__name__}")
    if len(text) > LONGEST:
        raise ValueError(f"a hook returned {len(text):,} characters")
    return text
