"""Measures a step in a browser, and an op in a notebook of 1,000 cells: Chromium
without a window, JupyterLab, turns in Auto mode with code that streams and cells that run.

It measures the processor time of the main thread, JupyterLab's work included, from a frame's
arrival until it is applied and answered. The server, the kernel and the browser's other processes
run at the same time.

All cells are drawn before the measurement. The longest op is then the deletion of an empty active
cell: JupyterLab activates another cell, which needs a layout of all cells.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from asyncio.subprocess import PIPE
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.fake_anthropic import (
    FakeAnthropic,
    Request,
    Speed,
    answer,
    call,
    edit_cell,
    run_cell,
    scenario,
    text,
)
from tests.fake_anthropic.scenarios import LONG, PARAGRAPHS, SINE
from tests.fake_anthropic.turns import Answer, Turn
from tests.reference_window import notebook

from .figures import Bound, Figure
from .servers import jupyter_server
from .steps import begins_turn, trivial_cells
from .task import MODEL_CALL
from .workplace import KEY

SCRIPT = Path(__file__).with_name("browser.mjs")
CELLS = 1000
ORDINARY = 100
OPS = {"insert", "set_source", "begin_run", "finish_run", "delete"}
HINTS = {"stream", "outputs", "display"}


def _mend(request: Request) -> Turn:
    return answer(edit_cell(request.last_cell, "sum(range(10))", title="Mend"))


def _delete(request: Request) -> Turn:
    return answer(call("delete_cell", {"cell_id": request.last_cell}))


_steps = scenario(
    answer(text("This takes a while."), run_cell(LONG, title="Many squares")),
    answer(run_cell("for n in range(2_000):\n    print('line', n)", title="Print a lot")),
    answer(run_cell(SINE, title="Plot the squares")),
    answer(call("add_markdown", {"source": "## What was found\n\nTwo *regions* grew."})),
    answer(run_cell("1 / 0", title="Fails")),
    _mend,
    answer(run_cell("scratch = 1", title="Try something")),
    _delete,
    answer(text(PARAGRAPHS)),
)
_AT_LENGTH = answer(text(PARAGRAPHS * 3)).at(delay=0.03)
"""400 characters a second for more than 20 seconds: longer than the typing lasts."""


STEPS = 20
WARM_UP = 5
"""Steps of the first turn, which are not counted."""


def turn(request: Request) -> Answer:
    """As many trivial cells as the person's message names. Otherwise all kinds of ops first, then
    long answers in words."""
    if request.said[-1].isdigit():
        return trivial_cells(request).at(first=MODEL_CALL)
    return _steps(request) if len(request.said) == 1 else _AT_LENGTH


def measure() -> list[Figure]:
    seen = asyncio.run(_measure())
    ops = _of(seen, OPS)
    if {op["kind"] for op in ops} != OPS:
        raise RuntimeError("the turn did not make every kind of op")
    return [
        Figure(
            "in a browser: a step beyond the model",
            seen["steps"],
            "ms",
            (Bound(80, "median"),),
        ),
        _applying("1,000 cells: applying an op", ops),
        _applying("1,000 cells: code and outputs as they come", _of(seen, HINTS)),
        _applying("1,000 cells: reading the notebook", _of(seen, {"read"})),
        Figure(
            "1,000 cells, 2,000 variables: from the @ to the list",
            seen["names"],
            "ms",
            (Bound(50, "worst"),),
        ),
        Figure(
            "100 cells: typing in the message field during a stream",
            seen["typing"],
            "ms",
            (Bound(16, "p95"),),
        ),
    ]


def _of(seen: Any, kinds: set[str]) -> list[dict[str, Any]]:
    return [frame for frame in seen["frames"] if frame["kind"] in kinds]


def _applying(name: str, frames: list[dict[str, Any]]) -> Figure:
    times = [frame["processor"] for frame in frames]
    return Figure(name, times, "ms", (Bound(50, "worst"),))


async def _measure() -> Any:
    speed = Speed(delay=0.01)
    async with FakeAnthropic(turn, speed=speed, check=False) as model:
        environment = {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": KEY}
        options = (
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
        )
        with jupyter_server(*options, module="jupyterlab", environment=environment) as server:
            urls = {}
            for name, cells in {"long": CELLS, "short": ORDINARY, "steps": 1}.items():
                file = server.folder / "notebooks" / f"{name}.ipynb"
                file.write_text(json.dumps(_notebook(cells)))
                # A workspace for each notebook: a shared one would open both.
                path = f"lab/workspaces/{name}/tree/{file.name}?codeinterp=open"
                urls[name] = f"{server.url}/{path}&token={server.token}"
            turns = {"turns": [WARM_UP, STEPS], "executable": _chromium()}
            seen = await _drive({**urls, **turns})
        seen["steps"] = _beyond_model(model.requests)[WARM_UP:]
        return seen


def _beyond_model(requests: list[Any]) -> list[float]:
    """Milliseconds from the end of each answer with a trivial cell to the next request."""
    counted = [one for one in requests if Request(one.body).said[-1].isdigit()]
    return [
        (following.received - asked.finished) * 1000
        for asked, following in pairwise(counted)
        if not begins_turn(following.body)
    ]


async def _drive(options: dict[str, Any]) -> Any:
    process = await asyncio.create_subprocess_exec(
        "node", str(SCRIPT), json.dumps(options), stdout=PIPE
    )
    out, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError(f"the browser's part failed with {process.returncode}")
    return json.loads(out)


def _chromium() -> str:
    """The path of the system's Chromium; "" to use Playwright's own."""
    names = ("chromium", "chromium-browser", "google-chrome", "chromium-headless-shell")
    return next(filter(None, map(shutil.which, names)), "")


def _notebook(count: int) -> dict[str, Any]:
    book = notebook(
        *(f"value_{number} = {number}\nprint(value_{number})" for number in range(count))
    )
    for number, cell in enumerate(book["cells"]):
        cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": f"{number}\n"}]
        cell["execution_count"] = number
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return {**book, "metadata": {"kernelspec": spec}}
