"""Cells that people run themselves, and whose page closes before the run ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.adapters.kernels.zmq import KernelLink
from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core.document.ops import BeginRun, FinishRun
from jupyter_codeinterp.server.own_runs import OwnRuns
from jupyter_codeinterp.server.own_runs.delivery import CHANGED, DIED
from jupyter_codeinterp.server.own_runs.lost_runs import LOST
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
        self.watch = await self.site.watch(self.kernel_id)
        self.person = self.watch.person

    @property
    def link(self) -> KernelLink:
        return self.site.extension.workbench._kernels.get(self.kernel_id)[0]

    async def begin(self, window: ReferenceWindow, source: str = "", cell_id: str = "c1") -> str:
        """A run whose beginning the server has heard. (It listens as soon as it is connected.)"""
        while self.link.others._latest is None:
            await self.watch.run("None")
        msg_id = await self.run(window, source, cell_id)
        run = self.own_runs._kept[msg_id].run
        await until(lambda: run.whole and (source or run.outputs))
        return msg_id

    async def window(
        self,
        *own_runs: str,
        secret: str = "",
        keep: bool = True,
        edited: bool = False,
    ) -> ReferenceWindow:
        """A page with the notebook open."""
        book = json.loads(self.file.read_text())
        window = await self.site.bare_window("a.ipynb", book, secret)
        command = c.OpenNotebook(
            "a.ipynb",
            {},
            self.kernel_id,
            edited=edited,
            keep_outputs=keep,
            own_runs=own_runs,
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
    def own_runs(self) -> OwnRuns:
        return self.site.extension.manager.own_runs

    @property
    def kept(self) -> int:
        return len(self.own_runs._kept)

    @property
    def is_away(self) -> bool:
        return any(kept.task is not None for kept in self.own_runs._kept.values())


def told(window: ReferenceWindow) -> list[str]:
    return [frame.words for frame in window.frames if isinstance(frame, c.OutputsNotKept)]


def ops(window: ReferenceWindow) -> list[c.OpFrame]:
    return [frame for frame in window.frames if isinstance(frame, c.OpFrame)]


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
NOTHING = ""


async def test_a_page_closes_and_the_outputs_are_in_the_file(stage: Stage) -> None:
    window = await stage.window()
    await stage.begin(window)
    await window.close()
    stage.gate.open()
    await until(lambda: said(stage.in_file) == WHOLE)
    assert stage.in_file["execution_count"] is not None
    await until(lambda: not stage.kept)


async def test_the_page_stays_to_the_end_and_nothing_is_written(stage: Stage) -> None:
    window = await stage.window()
    msg_id = await stage.begin(window)
    stage.gate.open()
    await stage.person.finished(msg_id)
    await stage.report(window, msg_id, ended=True)
    assert not stage.kept
    await window.close()
    other = await stage.window()
    assert said(other.cell("c1")) == said(stage.in_file) == NOTHING
    assert ops(other) == []


async def test_a_page_that_comes_back_in_mid_run_shows_all(stage: Stage) -> None:
    window = await stage.window()
    msg_id = await stage.begin(window)
    await window.close()
    await until(lambda: stage.is_away)
    again = await stage.window()
    shown = await again.until(lambda: [f for f in again.frames if isinstance(f, c.OutputsFrame)])
    assert (shown[0].cell_id, shown[0].run_id) == ("c1", msg_id)
    assert shown[0].outputs[0]["text"] == "early\n"
    stage.gate.open()
    await again.until(lambda: said(again.cell("c1")) == WHOLE)
    assert [op.op.__class__ for op in ops(again)] == [BeginRun, FinishRun]
    assert said(stage.in_file) == NOTHING, "a window has it open"
    await until(lambda: not stage.kept)


async def test_it_comes_back_after_the_end(stage: Stage) -> None:
    """The page has left unsaved edits: nobody writes the file, and the page gets it all."""
    window = await stage.window(edited=True)
    msg_id = await stage.begin(window)
    await window.close()
    stage.gate.open()
    await stage.person.finished(msg_id)
    notebook = stage.site.extension.manager.notebooks.at("a.ipynb")
    await until(lambda: notebook._hand_over.blocked is not None)
    assert said(stage.in_file) == NOTHING
    again = await stage.window()
    await again.until(lambda: said(again.cell("c1")) == WHOLE)
    await until(lambda: not stage.kept)


async def test_a_lost_connection_changes_nothing(stage: Stage) -> None:
    window = await stage.window()
    msg_id = await stage.begin(window)
    window.socket.close()
    await window.closed.wait()
    again = await stage.window(msg_id, secret=window.secret)
    stage.gate.open()
    await stage.person.finished(msg_id)
    await stage.report(again, msg_id, ended=True)
    assert ops(again) == [] and not stage.kept


async def test_a_run_that_ends_while_the_connection_is_lost(stage: Stage) -> None:
    """The page follows the kernel by another connection, and no longer names the run."""
    window = await stage.window()
    msg_id = await stage.begin(window)
    window.socket.close()
    await window.closed.wait()
    stage.gate.open()
    await stage.person.finished(msg_id)
    again = await stage.window(secret=window.secret)
    assert ops(again) == [] and not stage.kept


async def test_the_person_closes_the_notebook_and_not_the_page(stage: Stage) -> None:
    window = await stage.window()
    await stage.begin(window)
    await window.send(c.CloseNotebook("a.ipynb"))
    stage.gate.open()
    await until(lambda: said(stage.in_file) == WHOLE)


async def test_a_cell_that_has_changed_keeps_its_outputs(stage: Stage) -> None:
    """Its unsaved source was lost with the page, for example. The next page is told."""
    window = await stage.window()
    msg_id = await stage.begin(window)
    book = notebook("another()")
    book["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "old"}]
    stage.file.write_text(json.dumps(book))
    await window.close()
    stage.gate.open()
    await stage.person.finished(msg_id)
    await until(lambda: not stage.kept)
    assert said(stage.in_file) == "old"
    assert told(await stage.window()) == [CHANGED]


async def test_a_deleted_cell_is_no_loss(stage: Stage) -> None:
    window = await stage.window()
    msg_id = await stage.begin(window)
    stage.file.write_text(json.dumps(notebook()))
    await window.close()
    stage.gate.open()
    await stage.person.finished(msg_id)
    await until(lambda: not stage.kept)
    assert told(await stage.window()) == []


async def test_the_cell_runs_again(stage: Stage) -> None:
    """The second run counts, also if the page of the first comes to its end later."""
    window = await stage.window()
    await stage.begin(window)
    await window.close()
    again = await stage.window()
    await again.until(lambda: ops(again))
    second = stage.person.run("print('second')")
    await stage.report(again, second, source="print('second')")
    cell = again.cell("c1")
    assert cell is not None
    cell["source"] = "print('second')"
    cell["metadata"].pop("codeinterp")
    cell["outputs"] = []
    stage.gate.open()
    await stage.person.finished(second)
    await stage.report(again, second, ended=True)
    await until(lambda: not stage.kept)
    assert cell["outputs"] == []


@pytest.mark.parametrize("how", ["dies", "restarts"])
async def test_the_kernel(stage: Stage, how: str) -> None:
    window = await stage.window()
    await stage.begin(window)
    await window.close()
    await until(lambda: stage.is_away)
    if how == "dies":
        kernels: Any = stage.site.app.kernel_manager
        await kernels.get_kernel(stage.kernel_id).provisioner.kill()
    else:
        await stage.site.restart(stage.kernel_id)
    # A restart begins with an interrupt, which the code may still tell of.
    told = [f"early\n|[{DIED}]\n", "early\n|KeyboardInterrupt"]
    await until(lambda: said(stage.in_file) in (told if how == "restarts" else told[:1]))


async def test_the_notebook_is_renamed(stage: Stage) -> None:
    window = await stage.window()
    await stage.begin(window)
    await window.close()
    await until(lambda: stage.is_away)
    await stage.site.rename("a.ipynb", "b.ipynb")
    stage.file = stage.file.with_name("b.ipynb")
    stage.gate.open()
    await until(lambda: said(stage.in_file) == WHOLE)


async def test_the_notebook_is_deleted(stage: Stage) -> None:
    window = await stage.window()
    await stage.begin(window)
    await window.close()
    await until(lambda: stage.is_away)
    await stage.site._fetch("api", "contents", "a.ipynb", method="DELETE")
    await until(lambda: not stage.kept)


async def test_another_window_has_the_notebook_open(stage: Stage) -> None:
    first = await stage.window()
    await stage.begin(first)
    other = await stage.window()
    await first.close()
    stage.gate.open()
    await other.until(lambda: said(other.cell("c1")) == WHOLE)
    assert said(stage.in_file) == NOTHING


async def test_a_queued_cell_that_the_kernel_drops(stage: Stage) -> None:
    """An earlier cell failed: the kernel runs no later one, and its old outputs stay."""
    window = await stage.window()
    await stage.begin(window, f"{stage.gate.source}\n1 / 0", "c2")
    dropped = await stage.run(window)
    await window.close()
    stage.gate.open()
    await stage.person.finished(dropped)
    await until(lambda: not stage.kept)
    assert "codeinterp" not in stage.in_file["metadata"]


async def test_the_server_stops_in_mid_run(stage: Stage, data_dir: Path) -> None:
    window = await stage.window()
    await stage.begin(window)
    await window.close()
    await until(lambda: stage.is_away)
    assert len(list((data_dir / "own-runs").iterdir())) == 1
    # What the next server knows.
    stage.site.extension.manager.own_runs.close()
    assert told(await stage.window()) == [LOST]
    assert told(await stage.window()) == [], "once"


async def test_nothing_remains_on_disk(stage: Stage, data_dir: Path) -> None:
    window = await stage.window()
    await stage.begin(window)
    await window.close()
    stage.gate.open()
    await until(lambda: said(stage.in_file) == WHOLE and not stage.kept)
    assert list((data_dir / "own-runs").iterdir()) == []


async def test_off_it_costs_nothing(stage: Stage) -> None:
    await stage.window(keep=False)
    link = stage.link
    assert link._wire is None and not link.others.active


async def test_the_run_of_another_notebook_or_the_agent_is_not_kept(stage: Stage) -> None:
    window = await stage.window()
    stage.link.listeners["agents"] = None  # type: ignore[assignment]
    await stage.report(window, "agents", source="x")
    command = c.OwnRun("b.ipynb", "c1", stage.kernel_id, "other", "x")
    assert (await window.send(command)).error is None
    assert not stage.kept
    del stage.link.listeners["agents"]


async def test_the_kernel_is_not_culled_meanwhile(stage: Stage) -> None:
    kernels: Any = stage.site.app.kernel_manager
    before = kernels._kernel_connections.get(stage.kernel_id, 0)
    window = await stage.window()
    msg_id = await stage.begin(window)
    await window.close()
    await until(lambda: kernels._kernel_connections[stage.kernel_id] == before + 1)
    stage.gate.open()
    await stage.person.finished(msg_id)
    await until(lambda: kernels._kernel_connections[stage.kernel_id] == before)


class TestNotAllowed:
    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {"keep_outputs": False}

    async def test_an_admin_turns_it_off(self, stage: Stage) -> None:
        window = await stage.window()
        await stage.run(window)
        assert not stage.kept and not stage.link.others.active
        stage.gate.open()
