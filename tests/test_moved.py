"""A notebook that is renamed, moved or deleted through Jupyter: who says where it is, and what
becomes of the work in it and of its conversations."""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_codeinterp.base.paths import within
from jupyter_codeinterp.notebook.file import contents as contents_module
from jupyter_codeinterp.notebook.live import notebook as live_notebook
from jupyter_codeinterp.session.server.file_tracker import FileTracker
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.kernels import until
from tests.nightly import spread
from tests.reference_window import ReferenceWindow, body, notebook
from tests.site import Site

FIRST = "work/a.ipynb"
SOURCES = ["x = 20", "one = 1", "print('two')", "print('three')", "print(one + 4)"]
NAMES = [
    "with blanks.ipynb",
    "C# & 100% + ?a=b.ipynb",
    unicodedata.normalize("NFC", "Größe Übung.ipynb"),
    unicodedata.normalize("NFD", "Größe Übung.ipynb"),
    '"it\'s" `quoted`.ipynb',
    "%20%2F%23.ipynb",
    "日本 🎈.ipynb",
    "A.ipynb",
    "with 'x'; DROP TABLE sessions; --.ipynb",
    "_%_.ipynb",
]

Begin = Callable[..., Awaitable[ReferenceWindow]]


# --- who speaks for the path: the table ----------------------------------------------------

RENAMED = {"action": "rename", "source_path": "a", "path": "b"}
DELETED = {"action": "delete", "path": "/a"}
COPIED = {"action": "copy", "source_path": "a", "path": "c"}
SAVED = {"action": "save", "path": "a"}
LEAVES, SAYS = "the window leaves", "the window says where it is"
MOVE, GONE = ("move", "a", "b"), ("gone", "a")


class Told:
    """Notebooks to whom it is only noted what they are told."""

    def __init__(self, known: set[str], in_windows: set[str]) -> None:
        self._known = known
        self.in_windows = in_windows
        self.told: list[tuple[str, ...]] = []

    def paths(self) -> set[str]:
        return self._known

    def has_window(self, path: str) -> bool:
        return path in self.in_windows

    def move(self, old: str, new: str) -> None:
        self._known = {new if path == old else path for path in self._known}
        self.told.append(("move", old, new))

    def file_gone(self, path: str, words: str) -> None:
        assert path in words
        self.told.append(("gone", path))


@pytest.mark.parametrize(
    ("open_in", "happens", "told"),
    [
        # Nobody has it open: the server is believed at once.
        ("", [RENAMED], [MOVE]),
        ("", [DELETED], [GONE]),
        ("", [COPIED], []),
        ("", [SAVED], []),
        ("", [{"action": "get", "path": "a"}], []),
        ("", [{**RENAMED, "source_path": "/a/", "path": "//x//b"}], [("move", "a", "x/b")]),
        ("", [{**RENAMED, "path": "a"}], []),
        ("", [{**RENAMED, "source_path": "ab"}], []),
        ("", [RENAMED, {**RENAMED, "source_path": "b", "path": "a"}], [MOVE, ("move", "b", "a")]),
        ("", [COPIED, DELETED], [GONE]),
        # Somebody has: it says so itself, or leaves.
        ("a", [RENAMED], []),
        ("a", [RENAMED, SAYS], []),
        ("a", [RENAMED, LEAVES], [MOVE]),
        ("a", [RENAMED, SAYS, LEAVES], []),
        ("a", [RENAMED, SAVED, LEAVES], []),
        (
            "a",
            [RENAMED, {**RENAMED, "source_path": "b", "path": "c"}, LEAVES],
            [("move", "a", "c")],
        ),
        ("a", [RENAMED, {**RENAMED, "source_path": "b", "path": "a"}, LEAVES], []),
        ("a", [RENAMED, {"action": "delete", "path": "b"}, LEAVES], [GONE]),
        ("a", [DELETED], []),
        ("a", [DELETED, LEAVES], [GONE]),
        ("a", [DELETED, {"action": "upload", "path": "a"}, LEAVES], []),
        # Something else takes its place.
        ("", [{**RENAMED, "source_path": "z", "path": "a"}], [GONE]),
        ("a", [{**RENAMED, "source_path": "z", "path": "a"}, LEAVES], []),
    ],
)
def test_who_speaks_for_the_path(
    open_in: str, happens: list[Any], told: list[tuple[str, ...]]
) -> None:
    notebooks = Told({"a"}, {open_in})
    file_tracker = FileTracker(notebooks)
    for what in happens:
        if what == LEAVES:
            notebooks.in_windows.clear()
            file_tracker.left("a")
        elif what == SAYS:
            file_tracker.settled("a")
        else:
            file_tracker.happened(what)
    assert notebooks.told == told


