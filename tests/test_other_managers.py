"""Contents managers that save in a way of their own: Jupytext, a manager without files, and
managers whose versions are coarse. And a file that another program writes at the same time."""

from __future__ import annotations

import asyncio
import copy
import itertools
import json
import os
import tempfile
from collections.abc import Awaitable, Callable
from datetime import datetime, timezone
from itertools import product
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest
from jupyter_server.services.contents.filemanager import AsyncFileContentsManager
from jupyter_server.services.contents.manager import AsyncContentsManager, ContentsManager
from tornado import web

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.notebook.content import applied
from jupyter_codeinterp.notebook.file import ContentsFile, FileDocument
from jupyter_codeinterp.notebook.file import swap as swap_module
from jupyter_codeinterp.notebook.file.contents import is_jupyters_own
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import Insert, Notebook, SetSource
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.kernels import until
from tests.reference_window import ReferenceWindow, notebook
from tests.rest_client import rest_client
from tests.site import Site


async def stays(_: str) -> bool:
    return False


class Work:
    """Ops that a file document carries out."""

    def __init__(self, contents: Any, path: str = "a.ipynb") -> None:
        self.answers: list[Any] = []
        self.lost: list[str] = []
        self.written: list[tuple[str, dict[str, int]]] = []
        self.path = path
        file = ContentsFile(contents, lambda: path, stays)
        self.document = FileDocument(
            file,
            self.answers.append,
            lambda version, applied: self.written.append((version, dict(applied))),
            lambda why, gone: self.lost.append(why),
        )
        self._seq = 0

    async def insert(self, source: str, after: tuple[str, ...] = ()) -> str:
        """The status of its receipt; why the file was lost, if it was."""
        self._seq += 1
        op = Insert(f"n{self._seq}", "code", source, after)
        return await self.send(op, self._seq)

    async def send(self, op: Any, seq: int) -> str:
        before = len(self.answers)
        self.document.send(c.OpFrame(self.path, 1, "s", seq, op))
        await until(lambda: len(self.answers) > before or self.lost)
        return self.lost[0] if self.lost else str(self.answers[-1].receipt.status)


# --- Jupytext, in a whole turn ---------------------------------------------------------------

SCRIPTS = {".py": "# %%\nx = 20\n", ".md": "# Title\n\n```python\nx = 20\n```\n"}
WAITING, OLD = jupytext.AsyncTextFileContentsManager, jupytext.TextFileContentsManager
DAILY = ((WAITING, False, "a.py"), (WAITING, True, "a.md"), (OLD, False, "a.ipynb"))
NAMES = ("a.py", "a.md", "a.ipynb")
CASES = (
    *DAILY,
    *(
        pytest.param(*case, marks=pytest.mark.nightly)
        for case in product((WAITING, OLD), (False, True), NAMES)
        if case not in DAILY
    ),
)
WAITS = "import os, time\nwhile not os.path.exists('gone'): time.sleep(0.01)"


