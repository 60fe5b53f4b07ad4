"""Runs the checks on a cell's code and on its finished run.

Add one with a line in ``BUILT_IN``, or from another package with the entry-point group
``jupyter_codeinterp.checks``.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable
from functools import partial
from itertools import islice
from typing import Any

from ..findings import Finding
from ..hooks import Caller, CallFailed, CellCode, validate
from ..off_loop import off_loop
from .run import expected, filters, joins, lost_values
from .shared.check import Check, SeenRun

BUILT_IN = (
    *(expected.CHECK, filters.CHECK, joins.CHECK),
    lost_values.CHECK,
)

MOST = 10
"""Findings read of one check."""
LONGEST = 1_000
"""Characters of a sentence, and of a piece of evidence; a longer one is an error."""
MOST_EVIDENCE = 20

log = logging.getLogger(__name__)


class Checks:
    def __init__(self, checks: Iterable[Check] = BUILT_IN) -> None:
        """``checks`` are our own, called directly and without a deadline."""
        self._ours = tuple(checks)
        self._others: list[Check] = []
        self._caller = Caller()

    def add(self, check: Check) -> None:
        """Add another package's check. Raises ValueError with the fault."""
        validate(check, Check, (*self._ours, *self._others))
        self._others.append(check)

    async def before_run(self, cell: CellCode) -> tuple[Finding, ...]:
        """What the code alone shows."""
        return await self._found(lambda check: check.before_run, cell, len(cell.source))

    async def after_run(self, run: SeenRun) -> tuple[Finding, ...]:
        """What the code and its run show."""
        before = await self.before_run(run.cell)
        after = await self._found(lambda check: check.after_run, run, len(run.cell.source))
        return (*before, *after)

    async def _found(
        self, method: Callable[[Check], Callable[..., Any] | None], subject: Any, size: int
    ) -> tuple[Finding, ...]:
        found: list[Finding] = []
        for ours in filter(None, map(method, self._ours)):
            found += await off_loop(partial(_called, ours, subject), size, list[Finding])
        for check in self._others:
            call = method(check)
            if call is not None:
                found += await self._others_findings(check.name, call, subject)
        return tuple(found)

    async def _others_findings(
        self, name: str, call: Callable[..., Any], subject: Any
    ) -> list[Finding]:
        """The findings of another package's check; none if it failed."""
        try:
            return _read(name, await self._caller.call(name, _listed(call), subject))
        except CallFailed as error:
            log.warning("The check %s failed: %s", name, error, exc_info=error.__cause__)
        except Exception:
            # It may return anything, even objects that raise when read.
            log.warning("Cannot read the result of the check %s", name, exc_info=True)
        return []


def _called(call: Callable[..., Any], subject: Any) -> list[Finding]:
    return _first(call(subject))


def _first(found: Iterable[Finding] | None) -> list[Finding]:
    return list(islice(found or (), MOST))


def _listed(call: Callable[..., Any]) -> Callable[..., Any]:
    """The call, with a generator's findings read in the call's own thread."""
    if inspect.iscoroutinefunction(call):
        return call

    def listed(subject: Any) -> Any:
        found = call(subject)
        return found if inspect.isawaitable(found) else _first(found)

    return listed


def _read(name: str, found: object) -> list[Finding]:
    """Validate what a check returned. Raises TypeError or ValueError."""
    if found is not None and not isinstance(found, (list, tuple)):
        raise TypeError(f"a check returned {type(found).__name__}")
    return [_checked(name, one) for one in (found or ())[:MOST]]


def _checked(name: str, found: object) -> Finding:
    if not isinstance(found, Finding):
        raise TypeError(f"a check returned {type(found).__name__}")
    texts = (found.sentence, *found.evidence[:MOST_EVIDENCE])
    for text in texts:
        if not isinstance(text, str) or len(text) > LONGEST:
            raise ValueError("a sentence or a piece of evidence is no text, or too long")
    if found.audience not in ("person", "model"):
        raise ValueError(f"no such audience: {found.audience!r}")
    return Finding(name, found.sentence, found.place, texts[1:], found.audience)
