"""Pages of tables from a real kernel: hostile names and values, bounds, and who may ask."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.server.tables.shapes import answer_from
from tests.kernels import Gate
from tests.reference_window import notebook
from tests.site import Site

pytestmark = pytest.mark.usefixtures("patient")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a second a page should be there; a busy machine may need longer."""
    monkeypatch.setattr("jupyter_codeinterp.adapters.kernels.zmq.tables.LIMIT", 60)


class Looking:
    """A person who runs cells in a notebook and looks at its tables."""

    def __init__(self, site: Site, kernel_id: str, person: Any) -> None:
        self.site, self.kernel_id, self.run = site, kernel_id, person.run

    async def ask(self, name: str, **asked: Any) -> Any:
        given = {"notebook": "a.ipynb", "name": name, **asked}
        return await self.site.post("tables", json_body=given)

    async def page(self, name: str, **asked: Any) -> Any:
        answer = await self.ask(name, **asked)
        return answer.get("table", answer)

    async def cells(self, name: str, **asked: Any) -> Any:
        return (await self.page(name, **asked))["cells"]


async def look(site: Site) -> Looking:
    kernel_id = await site.kernel()
    await site.window("a.ipynb", notebook("x = 1"), kernel_id)
    await site.guarded(kernel_id)
    return Looking(site, kernel_id, await site.watch(kernel_id))


async def test_pages_of_a_table(site: Site) -> None:
    looking = await look(site)
    await looking.run(
        "import pandas as pd\n"
        "df = pd.DataFrame({'n': range(1000), 's': ['a', 'b'] * 500}, index=range(5, 1005))"
    )
    page = await looking.page("df", start=10, rows=2)
    version = page.pop("version")
    assert page == {
        "type": "DataFrame",
        "rows": 1000,
        "columns": 2,
        "found": 1000,
        "searched": 1000,
        "start": 10,
        "first": 0,
        "heads": [
            {"label": "n", "dtype": "int64", "kind": "number"},
            {"label": "s", "dtype": "str", "kind": "text"},
        ],
        "index": ["15", "16"],
        "cells": [["10", "11"], ["a", "b"]],
    }
    assert (await looking.page("df", start=1, rows=1))["version"] == version
    assert await looking.cells("df", start=999) == [["999"], ["b"]]
    assert await looking.cells("df", start=5_000) == [[], []]
    await looking.run("df = df.head(3)")
    page = await looking.page("df")
    assert page["rows"] == 3
    assert page["version"] != version
