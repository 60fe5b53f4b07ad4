"""Hooks: functions, our own and of other packages, that run before and after the agent's code, and
after its answer."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import inspect
import logging
import re
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import Any, Union

import msgspec

from ...base.off_loop import off_loop
from ...base.sentences import Sentence, as_it_is
from ...wire.events import FiguresFound, Status
from ...wire.findings import Finding, Place
from ...wire.messages import Message
from ...wire.ops import CellView, Output
from . import protected
from .code_warnings import hidden_characters
from .installs import installs
from .notices import notices
from .out_of_sight import out_of_sight

# -------------------------------------------------------------------------------------------------
# What a hook is.


class CellCode(msgspec.Struct, frozen=True):
    """Code that is to run, or has run. ``cell_id`` is "" if it runs without a cell; ``language``
    is the name that the kernel reports; ``files`` are names of files and folders (with a slash)
    beside the notebook; ``unread``: no person can read the code before it runs; ``asked``: the
    person's message; ``protected``: variables that the person protects, after a run without those
    that they have let this code change."""

    notebook: str
    cell_id: str
    source: str
    language: str = "python"
    title: str = ""
    files: tuple[str, ...] = ()
    session_id: str = ""
    turn: int = 0
    unread: bool = False
    asked: str = ""
    protected: tuple[str, ...] = ()


class Fact(msgspec.Struct, frozen=True):
    """What the kernel observed in a run: values by name (``figures``). ``place`` is the place of
    the observed call in the source, if any."""

    kind: str
    place: Union[Place, None] = None
    figures: dict[str, Any] = {}


class Change(msgspec.Struct, frozen=True):
    """What a run did to a variable. ``persons``: the person created the variable. ``before`` and
    ``after`` describe its values, such as ``DataFrame of 429 rows and 5 columns``."""

    name: str
    how: str
    """``added``, ``removed``, ``rebound`` or ``changed`` in place."""
    persons: bool = False
    before: str = ""
    after: str = ""


class CellOutputs(msgspec.Struct, frozen=True):
    """The outcome of a run. ``outputs``: a copy, in nbformat; ``elapsed``: seconds. Only Python
    kernels report ``facts`` and ``changes``, which leave out private variables."""

    status: Status
    outputs: tuple[Output, ...]
    execution_count: Union[int, None] = None
    elapsed: float = 0.0
    facts: tuple[Fact, ...] = ()
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True)
class FinalAnswer:
    """The answer that ended a turn. ``texts``: its parts by block of the model's ``step``.
    ``cells``: the notebook's, without private ones. ``ran``: outputs of the cells that the
    conversation ran, by id, the latest first. ``messages``: the conversation with the model.
    ``scrub`` removes known keys from a text."""

    notebook: str
    session_id: str
    turn: int
    step: int
    question: str
    texts: Mapping[int, str]
    cells: tuple[CellView, ...] = ()
    ran: Mapping[str, tuple[Output, ...]] = field(default_factory=dict)
    messages: tuple[Message, ...] = ()
    scrub: Callable[[str], str] = str

    @property
    def text(self) -> str:
        return "\n".join(self.texts.values())


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


Before = Union[Notes, Refusal, Iterable[Finding], None]
After = Union[Notes, Iterable[Finding], None]
AtEnd = Union[Notes, Iterable[FiguresFound], None]
BeforeRun = Callable[[CellCode], Union[Before, Awaitable[Before]]]
AfterRun = Callable[[CellCode, CellOutputs], Union[After, Awaitable[After]]]
AfterAnswer = Callable[[FinalAnswer], Union[AtEnd, Awaitable[AtEnd]]]


@dataclass(frozen=True)
class Hook:
    """``before_run`` gets the exact code that the agent is about to run; the card shows its notes
    and findings while a person is asked. ``after_run`` gets each finished run of the agent's code;
    its notes and findings go to the model and onto the card, with the findings from before the run.
    ``after_answer`` gets the answer that ends a turn; its notes are shown below.

    Findings are facts with a place in the code: a function may also yield them, and finds none if
    all is well. A person can hide them.

    A plain function runs in a thread of its own. A coroutine function runs on the server's
    event loop, which it must not block. Each has ``DEADLINE`` seconds. One that raises
    or takes longer ends no turn: it is logged; before a run, a person is asked instead.
    """

    name: str
    """For people and the model: letters, digits, blanks, ``_``, ``.`` and ``-``, at most 60."""
    before_run: Union[BeforeRun, None] = None
    after_run: Union[AfterRun, None] = None
    after_answer: Union[AfterAnswer, None] = None


# -------------------------------------------------------------------------------------------------
# Calls into other packages' code with a deadline.
#
# That code may block, raise anything, ignore cancellation or never return. So plain functions run
# in daemon threads: asyncio's pool is small, and a stopping server waits for it.

DEADLINE = 5.0
"""Seconds that a call has."""

Ended = tuple[Any, Union[BaseException, None]]
"""The result of a call, or its exception."""


class CallFailed(Exception):
    """``str()`` says why, for the log."""


async def _call(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function or coroutine function returns. Raises CallFailed."""
    is_async = inspect.iscoroutinefunction(function)
    work: asyncio.Future[Ended] = (
        asyncio.ensure_future(_caught(function(*arguments)))
        if is_async
        else _in_thread(partial(function, *arguments))
    )
    try:
        await asyncio.wait({work}, timeout=DEADLINE)
        if not work.done():
            raise CallFailed(f"it took longer than {DEADLINE:.0f} seconds")
    finally:
        work.cancel()
    value, error = work.result()
    if error is not None:
        raise CallFailed(f"it raised {type(error).__name__}") from error
    return value


