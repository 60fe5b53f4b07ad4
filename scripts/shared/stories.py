"""What two people and the agent do in one notebook, and what must hold."""

from __future__ import annotations

import asyncio
from typing import Any

from scripts.hubs.checks import Checks

from .pages import Pages
from .site import Site, notebook_of

FILE = "team.ipynb"
Cell = dict[str, Any]


async def opened(site: Site, pages: Pages, *people: str) -> None:
    site.write(FILE, notebook_of("a = 1", "b = 2", "c = 3"))
    for who in people:
        await pages.do(who, "open", url=site.server.url, token=site.token, file=FILE)


async def one_task(checks: Checks, site: Site, pages: Pages) -> None:
    """Ada asks, Bert decides, and both type meanwhile."""
    await opened(site, pages, "ada", "bert")
    for who in ("ada", "bert"):
        checks.that(f"{who} shares the notebook", await pages.do(who, "collaborative"))
    await pages.do("ada", "ask", text="Add #one_cell")
    there = "cells.some(c => c.cell_type === 'raw' && c.source === '1 + 1')"
    for who in ("ada", "bert"):
        cells = await pages.do(who, "until", holds=there)
        checks.that(f"the draft is a raw cell for {who}", len(cells) == 4, cells)
    await _no_errors(checks, pages)
    await pages.do("bert", "run", command="notebook:run-all-cells")
    await asyncio.sleep(2)
    cells = await pages.do("ada", "cells")
    # JupyterLab's own: each page sets the state of a cell that one of them has run.
    print("JupyterLab says of Run All:", await pages.do("ada", "errors"))
    checks.that("Run All leaves the draft alone", any(c["cell_type"] == "raw" for c in cells))
    await asyncio.gather(
        pages.do("ada", "type", cell="c0", text=" + 10  # Ada"),
        pages.do("bert", "type", cell="c1", text=" + 20  # Bert"),
    )
    await pages.do("bert", "decide", button="Run")
    ran = "cells.some(c => c.source === '1 + 1' && c.cell_type === 'code' && c.outputs.length)"
    for who in ("ada", "bert"):
        await pages.do(who, "says", text="It is 2.")
        cells = await pages.do(who, "until", holds=ran)
        sources = [c["source"] for c in cells]
        checks.that(
            f"{who} has all that was typed",
            sources[:2] == ["a = 1 + 10  # Ada", "b = 2 + 20  # Bert"],
            sources,
        )
        _whole(checks, who, cells)
        panel = await pages.do(who, "panel")
        checks.that(f"no word of another window for {who}", "another window" not in panel, panel)
    await _in_file(checks, site, pages)
    await _no_errors(checks, pages)


async def _no_errors(checks: Checks, pages: Pages) -> None:
    errors = await pages.do("ada", "errors")
    checks.that("the pages report no errors", not errors, errors)


def _whole(checks: Checks, who: str, cells: list[Cell]) -> None:
    ids = [cell["id"] for cell in cells]
    checks.that(f"nothing is twice for {who}", len(ids) == len(set(ids)), ids)
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    counted = all("execution_count" in cell for cell in code)
    checks.that(f"each code cell has a count for {who}", counted, code)


async def _in_file(checks: Checks, site: Site, pages: Pages) -> None:
    """The room writes the file some time after the last change."""
    cells = await pages.do("ada", "cells")
    wanted = [(cell["id"], cell["source"]) for cell in cells]
    found: list[tuple[str, str]] = []
    for _ in range(50):
        found = [(c["id"], "".join(c["source"])) for c in site.read(FILE)["cells"]]
        if found == wanted:
            break
        await asyncio.sleep(0.2)
    checks.that("the file has the same cells", found == wanted, found)


STORIES = {"task": one_task}