class TestJupytext:
    @pytest.fixture
    def server_config(self, kind: type) -> dict[str, Any]:
        return {"contents_manager_class": kind}

    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {"window_grace": 0.2}

    @staticmethod
    async def made(site: Site, path: Path) -> Path:
        if path.suffix != ".ipynb":
            await asyncio.to_thread(path.write_text, SCRIPTS[path.suffix])
            return path
        book = notebook("x = 20")
        book["metadata"]["jupytext"] = {"formats": "ipynb,py:percent"}
        await saved(site, path.name, book)
        assert path.with_suffix(".py").exists()
        return path

    # The server says so of any manager that does not wait; people have them still.
    @pytest.mark.filterwarnings(
        "ignore:The synchronous ContentsManager classes are deprecated:DeprecationWarning"
    )
    @pytest.mark.parametrize(("kind", "saves", "name"), CASES)
    async def test_a_turn_goes_on_in_the_file(
        self,
        server_config: dict[str, Any],
        site: Site,
        api: FakeAnthropic,
        jp_root_dir: Path,
        name: str,
        saves: bool,
    ) -> None:
        """``saves``: the page saves when it is hidden."""
        file = await self.made(site, jp_root_dir / name)
        api.play(in_order([answer(run_cell(WAITS)), answer(run_cell("y = 21")), DONE]))
        window = await site.bare_window(file.name, await read(site, file.name))
        await announce(site, window, edited=False)
        assert (await window.ask("Go", "auto")).error is None
        await window.event(e.RunStarted)
        if saves:
            await saved(site, file.name, window.notebook)
            state = c.FileState(
                file.name, dict(window.applied), await version(site, file.name), False
            )
            assert (await window.send(state)).error is None
        await window.close()
        manager = site.extension.manager
        await until(lambda: not manager.notebooks.at(file.name).is_open)
        file.with_name("gone").touch()
        await until(lambda: not manager.running)

        events = [event for _, event in site.extension.workbench.store.events(window.session_id)]
        assert [event.status for event in events if isinstance(event, e.ToolDone)] == ["ok", "ok"]
        expected = ["x = 20", WAITS, "y = 21"]
        for path in (file, file.with_suffix(".py")):
            if path.exists():
                assert code_of(jupytext.read(path)) == expected
        if file.suffix == ".ipynb":
            nbformat.validate(nbformat.read(file, as_version=4))
        else:
            assert "nbformat" not in jupytext.writes(jupytext.read(file), "py:percent")

        # A page that opens it now has all of it, in this life of the server or the next.
        for _ in range(2):
            again = await site.bare_window(file.name, await read(site, file.name))
            again.applied = applied(again.notebook)
            await announce(site, again, edited=False)
            await again.until(lambda: again.leases and again.leases[-1].held)  # noqa: B023
            again.session_id = window.session_id
            assert (await again.send(c.Subscribe(window.session_id))).error is None
            await again.ended()
            assert [f for f in again.frames if isinstance(f, c.OpFrame)] == []
            assert code_of(again.notebook) == expected
            await again.close()
            await until(lambda: manager.notebooks.opened(file.name) is None)

    @pytest.mark.parametrize("kind", [WAITING])
    @pytest.mark.parametrize(
        ("name", "killed", "opened"),
        [
            ("a.py", False, True),
            ("a.py", True, False),
            ("a.md", True, True),
            ("a.ipynb", True, False),
            pytest.param("a.ipynb", False, True, marks=pytest.mark.nightly),
        ],
    )
    async def test_a_file_that_was_put_back_stays_as_it_is(
        self,
        server_config: dict[str, Any],
        site: Site,
        api: FakeAnthropic,
        jp_root_dir: Path,
        name: str,
        killed: bool,
        opened: bool,
    ) -> None:
        """The next turn is in the closed file, or in a page that is ``opened`` then."""
        file = await self.made(site, jp_root_dir / name)
        paired = [path for path in (file, file.with_suffix(".py")) if path.exists()]
        before = [(path, path.read_text()) for path in paired]
        client, manager = await rest_client(site), site.extension.manager
        session_id = client.conversation(name)

        async def turn(source: str) -> None:
            api.play(in_order([answer(run_cell(source)), DONE]))
            await client.command("send_message", session_id, text="Go", mode="auto")
            await until(lambda: not manager.running)

        await turn("y = 21")
        for path in paired:
            assert code_of(jupytext.read(path)) == ["x = 20", "y = 21"]
        if killed:
            # A new server knows what the journal says.
            await manager.notebooks._notebooks.pop(name).aclose("")
        for path, text_before in before:
            path.write_text(text_before)
        if opened:
            page = await site.bare_window(name, await read(site, name))
            page.applied = applied(page.notebook)
            await announce(site, page, edited=False)
            await page.until(lambda: page.leases and page.leases[-1].held)
        await turn("z = 22")
        for book in [page.notebook] if opened else map(jupytext.read, paired):
            assert code_of(book) == ["x = 20", "z = 22"]