def test_a_folder_stands_for_what_is_in_it() -> None:
    notebooks = Told({"f/a", "f/g/b", "fa", "f/w"}, {"f/w"})
    file_tracker = FileTracker(notebooks)
    file_tracker.happened({"action": "rename", "source_path": "f", "path": "h/f"})
    assert sorted(notebooks.told) == [("move", "f/a", "h/f/a"), ("move", "f/g/b", "h/f/g/b")]
    notebooks.in_windows.clear()
    file_tracker.left("f/w")
    assert notebooks.told[-1] == ("move", "f/w", "h/f/w")
    file_tracker.happened({"action": "delete", "path": "h"})
    assert {told[1] for told in notebooks.told[-3:]} == {"h/f/a", "h/f/g/b", "h/f/w"}
    assert within("a/b", "a") and not within("ab", "a") and not within("a", "a/b")


# --- a turn, a real server, real files -------------------------------------------------------


class Grace:
    """How long a turn waits for a window: for ever, or hardly."""

    LONG, SHORT = 60.0, 0.05


@pytest.fixture
def root(jp_root_dir: Path) -> Path:
    (jp_root_dir / "work").mkdir()
    (jp_root_dir / FIRST).write_text(json.dumps(notebook(SOURCES[0])))
    return jp_root_dir


@pytest.fixture
def begin(site: Site, api: FakeAnthropic, root: Path, monkeypatch: pytest.MonkeyPatch) -> Begin:
    async def go(grace: float, mode: str) -> ReferenceWindow:
        """A turn whose first cells wait each for a gate, or for a decision."""
        site.extension.manager.notebooks._grace = grace
        monkeypatch.setattr(live_notebook, "MOVE_TIMEOUT", 1.0)
        sources = SOURCES[1:]
        if mode == "auto":
            sources = [
                f"{s}\n{waiting(g)}" for s, g in zip(sources, gates(root), strict=False)
            ] + sources[2:]
        api.play(in_order([*(answer(run_cell(s)) for s in sources), answer(text("Done."))]))
        window = await opened(site, root, FIRST)
        assert (await window.ask("Go", mode)).error is None
        if mode == "auto":
            await window.event(e.RunStarted)
        else:
            await window.draft()
        return window

    return go


def gates(root: Path) -> tuple[Path, Path]:
    return root.parent / "gate 1", root.parent / "gate 2"


def waiting(gate: Path) -> str:
    return f"import os, time\nwhile not os.path.exists(\n{str(gate)!r}\n):\n    time.sleep(0.01)"


def go_on(root: Path) -> None:
    for gate in gates(root):
        gate.touch()


async def opened(site: Site, root: Path, path: str, session_id: str = "") -> ReferenceWindow:
    """A page that has read the file as it is, with the kernel that Jupyter gives it."""
    book = json.loads(json.dumps(nbformat.read(root / path, as_version=4)))
    window = await site.bare_window(path, book)
    window.applied = dict(book["metadata"].get("codeinterp", {}).get("applied", {}))
    found = await site._fetch("api", "contents", *path.split("/"), params={"content": 0, "hash": 1})
    kernel_id = await site.kernel_of(path)
    command = c.OpenNotebook(
        path, window.applied, kernel_id, saved=window.applied, version=body(found)["hash"]
    )
    assert (await window.send(command)).error is None
    if session_id:
        window.session_id = session_id
        assert (await window.send(c.Subscribe(session_id))).error is None
    return window


async def ended(site: Site, session_id: str) -> tuple[str, str]:
    """How the latest turn has ended."""
    events = (await site.get("sessions", session_id, "events"))["events"]
    (*_, last) = (each["event"] for each in events if each["event"]["type"] == "turn_ended")
    return last["stop_reason"], last["message"]


