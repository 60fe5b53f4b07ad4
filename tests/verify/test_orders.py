"""Proposing an order of cells over REST."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.reference_window import body, notebook
from tests.site import Site

ASKED = {"notebook": "a.ipynb"}


def write(root: Path, *sources: str, **changes: Any) -> bytes:
    made = notebook(*sources)
    made["metadata"] = {"language_info": {"name": "python"}}
    made["cells"].insert(0, {"id": "m", "cell_type": "markdown", "metadata": {}, "source": "#"})
    made.update(changes)
    file = root / "a.ipynb"
    file.write_text(json.dumps(made))
    return file.read_bytes()


async def test_a_proposal_changes_nothing(site: Site, jp_root_dir: Path) -> None:
    before = write(jp_root_dir, "print(x)", "", "x = 1")
    found = await site.post("orders", json_body=ASKED)
    assert found == {
        "cells": ["c2", "c3", "m", "c1"],
        "moves": [{"cell_id": "c1", "words": "Code cell 1 uses `x`, which Code cell 2 makes."}],
        "left": [],
        **{name: [] for name in ("imports", "unused", "headings", "added", "edited", "gone")},
    }
    assert (jp_root_dir / "a.ipynb").read_bytes() == before
    assert not list(site.app.kernel_manager.list_kernel_ids())


async def test_refusals(site: Site, jp_root_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refused(asked: Any = ASKED) -> tuple[int, str]:
        response = await site.as_page("POST", "orders", json_body=asked)
        return response.code, body(response)["code"]

    assert await refused() == (404, "unknown_notebook")
    assert await refused({"notebook": ""}) == (400, "malformed")
    write(jp_root_dir, "x", metadata={"language_info": {"name": "R"}})
    assert await refused() == (400, "malformed")
    write(jp_root_dir, "x", "x = 1")
    monkeypatch.setattr("jupyter_codeinterp.server.verify.notebook.MOST_IN_ORDER", 1)
    assert await refused() == (413, "too_large")
    response = await site.request("POST", "orders", json_body=ASKED)
    assert (response.code, body(response)["code"]) == (403, "no_window")
