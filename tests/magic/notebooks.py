"""Notebooks with ``%%ai`` in them, run by nbclient in a real kernel against the fake model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import nbformat
from nbclient import NotebookClient

from tests.fake_anthropic import FakeAnthropic

KEY = "sk-fake-0123456789abcdef"
NOBODYS = Path(__file__).parent / "nobody"
"""A folder that is not there: whoever runs the tests may have kept keys, and settings."""
LOAD = "%load_ext jupyter_codeinterp"
TIME = 110.0
"""Seconds for a notebook, on a machine that has other things to do."""


def environment(api: FakeAnthropic, more: Mapping[str, str] = {}) -> dict[str, str]:
    """Of a kernel that asks the fake."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")}
    nobodys = {"JUPYTER_CONFIG_DIR": str(NOBODYS), "JUPYTER_DATA_DIR": mkdtemp()}
    keys = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": KEY}
    return {**kept, **nobodys, **keys, **more}


async def run(
    api: FakeAnthropic, *cells: str, folder: Path | None = None, fails: bool = False, **env: str
) -> list[dict[str, Any]]:
    """The cells as they are afterwards. The extension is loaded first; ``fails``: a cell may."""
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(source) for source in (LOAD, *cells)]
    client = NotebookClient(
        book,
        timeout=TIME,
        allow_errors=fails,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder or Path.cwd())}},
    )
    await client.async_execute(env=environment(api, env))
    nbformat.validate(book)
    return [dict(cell) for cell in book.cells[1:]]


def said(cell: Mapping[str, Any]) -> str:
    """All that stands below a cell, as text; Markdown where there is Markdown."""
    return "\n".join(filter(None, map(_text, cell["outputs"])))


def _text(output: Mapping[str, Any]) -> str:
    if output["output_type"] == "stream":
        return str(output["text"])
    if output["output_type"] == "error":
        return "\n".join(output["traceback"])
    data = output["data"]
    return str(data.get("text/markdown") or data.get("text/plain", ""))


def prompts(api: FakeAnthropic) -> list[str]:
    """What the model was sent as the person's words, in each request, all of it."""
    return ["\n".join(_said(exchange.body)) for exchange in api.requests]


def _said(body: Mapping[str, Any]) -> list[str]:
    return [
        part["text"]
        for message in body["messages"]
        if message["role"] == "user"
        for part in message["content"]
        if part["type"] == "text"
    ]