SPELLINGS = ["./work/a.ipynb", "work/x/../a.ipynb", "/work//a.ipynb", "../work/a.ipynb/"]


async def test_a_path_is_the_same_at_every_door(site: Site, root: Path) -> None:
    """A window, a request and a conversation mean one notebook, however each writes it."""
    manager = site.extension.manager
    session = manager.new_session(FIRST, "review", "")
    window = await site.bare_window(FIRST)
    for path in SPELLINGS:
        assert (await window.send(c.OpenNotebook(path, {}))).error is None
        assert list(manager.notebooks._notebooks) == [FIRST]
        assert await listed(site, path) == [session.info.session_id]
    assert (await window.send(c.RenameNotebook(path, "./work/y/../b.ipynb"))).error is None
    assert list(manager.notebooks._notebooks) == ["work/b.ipynb"]
    assert await listed(site, "work/./b.ipynb") == [session.info.session_id]


async def listed(site: Site, path: str) -> list[str]:
    found = await site.get("sessions", params={"notebook": path})
    return [session["session_id"] for session in found["sessions"]]


async def away(site: Site, window: ReferenceWindow) -> None:
    """The page is closed, and the server has seen it."""
    await window.close()
    await until(lambda: not site.extension.manager.connected)


async def at_work_in_file(site: Site, root: Path) -> None:
    """The first cell has ended, and the second one runs."""
    gates(root)[0].touch()
    await until(
        lambda: any(n.in_file for n in site.extension.manager.notebooks._notebooks.values())
    )


def sources(file: Path) -> list[str]:
    """Of what stands in the cells, the first lines."""
    return [cell.source.split("\n")[0] for cell in nbformat.read(file, as_version=4).cells]


def notebooks(root: Path) -> list[str]:
    """The names of all there are."""
    return [file.name for file in root.rglob("*.ipynb") if not file.parent.name.startswith(".")]


async def test_renamed_while_a_draft_waits_and_nobody_looks(
    site: Site, begin: Begin, root: Path
) -> None:
    """Closed in mid-turn, renamed in the file browser, opened: all is there, and goes on."""
    w = await begin(Grace.LONG, "review")
    await away(site, w)
    await site.rename(FIRST, "work/b.ipynb")
    again = await opened(site, root, "work/b.ipynb", w.session_id)
    assert await listed(site, "work/b.ipynb") == [w.session_id]
    assert await listed(site, FIRST) == []
    for number in range(1, 5):
        await again.decide(await again.draft(number))
    assert (await again.ended()).stop_reason == "end_turn"
    assert [cell["source"] for cell in again.cells] == SOURCES
    assert [done.status for done in again.of(e.ToolDone)] == ["ok"] * 4, "in the same kernel"
    assert not (root / FIRST).exists()


@pytest.mark.parametrize("name", spread(NAMES, every=4))
async def test_a_running_turn_follows_to_any_name(
    site: Site, begin: Begin, root: Path, name: str
) -> None:
    """While the work goes on in the file: five cells of five, once, in the same kernel."""
    w = await begin(Grace.SHORT, "auto")
    await away(site, w)
    await at_work_in_file(site, root)
    path = f"work/{name}"
    await site.rename(FIRST, path)
    go_on(root)
    await until(lambda: not site.extension.manager.running)
    assert await ended(site, w.session_id) == ("end_turn", "")
    assert await listed(site, path) == [w.session_id]
    assert notebooks(root) == [name]
    book = nbformat.read(root / path, as_version=4)
    assert [cell.source.split("\n")[0] for cell in book.cells] == SOURCES
    outputs = [output.text for cell in book.cells[2:] for output in cell.outputs]
    assert outputs == ["two\n", "three\n", "5\n"]


async def test_a_running_turn_follows_within_the_grace_time(
    site: Site, begin: Begin, root: Path
) -> None:
    w = await begin(Grace.LONG, "auto")
    await away(site, w)
    await site.rename(FIRST, "b.ipynb")
    go_on(root)
    again = await opened(site, root, "b.ipynb", w.session_id)
    assert (await again.ended()).stop_reason == "end_turn"
    assert [cell["source"].split("\n")[0] for cell in again.cells] == SOURCES
    assert again.cells[-1]["outputs"][0]["text"] == "5\n"


