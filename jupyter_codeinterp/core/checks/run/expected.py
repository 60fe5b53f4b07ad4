"""Compares a run's result with what the model expected."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding
from ..shared.check import Check, Contract, Result, SeenRun
from ..shared.source import listed

NAME = "Expected result"
COUNTED = ("list", "tuple", "set", "dict")


def read(run: SeenRun) -> Iterator[Finding]:
    contract = run.contract
    if contract is None or run.outputs.status != "ok":
        return
    if run.result is not None:
        yield from _result(contract, run.result)
    if contract.may_change is not None:
        yield from _changes(contract, contract.may_change, run)


def held(run: SeenRun) -> str:
    """The parts of the contract that hold, if the kernel could compare all of them."""
    contract, result = run.contract, run.result
    if contract is None or result is None or any(read(run)):
        return ""
    known = {"rows": result.rows is not None, "columns": result.missing is not None}
    parts = [part for part in ("type", "rows", "columns") if getattr(contract, part)]
    return ", ".join(parts) if all(known.get(part, True) for part in parts) else ""


def _result(contract: Contract, result: Result) -> Iterator[Finding]:
    it = f"`{contract.name}`" if contract.name else "the cell's last value"
    if not result.kinds:
        yield Finding(NAME, f"Expected a variable {it}; there is none.")
        return
    kind, got = contract.kind, result.kinds[0]
    if kind and kind not in result.kinds:
        yield Finding(NAME, f"Expected {it} to be of type {kind}, got {got}.")
        return
    bounds = contract.bounds
    if bounds is not None and result.rows is not None:
        low, high = bounds
        if result.rows < low or (high is not None and result.rows > high):
            what = "items" if set(COUNTED) & set(result.kinds) else "rows"
            words = f"Expected {_range(low, high)} {what} in {it}, got {result.rows:,}."
            yield Finding(NAME, words)
    elif bounds is not None:
        yield Finding(
            NAME, f"The rows of {it} cannot be counted: its type is {got}.", None, (), "model"
        )
    if result.missing:
        columns = listed(tuple(map(repr, result.missing)))
        verb = "is" if len(result.missing) == 1 else "are"
        yield Finding(NAME, f"Expected {columns} in {it}, which {verb} missing.")


def _range(low: int, high: int | None) -> str:
    if high is None:
        return f"at least {low:,}"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _changes(contract: Contract, allowed: tuple[str, ...], run: SeenRun) -> Iterator[Finding]:
    """A finding on changed variables of the person's that the model did not name."""
    names = [
        f"`{change.name}`"
        for change in run.changes
        if change.persons and change.how != "added" and change.name not in (*allowed, contract.name)
    ]
    if not names:
        return
    only = listed(tuple(f"`{name}`" for name in allowed[:5]))
    expected = f"Expected changes of {only} only" if only else "Expected no changed variable"
    yield Finding(NAME, f"{expected}; changed: {listed(tuple(names[:5]))}.")


CHECK = Check(NAME, after_run=read)
