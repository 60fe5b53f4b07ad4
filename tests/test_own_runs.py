"""Cells that people run themselves, and whose page closes before the run ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.core import commands as c
from tests.kernels import Gate, Person, until
from tests.reference_window import ReferenceWindow, notebook
from tests.site import Site


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"window_grace": 0.3, "leave_grace": 0.1}


class Stage:
    """A person at a kernel who runs the cell ``c1``, which prints, waits, and prints again."""

    def __init__(self, site: Site, folder: Path, gate: Gate, kernel_id: str) -> None:
        self.site = site
        self.file = folder / "a.ipynb"
        self.gate = gate
        self.kernel_id = kernel_id
        self.source = f"print('early')\n{gate.source}\nprint('late')\n6 * 7"
        self.book = notebook(self.source, "x = 20")
        self.file.write_text(json.dumps(self.book))
        self.person: Person

    async def start(self) -> None:
        self.person = (await self.site.watch(self.kernel_id)).person

    async def window(self, *own_runs: str, secret: str = "", keep: bool = True) -> ReferenceWindow:
        book = json.loads(self.file.read_text())
        window = await self.site.bare_window("a.ipynb", book, secret)
        command = c.OpenNotebook(
            "a.ipynb", {}, self.kernel_id, keep_outputs=keep, own_runs=own_runs
        )
        assert (await window.send(command)).error is None
        return window

    async def run(self, window: ReferenceWindow, source: str = "", cell_id: str = "c1") -> str:
        """The id of the person's request, of which the server has heard."""
        source = source or self.source
        msg_id = self.person.run(source)
        await self.report(window, msg_id, source=source, cell_id=cell_id)
        return msg_id

    async def report(self, window: ReferenceWindow, msg_id: str, **given: Any) -> None:
        cell_id = given.pop("cell_id", "c1")
        command = c.OwnRun("a.ipynb", cell_id, self.kernel_id, msg_id, **given)
        assert (await window.send(command)).error is None

    @property
    def in_file(self) -> dict[str, Any]:
        cell: dict[str, Any] = json.loads(self.file.read_text())["cells"][0]
        return cell

    @property
    def kept(self) -> int:
        return len(self.site.extension.manager.own_runs._kept)


@pytest.fixture
def stage(site: Site, jp_root_dir: Path, tmp_path: Path, jp_asyncio_loop: Any) -> Stage:
    kernel_id = jp_asyncio_loop.run_until_complete(site.kernel_of("a.ipynb"))
    stage = Stage(site, jp_root_dir, Gate(tmp_path / "gate"), kernel_id)
    jp_asyncio_loop.run_until_complete(stage.start())
    return stage


def said(cell: dict[str, Any] | None) -> str:
    """A cell's outputs, in words."""
    assert cell is not None
    parts = []
    for output in cell["outputs"]:
        text = output.get("text") or output.get("data", {}).get("text/plain") or output["ename"]
        parts.append("".join(text))
    return "|".join(parts)


WHOLE = "early\nlate\n|42"


async def test_a_page_closes_and_the_outputs_are_in_the_file(stage: Stage) -> None:
    window = await stage.window()
    msg_id = await stage.run(window)
    await stage.person.begun(msg_id)
    await window.close()
    stage.gate.open()
    await until(lambda: said(stage.in_file) == WHOLE)
    assert stage.in_file["execution_count"] is not None
    await until(lambda: not stage.kept)
