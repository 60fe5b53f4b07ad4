"""Looking for the figures of a long answer in 5 MB of outputs."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable
from typing import Any

from jupyter_codeinterp.core.figures.origins import origins
from jupyter_codeinterp.core.figures.shown import Cell

from .figures import Bound, Figure

ROUNDS = 30
WARM_UP = 3
CELLS = 50
OF_A_CELL = 100_000
"""Characters."""
SENTENCES = 40
REGIONS = ("North", "South", "East", "West", "Coast", "Harbour")
QUESTION = "Which region grew fastest, and when?"


def measure() -> list[Figure]:
    cells = made_cells()
    answer = made_answer(cells)
    found = len(origins(answer, QUESTION, cells))
    if not 20 < found < 2 * SENTENCES:
        raise RuntimeError(f"{found} figures have an origin")
    return [
        Figure(
            f"{2 * SENTENCES} figures of an answer, looked up in 5 MB of outputs",
            _times(lambda: origins(answer, QUESTION, cells)),
            "ms",
            (Bound(20, "median"),),
        ),
    ]


def _times(work: Callable[[], Any]) -> list[float]:
    found = []
    for _ in range(WARM_UP + ROUNDS):
        gc.collect()
        began = time.perf_counter()
        work()
        found.append(1000 * (time.perf_counter() - began))
    return found[WARM_UP:]


def made_cells() -> list[Cell]:
    """Tables, logs with dates and plain numbers, in turn."""
    made = random.Random(1)
    kinds = (_table, _log, _numbers)
    return [
        Cell(
            f"cell{number}",
            ({"output_type": "stream", "name": "stdout", "text": kinds[number % 3](made)},),
            number < CELLS // 2,
        )
        for number in range(CELLS)
    ]


def _table(made: random.Random) -> str:
    rows = ["  region    sold  share        day"]
    while sum(map(len, rows)) + len(rows) < OF_A_CELL:
        date = f"2024-{made.randint(1, 12):02}-{made.randint(1, 28):02}"
        sold, share = made.randint(1_000, 99_999), made.random()
        rows.append(f"{len(rows) - 1:<3}{made.choice(REGIONS):>8}{sold:>7}  {share:.4f} {date}")
    return "\n".join(rows)


def _log(made: random.Random) -> str:
    lines: list[str] = []
    while sum(map(len, lines)) + len(lines) < OF_A_CELL:
        at = f"2024-{made.randint(1, 12):02}-{made.randint(1, 28):02} 10:{made.randint(10, 59)}:07"
        lines.append(
            f"{at} epoch {len(lines)}: loss {made.random():.5f}, {made.random():.1%} right"
        )
    return "\n".join(lines)


def _numbers(made: random.Random) -> str:
    return " ".join(f"{made.uniform(0, 1e5):.3f}" for _ in range(OF_A_CELL // 10))


def made_answer(cells: list[Cell]) -> str:
    """Sentences of two figures each; some are in the outputs, most are not."""
    made = random.Random(2)
    text = str(cells[0].outputs[0]["text"])
    rows = [line.split() for line in text.split("\n")[1:200]]
    parts = ["# Sales\n"]
    for number in range(SENTENCES):
        _, region, sold, share, _ = made.choice(rows)
        if number % 3:
            sold, share = str(made.randint(100_000, 999_999)), f"{made.random():.4f}"
        day = f"{made.randint(1, 28)} March 2024"
        parts.append(
            f"In the {region} region people bought {int(sold):,} boxes until {day}, which is "
            f"{float(share):.2%} of the total and more than in the year before, as the “{region}” "
            "rows of the table show.\n"
        )
    return "\n".join(parts)
