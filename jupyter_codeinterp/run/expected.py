"""What the model expects of a cell's result before it runs: its type and size. It is compared with
the kernel's report."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Union

import msgspec
from msgspec import Meta

from ..base.sentences import Sentence
from ..wire.findings import Finding

NAME = "Expected result"
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

COUNTED = ("list", "tuple", "set", "dict")

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

    def __post_init__(self) -> None:
        if self.name and not _is_name(self.name):
            raise ValueError("name must be the name of a variable")
        if len(self.type or "") > LONGEST:
            raise ValueError("type must be the name of a type")
        names = self.columns or ()
        if len(names) > MOST_NAMES or any(len(name) > LONGEST for name in names):
            raise ValueError(f"columns takes {MOST_NAMES} names of {LONGEST} characters")
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


class ResultSeen(msgspec.Struct, frozen=True):
    """The value that a contract describes, as the kernel saw it after the run. ``kinds``: names of
    its class and base classes; () if the variable does not exist. ``missing``: columns of the
    contract that it lacks; None if the kernel did not compare them."""

    kinds: tuple[str, ...] = ()
    rows: Union[int, None] = None
    missing: Union[tuple[str, ...], None] = None


TYPE = Sentence("Expected {it} to be of type {kind}, got {got}.")
ITEMS = Sentence("Expected {wanted} items in {it}, got {got:,}.")
ROWS = Sentence("Expected {wanted} rows in {it}, got {got:,}.")
UNCOUNTED = Sentence("The rows of {it} cannot be counted: its type is {got}.")
MISSING = Sentence("Expected {columns} in {it}, which is missing.")
ALL_MISSING = Sentence("Expected {columns} in {it}, which are missing.")


def findings(contract: Contract, result: ResultSeen | None) -> Iterator[Finding]:
    """What differs in a run that succeeded."""
    if result is None:
        return
    it = f"`{contract.name}`" if contract.name else Sentence("the cell's last value")
    if not result.kinds:
        yield Finding(NAME, Sentence("Expected a variable {it}; there is none.", it=it))
        return
    kind, got = contract.kind, result.kinds[0]
    if kind and kind not in result.kinds:
        yield Finding(NAME, Sentence(TYPE, it=it, kind=kind, got=got))
        return
    bounds = contract.bounds
    if bounds is not None and result.rows is not None:
        low, high = bounds
        if result.rows < low or (high is not None and result.rows > high):
            words = ITEMS if set(COUNTED) & set(result.kinds) else ROWS
            wanted = _range(low, high)
            yield Finding(NAME, Sentence(words, wanted=wanted, it=it, got=result.rows))
    elif bounds is not None:
        words = Sentence(UNCOUNTED, it=it, got=got)
        yield Finding(NAME, words, audience="model")
    if result.missing:
        columns = _listed(tuple(map(repr, result.missing)))
        words = MISSING if len(result.missing) == 1 else ALL_MISSING
        yield Finding(NAME, Sentence(words, columns=columns, it=it))


def _range(low: int, high: int | None) -> str:
    if high is None:
        return Sentence("at least {count:,}", count=low)
    return f"{low:,}" if low == high else Sentence("{low:,} to {high:,}", low=low, high=high)


def _listed(values: tuple[str, ...]) -> str:
    """``'a', 'b' and 'c'``"""
    if len(values) < 2:
        return "".join(values)
    return Sentence("{names} and {last}", names=", ".join(values[:-1]), last=values[-1])
