"""What two people and the agent do in one notebook, and what must hold."""

from __future__ import annotations

import asyncio
import os
import random
import secrets
from collections.abc import Awaitable, Callable
from typing import Any

from scripts.hubs.checks import Checks

from .pages import Pages
from .site import COLLABORATION, Site, notebook_of

FILE = "team.ipynb"
AGENT = "Code interpreter"
KNOWN = ("Caught error while handling a Yjs update", "(reading 'oldValue')")
"""An error of JupyterLab's own, when a person runs a cell (docs/shared-notebooks.md)."""
KILLS = 3
SAVED = 3
"""Seconds in which a room has surely saved its file, or got what it lacks."""
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
        people = await pages.do(who, "people")
        checks.that(f"{who} sees the agent among the people", AGENT in people, people)
    if folder := os.environ.get("CODEINTERP_PICTURES"):
        await pages.do("bert", "picture", to=f"{folder}/agent-among-people.png")
    await _no_errors(checks, pages)
    await pages.do("bert", "run", command="notebook:run-all-cells")
    await asyncio.sleep(2)
    cells = await pages.do("ada", "cells")
    await _no_errors(checks, pages, ran_by_hand=True)
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
        if site.environment == COLLABORATION:  # The other package runs people's cells itself.
            await _stale(checks, pages, who, ["c0", "c1"])
        panel = await pages.do(who, "panel")
        checks.that(f"no word of another window for {who}", "another window" not in panel, panel)
    await _in_file(checks, site, pages)
    people = await pages.do("ada", "people")
    checks.that("the agent has left when its turn is over", AGENT not in people, people)
    await _no_errors(checks, pages)


async def _stale(checks: Checks, pages: Pages, who: str, wanted: list[str]) -> None:
    """The cells have run, and have been edited since."""
    found: list[str] = []
    for _ in range(50):
        if (found := await pages.do(who, "stale")) == wanted:
            break
        await asyncio.sleep(0.2)
    checks.that(f"edited cells are stale for {who}", found == wanted, found)


async def _no_errors(checks: Checks, pages: Pages, *, ran_by_hand: bool = False) -> None:
    errors: list[str] = await pages.do("ada", "errors")
    known = [one for one in errors if ran_by_hand and all(part in one for part in KNOWN)]
    if known:
        print(f"  JupyterLab's own error of a run by hand: {len(known)} times")
    others = [one for one in errors if one not in known]
    checks.that("the pages report no errors", not others, others)


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


async def three_cells(checks: Checks, site: Site, pages: Pages) -> None:
    """Three cells, one of which fails and is fixed, while both people type without a pause."""
    await opened(site, pages, "ada", "bert")
    await pages.do("ada", "ask", text="Which region grew fastest? #growth")
    typing = [
        asyncio.ensure_future(pages.do(who, "type", cell=cell, text=words * 12, delay=60))
        for who, cell, words in (("bert", "c0", " # b"),)
    ]
    await pages.do("bert", "until", holds="cells.length > 3")
    while await pages.do("ada", "next"):
        await pages.do("ada", "decide", button="Run")
    await asyncio.gather(*typing)
    cells = await pages.do("bert", "until", holds="cells.filter(c => c.outputs?.length).length > 2")
    await asyncio.sleep(2)
    cells = await pages.do("bert", "cells")
    checks.that("what Bert typed is there", cells[0]["source"] == "a = 1" + " # b" * 12, cells)
    checks.that("no cell is left running", not any("*" in c["prompt"] for c in cells), cells)
    checks.that(
        "no error is left",
        not any(o["output_type"] == "error" for c in cells for o in c.get("outputs", [])),
    )
    _whole(checks, "bert", cells)
    same = [c["source"] for c in await pages.do("ada", "cells")] == [c["source"] for c in cells]
    checks.that("both have the same", same)
    await _in_file(checks, site, pages)


async def decisions(checks: Checks, site: Site, pages: Pages) -> None:
    """Each may decide: reject, delete the draft's cell, or run what the other has changed."""
    await opened(site, pages, "ada", "bert")
    three = "cells.length === 3"
    await pages.do("ada", "ask", text="Add #one_cell")
    await pages.do("bert", "until", holds="cells.length === 4")
    await pages.do("bert", "decide", button="Reject")
    await pages.do("ada", "until", holds=three)
    checks.that("Bert rejects what Ada asked for", True)
    await pages.do("ada", "says", text="It is 2.")

    await pages.do("ada", "ask", text="Again: add #one_cell")
    cells = await pages.do("bert", "until", holds="cells.length === 4")
    (draft,) = [cell for cell in cells if cell["cell_type"] == "raw"]
    await pages.do("bert", "remove", cell=draft["id"])
    await pages.do("ada", "until", holds=three)
    await pages.do("ada", "over")
    checks.that("a draft whose cell Bert deletes is rejected", True)

    await pages.do("ada", "ask", text="Once more: add #one_cell")
    cells = await pages.do("bert", "until", holds="cells.length === 4")
    (draft,) = [cell for cell in cells if cell["cell_type"] == "raw"]
    await pages.do("bert", "type", cell=draft["id"], text=" + 40")
    changed = "cells.some(c => c.source === '1 + 1 + 40')"
    await pages.do("ada", "until", holds=changed)
    await pages.do("ada", "decide", button="Run")
    ran = (
        "cells.some(c => c.source === '1 + 1 + 40' && c.outputs[0]?.data?.['text/plain'] === '42')"
    )
    for who in ("ada", "bert"):
        cells = await pages.do(who, "until", holds=ran)
        _whole(checks, who, cells)
    checks.that("Ada runs what Bert has made of the draft", True)


