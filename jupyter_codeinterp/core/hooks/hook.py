"""What a hook is: a function that is asked before code runs, or told what came of it, or both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Union

import msgspec

from ..document.ops import Output
from ..events import Status


class CellCode(msgspec.Struct, frozen=True):
    """Code that is to run, or has run. ``cell_id`` is "" where it ran in no cell of the
    notebook; ``language`` is the kernel's, in its own writing; ``files`` are names of what lies
    beside the notebook, folders with a slash; ``unread``: no person can read it before it runs."""

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
    """What came of a run. ``outputs`` are nbformat's, a copy; ``elapsed`` is seconds."""

    status: Status
    outputs: tuple[Output, ...]
    execution_count: Union[int, None] = None
    elapsed: float = 0.0


@dataclass(frozen=True)
class Notes:
    """What a hook has to say, a sentence or a few each. With ``ask``, which counts before a
    run only, a person must decide on the run in every mode."""

    texts: Sequence[str] = ()
    ask: bool = False


@dataclass(frozen=True)
class Refusal:
    """The code does not run, whoever has decided on it. ``reason`` is for the model and the
    person, in words."""

    reason: str


Before = Union[Notes, Refusal, None]
After = Union[Notes, None]
BeforeRun = Callable[[CellCode], Union[Before, Awaitable[Before]]]
AfterRun = Callable[[CellCode, CellOutputs], Union[After, Awaitable[After]]]


@dataclass(frozen=True)
class Hook:
    """``before_run`` is asked about each piece of code of the agent that is to run, in the
    bytes that would run; its notes stand on the card while a person is asked. A run that the
    person began by hand cannot be refused any more. ``after_run`` is told of each run that has
    come to its end, the agent's own or one that the person made of its draft; its notes go to
    the model and onto the card.

    A plain function runs in a thread of its own. A coroutine function runs on the server's
    event loop, which it must not block. Each has ``bounded.DEADLINE`` seconds. One that raises
    or takes longer ends no turn: it is logged; before a run, a person is asked instead.
    """

    name: str
    """For people and the model: letters, digits, blanks, ``_``, ``.`` and ``-``, at most 60."""
    before_run: Union[BeforeRun, None] = None
    after_run: Union[AfterRun, None] = None