async def _caught(awaitable: Awaitable[Any]) -> Ended:
    """The result or the exception, also one that would end the event loop."""
    try:
        return await awaitable, None
    except asyncio.CancelledError:
        raise
    except BaseException as error:
        return None, error


def _in_thread(work: Callable[[], Any]) -> asyncio.Future[Ended]:
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Ended] = loop.create_future()

    def end(ended: Ended) -> None:
        if not future.done():
            future.set_result(ended)

    def body() -> None:
        try:
            ended: Ended = (work(), None)
        except BaseException as error:
            ended = (None, error)
        with contextlib.suppress(RuntimeError):  # The loop is closed: nobody waits.
            loop.call_soon_threadsafe(end, ended)

    threading.Thread(target=body, daemon=True, name="jupyter_codeinterp hook").start()
    return future


# -------------------------------------------------------------------------------------------------
# Our own hooks: warn of what a reader may overlook or cannot see, and of protected variables.

NOT_CHECKED = Sentence("Could not check what else this runs.")


async def checked(
    check: Callable[..., tuple[Sentence, ...]], source: str, *more: object
) -> tuple[Sentence, ...]:
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
    return Notes(await checked(notices, cell.source, cell.language, cell.files))


async def _packages(cell: CellCode) -> Notes:
    """Ask a person in every mode about installed or removed packages."""
    texts = await checked(installs, cell.source, cell.language)
    return Notes(texts, ask=bool(texts))


async def _asks_to_change(cell: CellCode) -> Notes:
    """Ask a person in every mode about code that changes variables that they protect."""
    if not cell.protected:
        return Notes()
    texts = await checked(protected.notices, cell.source, cell.language, cell.protected)
    return Notes(texts, ask=bool(texts))


DID = {
    "removed": Sentence("The protected `{name}` was deleted."),
    "rebound": Sentence("The protected `{name}` was replaced."),
    "changed": Sentence("The protected `{name}` was changed."),
}
DID_WITH_VALUES = {
    "removed": Sentence("The protected `{name}` was deleted: {before} before, {after} now."),
    "rebound": Sentence("The protected `{name}` was replaced: {before} before, {after} now."),
    "changed": Sentence("The protected `{name}` was changed: {before} before, {after} now."),
}


def changed_protected(cell: CellCode, outputs: CellOutputs) -> Iterator[Finding]:
    """The changes of protected variables that nobody was asked about."""
    for change in outputs.changes:
        if change.name in cell.protected and change.how != "added":
            facts = {"name": change.name, "before": change.before, "after": change.after}
            words = DID.get(change.how, DID["changed"])
            if change.after and change.before != change.after:
                words = DID_WITH_VALUES.get(change.how, DID_WITH_VALUES["changed"])
            yield Finding("", Sentence(words, **facts))