@pytest.mark.parametrize(
    ("moves", "path"),
    [
        ([("work", "deep"), ("deep", "deeper")], "deeper/a.ipynb"),
        ([(FIRST, "work/b.ipynb"), ("work/b.ipynb", FIRST)], FIRST),
        ([(FIRST, "/work/b.ipynb")], "work/b.ipynb"),
    ],
)
async def test_moved_with_its_folder_and_back(
    site: Site, begin: Begin, root: Path, moves: list[tuple[str, str]], path: str
) -> None:
    w = await begin(Grace.SHORT, "auto")
    await away(site, w)
    await at_work_in_file(site, root)
    for old, new in moves:
        await site.rename(old, new)
    go_on(root)
    await until(lambda: not site.extension.manager.running)
    assert await ended(site, w.session_id) == ("end_turn", "")
    assert sources(root / path) == SOURCES
    assert await listed(site, path) == [w.session_id]
    assert notebooks(root) == [path.rpartition("/")[2]]


async def test_a_conversation_that_only_the_journal_knows_follows(
    site: Site, begin: Begin, root: Path
) -> None:
    """The server was restarted, and nobody has looked since."""
    w = await begin(Grace.LONG, "review")
    await w.send(c.Cancel(w.session_id))
    await w.ended()
    await away(site, w)
    manager = site.extension.manager
    await until(lambda: not manager.running)
    manager.sessions.clear()
    manager.notebooks._notebooks.clear()
    await site.rename("work", "done")
    await until(lambda: site.extension.workbench.store.list("done/a.ipynb"))
    assert await listed(site, "done/a.ipynb") == [w.session_id]


