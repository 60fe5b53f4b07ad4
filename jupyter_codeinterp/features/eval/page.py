"""The results as a table and as one static page. All text in the page is untrusted: it is escaped,
nothing loads, and no script can run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from string import Template

from ...base.visible import visible, visible_line
from ...journal.transcript import Card, Item
from ...wire.events import Cost
from .checking import pictures
from .trial import Attempt, Tried

FIGURES = ("requests", "input_tokens", "output_tokens", "seconds", "failed_cells", "not_found")
HEADS = ("task", "solved", "requests", "tokens in", "tokens out", "seconds", "failed cells",
         "figures not found", "cost")  # fmt: skip
TEMPLATE = Template(Path(__file__).with_suffix(".html").read_text("utf-8"))
_IMAGE = '<img alt="chart" src="data:image/png;base64,{}">'
_PNG = re.compile(r"iVBORw0KGgo[A-Za-z0-9+/]{,500000}={,2}")
"""A picture in Base64, of at most 375 kB."""


def rows(attempts: Sequence[Attempt]) -> list[list[str]]:
    """A row a task, below the heads; the last one is for all."""
    names = list(dict.fromkeys(one.task for one in attempts))
    own = [[name, *_sums([one for one in attempts if one.task == name])] for name in names]
    return [list(HEADS), *own, ["all", *_sums(attempts)]]


def _sums(attempts: Sequence[Attempt]) -> list[str]:
    solved = sum(one.solved for one in attempts)
    sums = (sum(getattr(one, name) for one in attempts) for name in FIGURES)
    costs = [one.cost or Cost() for one in attempts]
    known = [cost.dollars or 0.0 for cost in costs if cost.local or cost.dollars is not None]
    total = Cost(sum(known) if len(known) == len(costs) else None, all(c.local for c in costs))
    words = str(total).removeprefix("cost ")
    return [f"{solved} of {len(attempts)}", *(f"{one:,.0f}" for one in sums), words]


def table(attempts: Sequence[Attempt]) -> str:
    """The rows as text, in columns."""
    cells = [[visible_line(cell) for cell in row] for row in rows(attempts)]
    first, *others = (max(map(len, column)) for column in zip(*cells, strict=True))
    return "\n".join(
        "  ".join((row[0].ljust(first), *map(str.rjust, row[1:], others))) for row in cells
    )


def page(title: str, done: Sequence[Tried]) -> str:
    heads, *others = rows([tried.attempt for tried in done])
    lines = [_row(heads, "th"), *(_row(cells, "td") for cells in others)]
    runs = "".join(map(_run, done))
    return TEMPLATE.substitute(title=_text(title), rows="".join(lines), runs=runs)


def _row(cells: Iterable[str], kind: str) -> str:
    return f"<tr>{''.join(f'<{kind}>{_text(cell)}</{kind}>' for cell in cells)}</tr>"


def _run(tried: Tried) -> str:
    attempt, drawn = tried.attempt, pictures(tried.notebook)
    parts = [_block("no", one) for one in (attempt.problem, *attempt.faults) if one]
    for turn in tried.turns:
        parts.append(_block("asked", turn.asked))
        parts += [_item(item, drawn) for step in turn.steps for item in step.items]
    sign, mark = ("yes", "✓") if attempt.solved else ("no", "✗")
    head = f'<span class="{sign}">{mark}</span> {_text(attempt.task)}, run {attempt.run}'
    return f"<details><summary>{head}</summary>{''.join(parts)}</details>\n"


def _block(kind: str, text: str) -> str:
    return f'<div class="{kind}">{_text(text)}</div>'


def _item(item: Item, drawn: dict[str, list[str]]) -> str:
    """A card has the pictures of its cell; the first one takes them out of ``drawn``."""
    if not isinstance(item, Card):
        return _block("text", item.text)
    mark = "yes" if item.status == "ok" else "no"
    head = f'{_text(item.title or item.name)} <span class="{mark}">{_text(item.status)}</span>'
    texts = (item.source or item.waiting, item.question, item.answer, item.result)
    shown = [f"<pre>{_text(one)}</pre>" for one in texts if one.strip()]
    found = drawn.pop(item.done.cell_id, []) if item.done is not None else []
    shown += map(_IMAGE.format, filter(_PNG.fullmatch, found))
    return f'<div class="card">{head}</div>{"".join(shown)}'


def _text(text: str) -> str:
    return escape(visible(text, code=True))