BUILT_IN = (
    Hook("Protected variable", before_run=_asks_to_change, after_run=changed_protected),
    Hook("Hidden code", before_run=_unseen),
    Hook("Packages", before_run=_packages),
    Hook("Indirect code", before_run=_warnings),
)


# -------------------------------------------------------------------------------------------------
# Runs the hooks, and combines their results.
#
# Add one with a line in ``BUILT_IN``, in a feature's ``hooks``, or from another package with the
# entry-point group ``jupyter_codeinterp.hooks``.

LONGEST = 100_000
"""Characters of a note; a longer one is an error. Far fewer are shown."""
MOST_NOTES = 10
"""Notes accepted from one hook of another package, and findings."""
MOST_ITEMS = 1_000
"""Findings and figures read from one hook."""
LONGEST_SENTENCE = 1_000
"""Characters of a finding's sentence, and of a piece of evidence; a longer one is an error."""
MOST_EVIDENCE = 20
NOT_MADE = Sentence("This check failed to run.")
NO_NOTE = Sentence()
_NAME = re.compile(r"[\w.-](?:[\w .-]{0,58}[\w.-])?", re.ASCII)

log = logging.getLogger(__name__)


class HookNote(msgspec.Struct, frozen=True):
    """``by``: the hook's name; "" for our own hooks, whose text is trusted."""

    by: str
    text: Sentence


class Checked(msgspec.Struct, frozen=True):
    """All hooks' results. ``ask``: a person must decide in every mode. ``refusal`` is the first
    one, if any. ``figures``: where the numbers of an answer come from."""

    notes: tuple[HookNote, ...] = ()
    ask: bool = False
    refusal: Union[HookNote, None] = None
    findings: tuple[Finding, ...] = ()
    figures: tuple[FiguresFound, ...] = ()


class Hooks:
    def __init__(self, hooks: Iterable[Hook] = BUILT_IN) -> None:
        """``hooks`` are our own, called directly and without a deadline."""
        self._ours = tuple(hooks)
        self._others: list[Hook] = []

    def add(self, hook: Hook) -> None:
        """Add another package's hook. Raises ValueError with the fault."""
        if not isinstance(hook, Hook):
            raise ValueError(f"{hook!r} is not a Hook")
        name = hook.name
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not a valid hook name")
        if name in {one.name for one in (*self._ours, *self._others)}:
            raise ValueError(f"a hook named {name!r} already exists")
        calls = (hook.before_run, hook.after_run, hook.after_answer)
        given = [call for call in calls if call is not None]
        if not given or not all(map(callable, given)):
            raise ValueError(f"{name!r} must have a callable before_run, after_run or after_answer")
        self._others.append(hook)

    async def before_run(self, cell: CellCode) -> Checked:
        """Ask all hooks. If one fails, a person decides."""
        found = [await _own(hook, hook.before_run, NOT_CHECKED, cell) for hook in self._ours]
        others = [(hook, hook.before_run) for hook in self._others]
        return _together([*found, *await self._all(others, NOT_MADE, cell)])

    async def after_run(self, cell: CellCode, outputs: CellOutputs) -> Checked:
        """Tell all hooks of a run. A failed hook adds nothing."""
        found = [await _own(hook, hook.after_run, NO_NOTE, cell, outputs) for hook in self._ours]
        others = [(hook, hook.after_run) for hook in self._others if hook.after_run]
        if others:
            outputs = msgspec.structs.replace(outputs, outputs=copy.deepcopy(outputs.outputs))
        return _together([*found, *await self._all(others, NO_NOTE, cell, outputs)])

    async def after_answer(self, answer: FinalAnswer) -> Checked:
        """Tell all hooks of the end of a turn. A failed hook adds nothing."""
        found = [await _own(hook, hook.after_answer, NO_NOTE, answer) for hook in self._ours]
        others = [(hook, hook.after_answer) for hook in self._others]
        return _together([*found, *await self._all(others, NO_NOTE, answer)])

    async def _all(
        self, calls: Sequence[tuple[Hook, Callable[..., Any] | None]], fault: Sentence, *about: Any
    ) -> list[Checked]:
        """The results of other packages' hooks, which run at the same time."""
        given = [(hook, call) for hook, call in calls if call is not None]
        return await asyncio.gather(*(self._one(hook, call, fault, *about) for hook, call in given))

    async def _one(
        self, hook: Hook, call: Callable[..., Any], fault: Sentence, *about: Any
    ) -> Checked:
        """The result of another package's hook. ``fault``: the note of one that failed."""
        try:
            result = await _call(_listed(call), *about)
            return _read(hook.name, result, at_end=_is_end(about))
        except CallFailed as error:
            log.warning("The hook %s failed: %s", hook.name, error, exc_info=error.__cause__)
        except Exception:
            # It may return anything, even objects that raise when read.
            log.warning("Cannot read the result of the hook %s", hook.name, exc_info=True)
        return _failed(hook.name, fault)