@pytest.mark.parametrize("back", [False, True])
async def test_renamed_in_the_middle_of_a_save(
    site: Site, begin: Begin, root: Path, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    """The file disappears between the read and the write: the write goes to its new place. Or it
    is found again."""
    w = await begin(Grace.SHORT, "auto")
    await away(site, w)
    await at_work_in_file(site, root)
    loop = asyncio.get_running_loop()
    written: list[str] = []
    swap: Callable[..., None] = vars(contents_module)["swap_text"]

    def move(path: str, to: str) -> None:
        asyncio.run_coroutine_threadsafe(site.rename(path, to), loop).result()

    def meanwhile(path: str, *rest: Any) -> None:
        first = not written
        if first:
            move(FIRST, "work/b.ipynb")
        written.append(Path(path).name)
        try:
            swap(path, *rest)
        finally:
            if first and back:
                move("work/b.ipynb", FIRST)

    monkeypatch.setattr(contents_module, "swap_text", meanwhile)
    go_on(root)
    await until(lambda: not site.extension.manager.running)
    now = FIRST if back else "work/b.ipynb"
    assert written[:2] == ["a.ipynb", Path(now).name]
    assert sources(root / now) == SOURCES
    assert notebooks(root) == [Path(now).name]


@pytest.mark.parametrize("back", [False, True])
async def test_renamed_in_the_middle_of_a_read(
    site: Site, begin: Begin, root: Path, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    """It was there when it was looked for, and Jupyter's reader finds "no file" there."""
    w = await begin(Grace.SHORT, "auto")
    await away(site, w)
    await at_work_in_file(site, root)
    contents: Any = site.extension._server.contents_manager
    read_notebook = contents._read_notebook
    renamed: list[bool] = []

    async def meanwhile(*arguments: Any, **named: Any) -> Any:
        if renamed:
            return await read_notebook(*arguments, **named)
        renamed.append(True)
        await site.rename(FIRST, "work/b.ipynb")
        try:
            return await read_notebook(*arguments, **named)
        finally:
            if back:
                await site.rename("work/b.ipynb", FIRST)

    monkeypatch.setattr(contents, "_read_notebook", meanwhile)
    go_on(root)
    await until(lambda: not site.extension.manager.running)
    assert renamed
    assert await ended(site, w.session_id) == ("end_turn", "")
    assert sources(root / (FIRST if back else "work/b.ipynb")) == SOURCES
    assert len(notebooks(root)) == 1


async def test_a_window_that_has_it_open_speaks_for_itself(
    site: Site, begin: Begin, root: Path
) -> None:
    """Renamed by somebody else, who knows nothing of the window: the work stays in the
    window's copy, and goes to the file when the window has gone."""
    w = await begin(Grace.LONG, "review")
    await site.rename(FIRST, "work/b.ipynb")
    assert await listed(site, FIRST) == [w.session_id]
    await w.decide(await w.draft())
    await w.draft(2)
    await away(site, w)
    assert await listed(site, "work/b.ipynb") == [w.session_id]
    again = await opened(site, root, "work/b.ipynb", w.session_id)
    await again.until(lambda: len(again.cells) == 3)
    await again.decide(await again.draft(2))
    await again.draft(3)


# --- deleted ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("what", "grace", "mode"),
    [
        (FIRST, Grace.LONG, "review"),
        (FIRST, Grace.LONG, "auto"),
        (FIRST, Grace.SHORT, "auto"),
        ("work", Grace.SHORT, "auto"),
    ],
)
async def test_a_turn_ends_with_its_notebook(
    site: Site, begin: Begin, root: Path, what: str, grace: float, mode: str
) -> None:
    """In clear words; nothing is written anew, and the conversation is kept."""
    w = await begin(grace, mode)
    await away(site, w)
    if grace == Grace.SHORT and mode == "auto":
        await at_work_in_file(site, root)
    await site._fetch("api", "contents", *what.split("/"), method="DELETE")
    await until(lambda: not site.extension.manager.running)
    events = [event for _, event in site.extension.workbench.store.events(w.session_id)]
    (ended,) = [event for event in events if isinstance(event, e.TurnEnded)]
    assert ended.message == f"The notebook {FIRST} was deleted. The work in it was stopped."
    assert await listed(site, FIRST) == [w.session_id]
    await until(lambda: FIRST not in site.extension.manager.notebooks._notebooks)
    await until(lambda: notebooks(root) == [])  # A write that was under way removes its own.

    # Another file of that name is another notebook: nothing is done again in it.
    (root / "work").mkdir(exist_ok=True)
    (root / FIRST).write_text(json.dumps(notebook("other = 1")))
    again = await opened(site, root, FIRST, w.session_id)
    await again.until(lambda: again.leases and again.leases[-1].held)
    await again.ended()
    assert [f for f in again.frames if isinstance(f, c.OpFrame)] == []
    assert [cell["source"] for cell in again.cells] == ["other = 1"]


async def test_deleted_where_jupyter_does_not_see_it(site: Site, begin: Begin, root: Path) -> None:
    w = await begin(Grace.SHORT, "auto")
    await away(site, w)
    await at_work_in_file(site, root)
    (root / FIRST).unlink()
    go_on(root)
    await until(lambda: not site.extension.manager.running)
    events = [event for _, event in site.extension.workbench.store.events(w.session_id)]
    assert isinstance(events[-1], e.TurnEnded)
    assert events[-1].message == f"{FIRST} no longer exists. The work in it was stopped."
    assert notebooks(root) == []


async def test_renamed_onto_a_notebook_that_is_replaced(
    site: Site, begin: Begin, root: Path
) -> None:
    """As Lab's file browser does it: the one is deleted, the other takes its name."""
    w = await begin(Grace.LONG, "review")
    await away(site, w)
    (root / "b.ipynb").write_text(json.dumps(notebook("mine = 1")))
    other = await opened(site, root, "b.ipynb")
    await other.ask("Go")
    await other.draft()
    await other.send(c.Cancel(other.session_id))
    await other.ended()
    await away(site, other)
    await site._fetch("api", "contents", *FIRST.split("/"), method="DELETE")
    await site.rename("b.ipynb", FIRST)
    await until(lambda: not site.extension.manager.running)
    assert set(await listed(site, FIRST)) == {w.session_id, other.session_id}
    again = await opened(site, root, FIRST, other.session_id)
    await again.ended()
    await again.until(lambda: [cell["source"] for cell in again.cells] == ["mine = 1"])