DONE = answer(text("Done."))


def code_of(book: Any) -> list[str]:
    return [cell["source"] for cell in book["cells"] if cell["cell_type"] == "code"]


async def get(site: Site, path: str, content: bool) -> Any:
    contents: Any = site.app.contents_manager
    model = contents.get(path, content=content, type="notebook", require_hash=True)
    return await model if isinstance(model, Awaitable) else model


async def read(site: Site, path: str) -> Notebook:
    book: Notebook = json.loads(json.dumps((await get(site, path, True))["content"]))
    return book


async def version(site: Site, path: str) -> str:
    return str((await get(site, path, False))["hash"])


async def saved(site: Site, path: str, book: Notebook) -> None:
    contents: Any = site.app.contents_manager
    content = nbformat.from_dict(copy.deepcopy(book))
    done = contents.save({"type": "notebook", "format": "json", "content": content}, path)
    if isinstance(done, Awaitable):
        await done


async def announce(site: Site, window: ReferenceWindow, *, edited: bool) -> None:
    kernel_id = await site.kernel_of(window.path)
    held = dict(window.applied)
    command = c.OpenNotebook(
        window.path, held, kernel_id, held, await version(site, window.path), edited
    )
    assert (await window.send(command)).error is None


# --- managers without files, or with ways of their own -----------------------------------------


class Shelf:
    """Notebooks in memory. Times are coarse, and there is no hash."""

    def __init__(self) -> None:
        self.books: dict[str, Any] = {}
        self.saves = 0
        self.before_get: Callable[[], None] = lambda: None

    def give(self, path: str, content: bool) -> dict[str, Any]:
        if path not in self.books:
            raise web.HTTPError(404, f"No {path}")
        self.before_get()
        then = datetime(2026, 1, 1, tzinfo=timezone.utc)
        book = nbformat.from_dict(copy.deepcopy(self.books[path])) if content else None
        return {"type": "notebook", "content": book, "last_modified": then}

    def keep(self, path: str, content: Any) -> dict[str, Any]:
        self.saves += 1
        self.books[path] = json.loads(json.dumps(content))
        return self.give(path, False)


class InMemory(ContentsManager):
    shelf: Shelf

    def get(  # type: ignore[override]
        self, path: str, content: Any = True, type: Any = None, format: Any = None
    ) -> Any:
        return self.shelf.give(path, content)

    def save(self, model: Any, path: str = "") -> Any:
        return self.shelf.keep(path, model["content"])


class AsyncInMemory(AsyncContentsManager):
    shelf: Shelf

    async def get(  # type: ignore[override]
        self, path: str, content: Any = True, type: Any = None, format: Any = None
    ) -> Any:
        await asyncio.sleep(0)
        return self.shelf.give(path, content)

    async def save(self, model: Any, path: str = "") -> Any:
        await asyncio.sleep(0)
        return self.shelf.keep(path, model["content"])


@pytest.fixture(params=[InMemory, AsyncInMemory])
def in_memory(request: pytest.FixtureRequest) -> Any:
    manager = request.param()
    manager.shelf = Shelf()
    manager.shelf.books["a.ipynb"] = notebook("x = 20")
    return manager


async def test_a_manager_without_files_saves(in_memory: Any) -> None:
    work = Work(in_memory)
    await work.document.open({})
    assert await work.insert("y = 1", ("c1",)) == "done"
    assert await work.insert("z = 2", ("n1", "c1")) == "done"
    await work.document.close()
    assert code_of(in_memory.shelf.books["a.ipynb"]) == ["x = 20", "y = 1", "z = 2"]
    assert in_memory.shelf.saves == 2
    assert [applied for _, applied in work.written] == [{"s": 1}, {"s": 2}]


