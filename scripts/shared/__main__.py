"""Two people in browsers and the agent in one notebook, for ``scripts/engines``.

Ada asks, both type meanwhile, Ada changes the draft, Bert decides, and Ada undoes the turn.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scripts.benchmark.servers import PATIENCE, Server, free_port, wait_until_it_answers
from scripts.hubs.checks import Checks
from tests.fake_anthropic import FakeAnthropic
from tests.fake_anthropic.scenarios import SCENARIOS
from tests.fake_anthropic.scripts import by_words, echo

from .pages import Pages, StepFailed, browsers

PACKAGES = Path(__file__).parents[2] / ".packages"
TOKEN = "a-token-of-rooms"
FILE = "team.ipynb"
AGENT = "Code interpreter"
KNOWN = ("Caught error while handling a Yjs update", "(reading 'oldValue')")
"""An error of JupyterLab's own, when a person runs a cell (docs/shared-notebooks.md)."""
TYPED = ["a = 1 + 10  # Ada", "b = 2 + 20  # Bert"]
Cell = dict[str, Any]


@contextmanager
def lab(folder: Path, model_url: str, engine: str) -> Iterator[Server]:
    """JupyterLab with the package, on a notebook of three cells."""
    notebooks = folder / "notebooks"
    notebooks.mkdir()
    (notebooks / FILE).write_text(json.dumps(_notebook("a = 1", "b = 2", "c = 3")))
    port = free_port()
    own = {f"JUPYTER_{kind}_DIR": str(folder / kind) for kind in ("CONFIG", "DATA", "RUNTIME")}
    with (folder / "server.log").open("ab") as log:
        process = subprocess.Popen(
            [
                *(str(PACKAGES / engine / "bin" / "python"), "-m", "jupyterlab", "--allow-root"),
                *("--no-browser", "--expose-app-in-browser", "--ServerApp.ip=127.0.0.1"),
                *(f"--ServerApp.root_dir={notebooks}", f"--ServerApp.port={port}"),
                *("--ServerApp.port_retries=0", "--LabApp.news_url="),
            ],
            cwd=notebooks,
            env={
                **os.environ,
                **own,
                "JUPYTER_TOKEN": TOKEN,
                "IPYTHONDIR": str(folder / "ipython"),
                "ANTHROPIC_BASE_URL": model_url,
                "ANTHROPIC_API_KEY": "sk-ant-rooms-0123456789",
            },
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    server = Server(f"http://127.0.0.1:{port}", TOKEN, folder)
    try:
        wait_until_it_answers(server, process)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _notebook(*sources: str) -> dict[str, Any]:
    """With these code cells: c0, c1 …"""
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    empty: Cell = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}
    return {
        "cells": [{**empty, "id": f"c{n}", "source": source} for n, source in enumerate(sources)],
        "metadata": {"kernelspec": kernelspec, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


async def story(checks: Checks, server: Server, pages: Pages) -> None:
    for who in ("ada", "bert"):
        await pages.do(who, "open", url=server.url, token=TOKEN, file=FILE)
        checks.that(f"{who} shares the notebook", await pages.do(who, "collaborative"))
    draft = await _draft(checks, pages)
    await _run_all_by_hand(checks, pages)
    await asyncio.gather(
        pages.do("ada", "type", cell="c0", text=" + 10  # Ada"),
        pages.do("bert", "type", cell="c1", text=" + 20  # Bert"),
    )
    await pages.do("ada", "type", cell=draft, text=" + 40")
    await pages.do("bert", "until", holds="cells.some(c => c.source === '1 + 1 + 40')")
    await pages.do("bert", "decide", button="Run")
    ran = (
        "cells.some(c => c.source === '1 + 1 + 40' && c.outputs[0]?.data?.['text/plain'] === '42')"
    )
    for who in ("ada", "bert"):
        await pages.do(who, "says", text="It is 2.")
        _whole(checks, who, await pages.do(who, "until", holds=ran))
    await _in_file(checks, server, pages)
    people = await pages.do("ada", "people")
    checks.that("the agent has left when its turn is over", AGENT not in people, people)
    await pages.do("ada", "undo")
    for who in ("ada", "bert"):
        _whole(checks, who, await pages.do(who, "until", holds="cells.length === 3"))
    await _in_file(checks, server, pages)
    await _no_errors(checks, pages)


async def _draft(checks: Checks, pages: Pages) -> str:
    """Its cell."""
    await pages.do("ada", "ask", text="Add #one_cell")
    there = "cells.some(c => c.cell_type === 'raw' && c.source === '1 + 1')"
    for who in ("ada", "bert"):
        cells = await pages.do(who, "until", holds=there)
        checks.that(f"the draft is a raw cell for {who}", len(cells) == 4, cells)
        people = await pages.do(who, "people")
        checks.that(f"{who} sees the agent among the people", AGENT in people, people)
    await _no_errors(checks, pages)
    return str(next(cell["id"] for cell in cells if cell["cell_type"] == "raw"))


async def _run_all_by_hand(checks: Checks, pages: Pages) -> None:
    await pages.do("bert", "run", command="notebook:run-all-cells")
    await asyncio.sleep(2)
    cells = await pages.do("ada", "cells")
    checks.that("Run All leaves the draft alone", any(c["cell_type"] == "raw" for c in cells))
    await _no_errors(checks, pages, ran_by_hand=True)


async def _no_errors(checks: Checks, pages: Pages, *, ran_by_hand: bool = False) -> None:
    errors: list[str] = await pages.do("ada", "errors")
    others = [one for one in errors if not (ran_by_hand and all(part in one for part in KNOWN))]
    if len(others) < len(errors):
        print(f"  JupyterLab's own error of a run by hand: {len(errors) - len(others)} times")
    checks.that("the pages report no errors", not others, others)


def _whole(checks: Checks, who: str, cells: list[Cell]) -> None:
    sources = [cell["source"] for cell in cells]
    checks.that(f"{who} has all that was typed", sources[:2] == TYPED, sources)
    ids = [cell["id"] for cell in cells]
    checks.that(f"nothing is twice for {who}", len(ids) == len(set(ids)), ids)


async def _in_file(checks: Checks, server: Server, pages: Pages) -> None:
    """The room writes the file some time after the last change."""
    wanted = [(cell["id"], cell["source"]) for cell in await pages.do("ada", "cells")]
    found: list[tuple[str, str]] = []
    for _ in range(50):
        book = json.loads((server.folder / "notebooks" / FILE).read_text())
        found = [(cell["id"], "".join(cell["source"])) for cell in book["cells"]]
        if found == wanted:
            break
        await asyncio.sleep(0.2)
    checks.that("the file has the same cells", found == wanted, found)


async def _show(pages: Pages) -> None:
    """Print what each person has in front of them, to find the cause."""
    for who in ("ada", "bert"):
        for step in ("panel", "cells"):
            with contextlib.suppress(StepFailed):
                print(who, step, await pages.do(who, step), sep=": ")
    print("errors:", await pages.do("ada", "errors"))


async def look(checks: Checks, engine: str, folder: Path) -> None:
    async with FakeAnthropic(by_words(SCENARIOS, otherwise=echo)) as model:
        with lab(folder, model.url, engine) as server:
            async with browsers() as pages:
                try:
                    await story(checks, server, pages)
                except StepFailed:
                    await _show(pages)
                    raise


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/engines")
    parser.add_argument("engine", choices=["collaboration", "server-documents"])
    engine = parser.parse_args().engine
    checks = Checks()
    with tempfile.TemporaryDirectory(
        prefix="codeinterp-rooms-", ignore_cleanup_errors=True
    ) as name:
        try:
            asyncio.run(look(checks, engine, Path(name)))
        except Exception:
            print(Path(name, "server.log").read_text()[-6000:])
            raise
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