async def let_go(checks: Checks, site: Site, pages: Pages) -> None:
    """Both close their pages in mid-turn; the room goes, and comes back with all of it."""
    await opened(site, pages, "ada", "bert")
    await pages.do("ada", "ask", text="Wait #ten_seconds")
    await pages.do("ada", "decide", button="Run")
    await pages.do("bert", "until", holds="cells.some(c => c.outputs?.[0]?.text === 'before\\n')")
    before = await pages.do("ada", "cells")
    await asyncio.gather(pages.do("ada", "close"), pages.do("bert", "close"))
    await asyncio.sleep(6)
    await pages.do("bert", "open", url=site.server.url, token=site.token, file=FILE)
    cells = await pages.do(
        "bert", "until", holds="cells.some(c => c.outputs?.[0]?.text === 'before\\nafter\\n')"
    )
    ids = [cell["id"] for cell in cells]
    checks.that("the same cells are there, once", ids == [c["id"] for c in before], cells)
    _whole(checks, "bert", cells)
    checks.that("no cell is left running", not any("*" in c["prompt"] for c in cells), cells)


async def restart(checks: Checks, site: Site, pages: Pages) -> None:
    """The server is killed while a draft waits; the pages come back to the next one."""
    await opened(site, pages, "ada", "bert")
    await pages.do("ada", "ask", text="Add #one_cell")
    await pages.do("ada", "decide", button="Run")
    await pages.do("ada", "says", text="It is 2.")
    await pages.do("bert", "until", holds="cells.some(c => c.execution_count)")
    await site.stop(kill=True)
    await site.start()
    for who in ("ada", "bert"):
        await pages.do(who, "close")
        await pages.do(who, "open", url=site.server.url, token=site.token, file=FILE)
        cells = await pages.do(who, "until", holds="cells.length === 4")
        sources = [cell["source"] for cell in cells]
        checks.that(f"{who} has each cell once", sorted(sources) == sorted(set(sources)), sources)
        ran = [cell for cell in cells if cell["source"] == "1 + 1"]
        checks.that(f"{who} has the outputs", bool(ran and ran[0]["outputs"]), cells)
        _whole(checks, who, cells)
    await pages.do("bert", "ask", text="Again: add #one_cell")
    await pages.do("ada", "until", holds="cells.length === 5")


async def kills(checks: Checks, site: Site, pages: Pages) -> None:
    """The server is killed at any moment of a task, again and again, while somebody types."""
    chance = random.Random(seed := secrets.randbelow(1000))
    print(f"  seed {seed}")
    await opened(site, pages, "ada", "bert")
    typed = ""
    for number in range(KILLS):
        await pages.do("ada", "ask", text="Which region grew fastest? #growth")
        await pages.do("bert", "type", cell="c0", text=f" # b{number}")
        typed += f" # b{number}"
        await asyncio.sleep(SAVED)
        deciding = asyncio.ensure_future(pages.do("ada", "decide", button="Run"))
        await asyncio.sleep(chance.uniform(0, 6))
        await site.stop(kill=True)
        await asyncio.gather(pages.do("ada", "close"), pages.do("bert", "close"))
        await asyncio.gather(deciding, return_exceptions=True)
        await site.start()
        for who in ("ada", "bert"):
            await pages.do(who, "open", url=site.server.url, token=site.token, file=FILE)
        await asyncio.sleep(SAVED)
        cells = await pages.do("bert", "cells")
        after = f"after kill {number + 1}"
        kept = cells[0]["source"] == f"a = 1{typed}"
        checks.that(f"{after}: what Bert typed is there", kept, cells[0])
        running = [cell for cell in cells if "*" in cell["prompt"]]
        checks.that(f"{after}: no cell is left running", not running, running)
        _whole(checks, "bert", cells)
        same = [c["id"] for c in await pages.do("ada", "cells")] == [c["id"] for c in cells]
        checks.that(f"{after}: both have the same cells", same)
        await _in_file(checks, site, pages)


Story = Callable[[Checks, Site, Pages], Awaitable[None]]
STORIES: dict[str, Story] = {
    "task": one_task,
    "cells": three_cells,
    "decisions": decisions,
    "let-go": let_go,
    "restart": restart,
    "kills": kills,
}