@pytest.mark.parametrize("moment", range(1, 8))
async def test_a_foreign_writer_of_a_manager_with_coarse_times(in_memory: Any, moment: int) -> None:
    """Its ``last_modified`` does not say that it has changed."""
    shelf: Shelf = in_memory.shelf
    numbers = itertools.count(1)

    def somebody_writes() -> None:
        if next(numbers) == moment:
            shelf.books["a.ipynb"]["cells"].insert(0, foreign_cell())

    shelf.before_get = somebody_writes
    work = Work(in_memory)
    await work.document.open({})
    assert await work.insert("y = 1", ("c1",)) == "done"
    assert await work.insert("z = 2", ("n1",)) == "done"
    await work.document.close()
    assert next(numbers) > moment, "it was never reached"
    assert code_of(shelf.books["a.ipynb"]) == ["theirs = 1", "x = 20", "y = 1", "z = 2"]


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def foreign_cell() -> dict[str, Any]:
    return {**notebook("theirs = 1")["cells"][0], "id": "theirs"}


class ReadsInItsOwnWay(AsyncFileContentsManager):
    async def get(self, *arguments: Any, **named: Any) -> Any:
        return await super().get(*arguments, **named)


class SavesInItsOwnWay(AsyncFileContentsManager):
    async def save(self, model: Any, path: str = "") -> Any:
        saved_by.append(type(self))
        return await super().save(model, path)


class WritesInItsOwnWay(AsyncFileContentsManager):
    async def _save_notebook(self, *arguments: Any, **named: Any) -> Any:
        saved_by.append(type(self))
        return await super()._save_notebook(*arguments, **named)


saved_by: list[type] = []


@pytest.mark.parametrize("kind", [ReadsInItsOwnWay, SavesInItsOwnWay, WritesInItsOwnWay])
async def test_a_manager_with_a_way_of_its_own_saves(
    kind: type[AsyncFileContentsManager], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(notebook("x = 20")))
    monkeypatch.setattr(swap_module, "_exchange", None)
    saved_by.clear()
    work = Work(kind(root_dir=str(tmp_path)))
    await work.document.open({})
    assert await work.insert("y = 1", ("c1",)) == "done"
    await work.document.close()
    assert code_of(nbformat.read(file, as_version=4)) == ["x = 20", "y = 1"]
    assert saved_by == ([] if kind is ReadsInItsOwnWay else [kind])


def test_the_manager_of_an_ordinary_server_is_jupyters_own(tmp_path: Path) -> None:
    from jupyter_server.services.contents import filemanager, largefilemanager

    for kind in (
        filemanager.FileContentsManager,
        filemanager.AsyncFileContentsManager,
        largefilemanager.LargeFileManager,
        largefilemanager.AsyncLargeFileManager,
    ):
        plain = type("Named", (kind,), {})
        assert is_jupyters_own(kind(root_dir=str(tmp_path))), kind
        assert is_jupyters_own(plain(root_dir=str(tmp_path))), kind
        assert not is_jupyters_own(kind(root_dir=str(tmp_path), use_atomic_writing=False))
    for other in (jupytext.TextFileContentsManager, ReadsInItsOwnWay, SavesInItsOwnWay):
        assert not is_jupyters_own(other(root_dir=str(tmp_path))), other


# --- another program writes the file ------------------------------------------------------------


def by_truncating(file: Path, book: str) -> None:
    file.write_text(book)


def by_renaming(file: Path, book: str) -> None:
    fresh = file.with_name("fresh")
    fresh.write_text(book)
    fresh.replace(file)


def seams(monkeypatch: pytest.MonkeyPatch, at: Callable[[str], None]) -> None:
    """Call ``at`` at each step between the first reading and the end of the writing."""
    for module, name in (
        (tempfile, "mkstemp"),
        (os, "fsync"),
        (swap_module, "_keep_owner"),
        (swap_module, "_exchange"),
    ):
        work = getattr(module, name)

        def around(*arguments: Any, _work: Any = work, _name: str = name, **named: Any) -> Any:
            at(f"before {_name}")
            done = _work(*arguments, **named)
            at(f"after {_name}")
            return done

        monkeypatch.setattr(module, name, around)


