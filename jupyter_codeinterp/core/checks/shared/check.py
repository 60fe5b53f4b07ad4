"""What a check is, and the run that it reads."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Union

import msgspec
from msgspec import Meta

from ...findings import Finding, Place
from ...hooks import CellCode, CellOutputs

# -------------------------------------------------------------------------------------------------
# What the model expects of a cell before it runs: the result's type and size, and which variables
# may change. ``checks/run/expected.py`` compares it with the kernel's report. It never hides a
# finding.

LONGEST = 100
"""Characters of a name."""
MOST_NAMES = 50
_SAME = {
    "array": "ndarray",
    "boolean": "bool",
    "dataframe": "DataFrame",
    "dictionary": "dict",
    "index": "Index",
    "integer": "int",
    "nonetype": "None",
    "none": "None",
    "numeric": "number",
    "series": "Series",
    "string": "str",
    "table": "DataFrame",
    "text": "str",
}

Rows = tuple[int, Union[int, None]]


class Contract(msgspec.Struct, frozen=True):
    """What the model expects of the variable ``name``, or else of the cell's last value. Raises
    ValueError, worded for the model, if it cannot be compared."""

    name: Annotated[
        Union[str, None], Meta(description="A variable; default: the cell's last value.")
    ] = None
    type: Annotated[Union[str, None], Meta(description="Such as DataFrame.")] = None
    columns: Annotated[
        Union[tuple[str, ...], None], Meta(description="Columns that it must have.")
    ] = None
    rows: Annotated[
        Union[int, str, None], Meta(description='A number, or a range: "10-20", "1-".')
    ] = None
    may_change: Annotated[
        Union[tuple[str, ...], None], Meta(description="Existing variables that may change.")
    ] = None

    def __post_init__(self) -> None:
        if self.name and not _is_name(self.name):
            raise ValueError("name must be the name of a variable")
        if len(self.type or "") > LONGEST:
            raise ValueError("type must be the name of a type")
        for names in (self.columns or (), self.may_change or ()):
            if len(names) > MOST_NAMES or any(len(name) > LONGEST for name in names):
                raise ValueError(
                    f"columns and may_change take {MOST_NAMES} names of {LONGEST} characters"
                )
        if not all(map(_is_name, self.may_change or ())):
            raise ValueError("may_change takes names of variables")
        if self.rows is not None and self.bounds is None:
            raise ValueError('rows must be a number or a range, as "10-20" or "1-"')

    @property
    def bounds(self) -> Rows | None:
        """The fewest and the most rows; None if ``rows`` is not readable."""
        if isinstance(self.rows, int):
            return (self.rows, self.rows) if 0 <= self.rows < 10**12 else None
        parts = [part.strip() for part in (self.rows or "").split("-")]
        if len(parts) > 2 or not _is_count(parts[0]):
            return None
        low = int(parts[0])
        if len(parts) == 1:
            return low, low
        if not parts[1]:
            return low, None
        return (low, int(parts[1])) if _is_count(parts[1]) and low <= int(parts[1]) else None

    @property
    def kind(self) -> str:
        """The type's usual name without its module, such as ``DataFrame``."""
        last = (self.type or "").strip().split(".")[-1]
        return _SAME.get(last.lower(), last)

    @property
    def asked(self) -> dict[str, Any]:
        """What the kernel must report on; empty if nothing."""
        about = (self.name, self.type, self.columns, self.rows)
        if not any(part not in (None, "", ()) for part in about):
            return {}
        return {"name": self.name or "", "columns": list(self.columns or ())}


def _is_name(text: str) -> bool:
    return len(text) <= LONGEST and text.isidentifier()


def _is_count(text: str) -> bool:
    return 0 < len(text) <= 12 and text.isascii() and text.isdigit()


class Fact(msgspec.Struct, frozen=True):
    """What the kernel observed at one call in the cell: values by name (``figures``). ``place`` is
    the call's place in the source, if known."""

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


class Result(msgspec.Struct, frozen=True):
    """The value that a contract describes, as the kernel saw it after the run. ``kinds``: names of
    its class and base classes; () if the variable does not exist. ``missing``: columns of the
    contract that it lacks; None if the kernel did not compare them."""

    kinds: tuple[str, ...] = ()
    rows: Union[int, None] = None
    missing: Union[tuple[str, ...], None] = None


class SeenRun(msgspec.Struct, frozen=True):
    """A finished run. Only Python kernels report facts and changes. ``asked``: the person's
    message. ``contract``: the result that the model expects; ``result``: what the kernel saw."""

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
    """``before_run`` reads the code, ``after_run`` the finished run. Both return facts, or nothing
    if all is well.

    A plain function runs in a thread of its own; a coroutine function must not block the
    server's event loop. One that raises, or takes longer than ``hooks.DEADLINE``
    seconds, finds nothing.
    """

    name: str
    """For people and the model, in the form of ``Hook.name``."""
    before_run: Union[BeforeRun, None] = None
    after_run: Union[AfterRun, None] = None