async def _own(
    hook: Hook, call: Callable[..., Any] | None, fault: Sentence, *about: Any
) -> Checked:
    """The result of our own hook, whose notes have no name."""
    if call is None:
        return Checked()
    read = partial(_read, hook.name, by="", at_end=_is_end(about))
    if inspect.iscoroutinefunction(call):
        try:
            return read(await call(*about))
        except Exception:
            log.exception("Our hook %s failed", hook.name)
            return _failed("", fault)
    size = len(about[0].text if isinstance(about[0], FinalAnswer) else about[0].source)
    work = partial(_listed(call), *about)
    return await off_loop(lambda: read(work()), size, lambda: _failed("", fault))


def _failed(by: str, fault: Sentence) -> Checked:
    return Checked((HookNote(by, fault),), ask=True) if fault else Checked()


def _together(found: Sequence[Checked]) -> Checked:
    refusals = (one.refusal for one in found if one.refusal is not None)
    return Checked(
        tuple(note for one in found for note in one.notes),
        any(one.ask for one in found),
        next(refusals, None),
        tuple(finding for one in found for finding in one.findings),
        tuple(figures for one in found for figures in one.figures),
    )


def _listed(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, with a generator's findings read in the call's own thread."""
    if inspect.iscoroutinefunction(call):
        return call

    def listed(*about: Any) -> Any:
        found = call(*about)
        return list(islice(found, MOST_ITEMS)) if isinstance(found, Iterator) else found

    return listed


def _is_end(about: tuple[Any, ...]) -> bool:
    return isinstance(about[0], FinalAnswer)


def _read(name: str, result: object, by: str | None = None, *, at_end: bool = False) -> Checked:
    """Validate what the hook ``name`` returned. ``at_end``: it may have found figures. Raises
    TypeError or ValueError."""
    by = name if by is None else by
    if isinstance(result, Refusal):
        return Checked(refusal=HookNote(by, as_it_is(_text(result.reason))))
    if isinstance(result, Notes):
        texts = (result.texts,) if isinstance(result.texts, str) else result.texts
        if not isinstance(texts, (tuple, list)):
            raise TypeError(f"a hook's notes are {type(texts).__name__}")
        shown = texts[:MOST_NOTES] if by else texts
        notes = tuple(HookNote(by, as_it_is(_text(text))) for text in shown)
        return Checked(notes, bool(result.ask))
    if result is not None and not isinstance(result, (list, tuple)):
        raise TypeError(f"a hook returned {type(result).__name__}")
    found = (result or ())[: MOST_NOTES if by else MOST_ITEMS]
    if at_end and all(isinstance(one, FiguresFound) for one in found):
        return Checked(figures=tuple(found))
    return Checked(findings=tuple(_finding(name, one) for one in found))


def _text(value: object, most: int = LONGEST) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a hook returned {type(value).__name__}")
    if len(value) > most:
        raise ValueError(f"a hook returned {len(value):,} characters")
    return value


def _finding(name: str, found: object) -> Finding:
    if not isinstance(found, Finding):
        raise TypeError(f"a hook returned {type(found).__name__}")
    if found.audience not in ("person", "model"):
        raise ValueError(f"no such audience: {found.audience!r}")
    sentence = as_it_is(_text(found.sentence, LONGEST_SENTENCE))
    evidence = (_text(one, LONGEST_SENTENCE) for one in found.evidence[:MOST_EVIDENCE])
    return Finding(name, sentence, found.place, tuple(evidence), found.audience)