@pytest.mark.parametrize("write", [by_truncating, by_renaming])
@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("moment", range(1, 8))
async def test_a_foreign_writer_between_reading_and_writing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    write: Callable[[Path, str], None],
    exchange: bool,
    moment: int,
) -> None:
    """Its change stays, and the op is done as well, whenever it comes."""
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(notebook("x = 20")))
    if not exchange:
        if swap_module._SWAP is None or moment == 7:
            return  # There the writer comes after ours, which it cannot have read.
        monkeypatch.setattr(swap_module, "_SWAP", None)
    steps: list[str] = []

    def at(step: str) -> None:
        steps.append(step)
        if len(steps) == moment:
            book = json.loads(file.read_text())
            book["cells"].insert(0, foreign_cell())
            write(file, json.dumps(book))

    seams(monkeypatch, at)
    work = Work(AsyncFileContentsManager(root_dir=str(tmp_path)))
    await work.document.open({})
    assert await work.insert("y = 1", ("c1",)) == "done"
    await work.document.close()
    assert len(steps) > moment, "it was never reached"
    assert code_of(nbformat.read(file, as_version=4)) == ["theirs = 1", "x = 20", "y = 1"]
    assert names(tmp_path) == ["a.ipynb"]


async def test_a_foreign_change_of_the_very_cell_is_kept_and_the_op_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(notebook("x = 20")))
    steps: list[str] = []

    def at(step: str) -> None:
        steps.append(step)
        if len(steps) == 1:
            file.write_text(json.dumps(notebook("x = 21  # theirs")))

    seams(monkeypatch, at)
    work = Work(AsyncFileContentsManager(root_dir=str(tmp_path)))
    await work.document.open({})
    assert await work.send(SetSource("c1", "x = 0", "x = 20"), 1) == "conflict"
    await work.document.close()
    assert code_of(nbformat.read(file, as_version=4)) == ["x = 21  # theirs"]


async def test_a_file_that_never_rests_is_left_to_the_other_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps(notebook("x = 20")))
    numbers = itertools.count()

    def at(step: str) -> None:
        if step == "before _exchange":
            file.write_text(json.dumps(notebook(f"x = {next(numbers)}")))

    seams(monkeypatch, at)
    work = Work(AsyncFileContentsManager(root_dir=str(tmp_path)))
    await work.document.open({})
    assert "Another program keeps changing a.ipynb" in await work.insert("y = 1")
    assert code_of(nbformat.read(file, as_version=4)) == [f"x = {next(numbers) - 1}"]


@pytest.mark.skipif(swap_module._SWAP is None, reason="files cannot change places here")
def test_a_writer_that_comes_while_its_predecessor_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three in a row: the last one's text stays."""
    file = tmp_path / "a.ipynb"
    file.write_text("old")
    exchange, texts = swap_module._exchange, iter(["second", "third"])

    def meanwhile(*files: Path) -> bool:
        newer = next(texts, "")
        if newer:
            file.write_text(newer)
        return exchange(*files)

    monkeypatch.setattr(swap_module, "_exchange", meanwhile)
    with pytest.raises(swap_module.FileChangedError):
        swap_module.swap_text(str(file), b"ours", b"old".__eq__)
    assert file.read_text() == "third"
    assert names(tmp_path) == ["a.ipynb"]


async def test_nothing_is_written_anew_where_there_is_no_file(tmp_path: Path) -> None:
    work = Work(AsyncFileContentsManager(root_dir=str(tmp_path)))
    with pytest.raises(DocumentError, match="no longer exists"):
        await work.document.open({})
    assert not names(tmp_path)
