"""The table, with what made it, for people and for docs/performance.md."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from scripts.documents import cores, made_by, renew
from scripts.tables import table

from .figures import Kept
from .last import Groups

DOCUMENT = Path("docs/performance.md")
COMMAND = "scripts/bench"
PACKAGES = ("jupyterlab", "jupyter_server", "ipykernel", "anthropic")
HEADER = ("figure", "median", "p99", "in paces", "last", "bound", "met")


def markdown(figures: Groups, last: Groups) -> str:
    """The last figures stand beside, where there are any."""
    known = {figure.name: figure for figure in _all(last)}
    rows = [_row(figure, known.get(figure.name)) for figure in _all(figures)]
    return table([HEADER, *rows])


def write(figures: Groups) -> None:
    paces = sorted(figure.pace for figure in _all(figures) if figure.pace)
    range_ = " to ".join(f"{pace:.2f}" for pace in dict.fromkeys((paces[0], paces[-1])))
    load = f"{cores()} (load {os.getloadavg()[0]:.1f} at the end), a pace of {range_} ms"
    made = made_by(COMMAND, [load], PACKAGES)
    rows = [_row(figure, None)[:4] + _row(figure, None)[5:] for figure in _all(figures)]
    header = HEADER[:4] + HEADER[5:]
    renew(DOCUMENT, COMMAND, f"{made}\n\n{table([header, *rows])}")


def _all(groups: Groups) -> Iterable[Kept]:
    for figures in groups.values():
        yield from figures


def _row(figure: Kept, last: Kept | None) -> tuple[str, ...]:
    several = figure.count > 1
    return (
        f"{figure.name} ({figure.count})" if several else figure.name,
        _amount(figure.median, figure.unit),
        _amount(figure.p99, figure.unit) if several else "",
        f"{figure.compared:,.1f}" if figure.pace else "",
        _last(last),
        ", ".join(_bound(of, limit, value, figure.unit) for of, limit, value in figure.bounds),
        _met(figure, last),
    )


def _last(last: Kept | None) -> str:
    if last is None:
        return ""
    return f"{last.compared:,.1f}" if last.pace else _amount(last.median, last.unit)


def _met(figure: Kept, last: Kept | None) -> str:
    if not figure.bounds:
        return ""
    if not figure.met:
        return "**no**"
    return "**worse**" if figure.worse_than(last) else "yes"


def _bound(of: str, limit: float, value: float, unit: str) -> str:
    said = f"≤ {_amount(limit, unit)} {of}".rstrip()
    if of not in ("p95", "worst"):
        return said  # It has a column of its own.
    return f"{said} (was {_amount(value, unit)})"


def _amount(value: float, unit: str) -> str:
    digits = 0 if value == round(value) or abs(value) >= 100 else 1
    return f"{value:,.{digits}f} {unit}".rstrip()
