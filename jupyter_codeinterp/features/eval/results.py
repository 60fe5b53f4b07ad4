"""The results as a table, and as one page in Markdown that loads and runs nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...base.visible import visible_line
from ...journal.prose import plain
from ...wire.events import Cost
from .trial import Attempt, Tried

FIGURES = ("requests", "input_tokens", "output_tokens", "seconds", "failed_cells", "not_found")
HEADS = ("task", "solved", "requests", "tokens in", "tokens out", "seconds", "failed cells",
         "figures not found", "cost")  # fmt: skip


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
    lines = [_row(heads), _row("---" for _ in heads), *map(_row, others)]
    return "\n\n".join([f"# {plain(title)}", "\n".join(lines), *map(_run, done)])


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(map(plain, cells))} |"


def _run(tried: Tried) -> str:
    attempt = tried.attempt
    mark = "✓" if attempt.solved else "✗"
    wrong = [f"- {plain(one)}" for one in (attempt.problem, *attempt.faults) if one]
    return "\n\n".join(
        [f"---\n\n# {mark} {plain(attempt.task)}, run {attempt.run}", *wrong, tried.transcript]
    )
