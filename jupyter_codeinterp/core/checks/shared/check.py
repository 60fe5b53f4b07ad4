"""What a check is, and what it gets to see."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Union

import msgspec

from ...findings import Finding, Place
from ...hooks.hook import CellCode, CellOutputs
from .contract import Contract


class Fact(msgspec.Struct, frozen=True):
    """What the kernel saw of one call in the cell: its ``kind`` and its figures by name.
    ``place`` is the call's place in the source, if known."""

    kind: str
    place: Union[Place, None] = None
    figures: dict[str, Any] = {}


class Change(msgspec.Struct, frozen=True):
    """What a run did to a variable. ``persons``: the person made it. ``before`` and ``after``
    describe it, as ``DataFrame of 429 rows and 5 columns``."""

    name: str
    how: str
    """``added``, ``removed``, ``rebound`` or ``changed`` in place."""
    persons: bool = False
    before: str = ""
    after: str = ""


class Result(msgspec.Struct, frozen=True):
    """What a contract is about, as the kernel saw it after the run. ``kinds`` are the names of
    its types, its own first; none if there is no such variable. ``missing`` are columns that the
    contract names; None if the kernel did not compare them."""

    kinds: tuple[str, ...] = ()
    rows: Union[int, None] = None
    missing: Union[tuple[str, ...], None] = None


class SeenRun(msgspec.Struct, frozen=True):
    """A run that has come to its end. Kernels other than Python's give no facts and changes.
    ``asked`` are the person's words. ``contract`` is what the model said of the result before,
    and ``result`` what the kernel saw of it."""

    cell: CellCode
    outputs: CellOutputs
    facts: tuple[Fact, ...] = ()
    changes: tuple[Change, ...] = ()
    asked: str = ""
    contract: Union[Contract, None] = None
    result: Union[Result, None] = None


Found = Union[Iterable[Finding], None]
BeforeRun = Callable[[CellCode], Union[Found, Awaitable[Found]]]
AfterRun = Callable[[SeenRun], Union[Found, Awaitable[Found]]]


@dataclass(frozen=True)
class Check:
    """``before_run`` reads the code, ``after_run`` what came of it. Both state facts, and return
    nothing when all is well.

    A plain function runs in a thread of its own; a coroutine function must not block the
    server's event loop. One that raises, or takes longer than ``hooks.bounded.DEADLINE``
    seconds, finds nothing.
    """

    name: str
    """As a hook's."""
    before_run: Union[BeforeRun, None] = None
    after_run: Union[AfterRun, None] = None
