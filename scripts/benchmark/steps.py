"""Measures the server's share of a step: a model without delay, 200 trivial cells, one
conversation.

A step goes from one request at the model to the next. The model's own time (until the last byte of
its answer) and the kernel's (between ``busy`` and ``idle``) are subtracted. The rest is the
server's and the window's: reading the answer, drafts, ops and receipts over the socket, the
journal, messages to and from the kernel, the next request.
"""

from __future__ import annotations

import asyncio
import gc
from itertools import pairwise

from tests.fake_anthropic import Request, answer, run_cell, text
from tests.fake_anthropic.turns import Turn

from .figures import Bound, Figure
from .workplace import Workplace, workplace

CELLS = 200
CELLS_IN_A_TURN = 20
WARM_UP = 10
"""Cells of the first turn, which are not counted."""


def trivial_cells(request: Request) -> Turn:
    """As many cells as the person's message names. All differ, because of the loop guard."""
    wanted = int(request.said[-1])
    if request.step == wanted:
        return answer(text("Done."))
    number = len(request.messages)
    return answer(run_cell(f"{number} + 1", title=f"Cell {number}"))


def measure() -> list[Figure]:
    # The fake model keeps all requests. Garbage collection of those would stop this process, with
    # model and window, for 100 ms at a time, which is not the server's share.
    gc.disable()
    try:
        return asyncio.run(_measure())
    finally:
        gc.enable()


async def _measure() -> list[Figure]:
    limit = f"--CodeInterp.max_steps={CELLS_IN_A_TURN + 5}"
    async with workplace(trivial_cells, limit) as place:
        await place.turn(str(WARM_UP))
        for _ in range(CELLS // CELLS_IN_A_TURN):
            await place.turn(str(CELLS_IN_A_TURN))
        shares = _shares(place)[WARM_UP:]
    return [
        Figure(
            "server's share of a step",
            [share * 1000 for share in shares],
            "ms",
            (Bound(20, "median"), Bound(60, "p99")),
        ),
    ]


def _shares(place: Workplace) -> list[float]:
    """Seconds of each cell, in order. The last answer of a turn runs none."""
    requests = place.model.requests
    kernel = iter(place.kernel_times())
    return [
        following.received - asked.finished - next(kernel)
        for asked, following in pairwise(requests)
        if not begins_turn(following.body)
    ]


def begins_turn(body: dict[str, object]) -> bool:
    return Request(body).step == 0
