"""Work in the room of a shared notebook: reads, rooms that are let go and come back, files."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest
from jupyter_ydoc import YNotebook
from pycrdt import Awareness, Doc

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.notebook.content import applied
from jupyter_codeinterp.notebook.live import LiveNotebook, WindowState
from jupyter_codeinterp.notebook.live import notebook as live_module
from jupyter_codeinterp.notebook.room import RoomDocument, found, saves, server_ydoc
from jupyter_codeinterp.notebook.room import document as document_module
from jupyter_codeinterp.notebook.room.server_ydoc import ServerYDoc
from jupyter_codeinterp.notebook.room.shared import SharedNotebook
from jupyter_codeinterp.wire.commands import Lease, ServerFrame
from jupyter_codeinterp.wire.ops import Insert, Receipt
from jupyter_codeinterp.wire.stores import StoredOp
from tests.kernels import until
from tests.test_shared_notebook import S, code, room_with

PATH = "team.ipynb"


class Window:
    """A view: what the server sends to it."""

    def __init__(self) -> None:
        self.frames: list[ServerFrame] = []

    def send(self, frame: ServerFrame) -> None:
        self.frames.append(frame)

    @property
    def leases(self) -> list[Lease]:
        return [frame for frame in self.frames if isinstance(frame, Lease)]


class Room:
    """A room of the world."""

    def __init__(self, world: World, document: YNotebook) -> None:
        self.document = document
        self.is_loaded = True
        self.awareness = Awareness(document.ydoc)
        self._world = world
        self.saved: Callable[[str], None] = lambda words: None
        self.closed: Callable[[], None] = lambda: None

    @property
    def is_open(self) -> bool:
        return self._world.room is self.document

    def follow_saves(
        self, saved: Callable[[str], None], closed: Callable[[], None]
    ) -> Callable[[], None]:
        self.saved, self.closed = saved, closed
        self._world.listeners += 1
        return self._stop

    def _stop(self) -> None:
        self._world.listeners -= 1


class World:
    """The owner of the notebook, the rooms, and the file."""

    has_rooms = True

    def __init__(self) -> None:
        self.room: YNotebook | None = room_with([code("a", "x = 1")])
        self.file: dict[str, int] = {}
        self.keeps_marker = True
        """Whether the file is no script."""
        self.saved_ops: dict[str, int] = {}
        self.notes: list[str] = []
        self.opened = 0
        self.listeners = 0
        """Documents that follow the saves of a room."""
        self.read_only = False
        self.unreadable = False
        self.missing: set[str] = set()
        """Paths without a file."""
        self.where: Callable[[LiveNotebook], None] = lambda notebook: None
        """Finds out where a notebook has gone whose file is missing."""
        self.deleted: list[frozenset[str]] = []
        self.unsaved: list[tuple[frozenset[str], str]] = []
        self.opened_room: Room | None = None

    @property
    def book(self) -> YNotebook:
        assert self.room is not None
        return self.room

    @property
    def people(self) -> Awareness:
        assert self.opened_room is not None
        return self.opened_room.awareness

    async def open(self, path: str) -> Any:
        await asyncio.sleep(0)
        self.opened += 1
        if self.room is None:
            raise DocumentError("no_file", f"{path} no longer exists.")
        self.opened_room = Room(self, self.room)
        return self.opened_room

    async def check(self, path: str) -> None:
        if self.room is None or path in self.missing:
            raise DocumentError("no_file", f"{path} no longer exists.")
        if self.unreadable:
            raise DocumentError("unreadable", "The file server does not answer.")
        if self.read_only:
            raise DocumentError("not_written", "The notebook is read-only.")

    async def look(self) -> tuple[str, dict[str, int]]:
        return "v1", dict(self.file)

    def file_writer(self, notebook: LiveNotebook) -> RoomDocument:
        async def is_elsewhere(path: str) -> bool:
            self.where(notebook)
            return await LiveNotebook.is_elsewhere(notebook, path)

        notebook.is_elsewhere = is_elsewhere  # type: ignore[method-assign]
        return RoomDocument(notebook, cast(ServerYDoc, self), self.look)

    def ops(self, notebook: LiveNotebook, seqs: Mapping[str, int]) -> list[Any]:
        return []

    def saved(self, saved: Mapping[str, int]) -> None:
        self.saved_ops.update(saved)

    def late(self, session_id: str, seq: int, receipt: Receipt) -> None: ...

    def gone(self, notebook: LiveNotebook, words: str) -> None:
        self.notes.append(words)

    def cells_gone(self, notebook: LiveNotebook, cell_ids: frozenset[str]) -> None:
        self.deleted.append(cell_ids)

    def not_saved(self, session_ids: frozenset[str], words: str) -> None:
        self.unsaved.append((session_ids, words))

    def note(self, notebook: LiveNotebook, words: str) -> None:
        self.notes.append(words)

    # --- the room ----------------------------------------------------------------------

    @property
    def ids(self) -> list[str]:
        return [cell["id"] for cell in self.book.ycells]

    @property
    def sources(self) -> list[str]:
        return [cell["source"] for cell in self.book.get()["cells"]]

    def let_go(self, *, loses: bool) -> None:
        """The room goes, and another one comes from what it had saved."""
        content = self.book.get()
        if loses:
            content["cells"] = content["cells"][:1]
        if loses or not self.keeps_marker:
            content["metadata"].pop("codeinterp", None)
        if not self.keeps_marker:
            for at, cell in enumerate(content["cells"]):
                cell["id"] = f"read{at}"
        self.room = YNotebook()
        self.room.set(content)

    def save(self) -> None:
        if self.keeps_marker:
            self.file = applied(self.book.get())
        self.tell("")

    def tell(self, words: str) -> None:
        """The room says whether it was saved."""
        assert self.opened_room is not None
        self.opened_room.saved(words)

    def tell_closed(self) -> None:
        assert self.opened_room is not None
        self.opened_room.closed()


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is waited for comes soon."""
    monkeypatch.setattr(saves, "SETTLING", 0.01)
    monkeypatch.setattr(live_module, "MOVE_TIMEOUT", 0.1)
    monkeypatch.setattr(server_ydoc, "LOADING", 0.1)


@asynccontextmanager
async def drafted() -> AsyncIterator[tuple[LiveNotebook, World, Window]]:
    """With a draft of the agent's, ``d``."""
    async with shared() as (live, world, window):
        await live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
        yield live, world, window


@asynccontextmanager
async def shared() -> AsyncIterator[tuple[LiveNotebook, World, Window]]:
    world, window = World(), Window()
    live = LiveNotebook(PATH, world, grace=30)
    live.open(window, WindowState({}, collaborative=True, edited=True))
    yield live, world, window
    await live.aclose("the test is over")


async def test_work_goes_on_in_the_room_at_once_and_no_window_has_a_lease() -> None:
    async with shared() as (live, world, window):
        assert live.hand_over.may_begin
        assert [cell.cell_id for cell in (await live.read()).cells] == ["a"]
        receipt = await live.apply(S, 1, Insert("d", "raw", "y", ("a",)))
        assert receipt.status == "done"
        assert world.ids == ["a", "d"]
        assert [(lease.held, lease.shared) for lease in window.leases] == [(False, True)]
        assert not any(frame.__class__.__name__ == "OpFrame" for frame in window.frames)
        assert world.notes == []


async def test_nothing_is_opened_before_something_is_to_be_done() -> None:
    async with shared() as (_live, world, _window):
        await asyncio.sleep(0.05)
        assert world.opened == 0


async def test_it_goes_on_when_the_last_window_leaves_in_mid_turn() -> None:
    async with drafted() as (live, world, window):
        live.close(window)
        assert (await live.apply(S, 2, Insert("e", "raw", "z", ("d",)))).status == "done"
        assert world.ids == ["a", "d", "e"]


async def test_a_room_that_comes_back_gets_what_it_lacks_once_and_in_order() -> None:
    async with drafted() as (live, world, _):
        await live.apply(S, 2, Insert("e", "raw", "2", ("d",)))
        world.let_go(loses=True)
        assert world.ids == ["a"]
        assert (await live.apply(S, 3, Insert("f", "raw", "3", ("e",)))).status == "done"
        assert world.ids == ["a", "d", "e", "f"]
        world.let_go(loses=False)
        assert (await live.apply(S, 4, Insert("g", "raw", "4", ("f",)))).status == "done"
        assert world.ids == ["a", "d", "e", "f", "g"]


async def test_a_window_that_comes_back_brings_a_new_room_what_it_lacks() -> None:
    async with drafted() as (live, world, _):
        live.end_turn(S)
        world.let_go(loses=True)
        live.open(Window(), WindowState({}, collaborative=True))
        await asyncio.sleep(0.05)
        assert world.ids == ["a", "d"]


async def test_a_new_server_brings_the_room_what_the_journal_knows_and_the_file_lacks() -> None:
    world = World()
    live = LiveNotebook(PATH, world, grace=30)
    stored = StoredOp(1, 1, Insert("d", "raw", "1", ("a",)), Receipt("done"))
    live.restore(S, [stored])
    live.open(Window(), WindowState({}, collaborative=True))
    await asyncio.sleep(0.05)
    assert world.ids == ["a", "d"]
    await live.aclose("the test is over")


async def test_what_the_file_has_is_not_done_again_after_a_person_went_back() -> None:
    async with drafted() as (live, world, _):
        world.save()
        await asyncio.sleep(0.05)
        assert world.saved_ops == {S: 1}
        world.let_go(loses=True)
        assert (await live.apply(S, 2, Insert("e", "raw", "2", ("a",)))).status == "done"
        assert world.ids == ["a", "e"]


@pytest.mark.parametrize("put_back", [True, False])
async def test_what_a_room_has_saved_as_a_script_is_not_done_again(put_back: bool) -> None:
    """The script keeps neither ids nor a marker, and a person may have put an older one there."""
    async with drafted() as (live, world, _):
        world.keeps_marker = False
        world.save()
        await until(lambda: world.saved_ops == {S: 1})
        world.let_go(loses=put_back)
        assert (await live.apply(S, 2, Insert("e", "raw", "2", ()))).status == "done"
        assert sorted(world.sources) == [*([] if put_back else ["1"]), "2", "x = 1"]


@pytest.mark.parametrize("words", ["", "No space left on device"])
async def test_what_a_room_has_not_saved_as_a_script_is_done_in_the_next_room(words: str) -> None:
    async with drafted() as (_live, world, _):
        world.keeps_marker = False
        if words:
            world.tell(words)
            await until(lambda: bool(world.unsaved))
        world.let_go(loses=True)
        world.tell_closed()
        await until(lambda: world.sources == ["x = 1", "1"])
        assert world.saved_ops == {}


async def test_what_others_do_counts_as_done_by_a_person() -> None:
    async with shared() as (live, world, _):
        await live.read()
        before = live.acts
        await live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
        assert live.acts == before
        world.book.ycells[0]["source"].insert(0, "# ")
        assert live.acts > before


async def test_nothing_is_done_in_a_document_that_is_still_being_read() -> None:
    async with shared() as (live, world, _):
        whole, world.room = world.room, YNotebook()
        receipt = live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
        await asyncio.sleep(0.05)
        assert not receipt.done()
        assert whole is not None
        world.book.set(whole.get())
        assert (await receipt).status == "done"
        assert world.ids == ["a", "d"]


async def test_an_open_transaction_of_the_room_is_waited_for() -> None:
    async with shared() as (live, world, _):
        await live.read()
        with world.book.ydoc.transaction():
            receipt = live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
            await asyncio.sleep(0.05)
            assert not receipt.done()
        assert (await receipt).status == "done"


async def test_a_room_that_does_not_load_is_told_in_words() -> None:
    async with shared() as (live, world, _):
        world.room = YNotebook()
        with pytest.raises(DocumentError, match="does not load"):
            await live.read()
        assert world.listeners == 0


async def test_a_room_whose_file_cannot_be_saved_is_left_alone() -> None:
    async with shared() as (live, world, _):
        world.read_only = True
        receipt = await live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
        assert (receipt.status, receipt.reason) == ("pending", "The notebook is read-only.")
        assert world.ids == ["a"]


async def test_a_notebook_that_is_gone_is_gone() -> None:
    async with shared() as (live, world, _):
        await live.read()
        world.room = None
        live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
        await until(lambda: bool(world.notes))
        assert world.notes == [f"{PATH} no longer exists."]


async def test_a_notebook_that_was_moved_in_a_shell_is_followed() -> None:
    async with drafted() as (live, world, _):
        world.missing = {PATH}
        world.where = lambda notebook: notebook.move("new.ipynb")
        world.tell("404")
        await until(lambda: live.path == "new.ipynb")
        assert (await live.apply(S, 2, Insert("e", "raw", "2", ("d",)))).status == "done"
        assert (world.ids, world.notes) == (["a", "d", "e"], [])


async def test_a_file_that_is_back_after_a_moment_is_not_gone() -> None:
    """As after a checkout of another branch."""
    async with drafted() as (live, world, _):
        world.missing = {PATH}
        world.tell("404")
        await asyncio.sleep(0.06)
        world.missing = set()
        assert (await live.apply(S, 2, Insert("e", "raw", "2", ("d",)))).status == "done"
        assert (world.ids, world.notes) == (["a", "d", "e"], [])


async def test_one_error_of_the_contents_ends_nothing() -> None:
    async with drafted() as (live, world, _):
        world.unreadable = True
        world.tell("500")
        await asyncio.sleep(0.05)
        world.unreadable = False
        assert live.is_open
        assert (await live.apply(S, 2, Insert("e", "raw", "2", ("d",)))).status == "done"


async def test_an_op_that_found_no_file_for_a_moment_is_not_lost() -> None:
    async with shared() as (live, world, _):
        await live.read()
        whole, world.room = world.room, None
        receipt = live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
        await asyncio.sleep(0.05)
        world.room = whole
        assert (await asyncio.wait_for(receipt, 2)).status == "done"
        assert (world.ids, world.notes) == (["a", "d"], [])


async def test_an_unknown_kind_of_collaboration_is_refused_in_words() -> None:
    world = World()
    world.has_rooms = False
    live = LiveNotebook(PATH, world, grace=30)
    live.open(Window(), WindowState({}, collaborative=True))
    assert not live.hand_over.may_begin
    assert live.why_not.message == live_module.COLLABORATIVE


async def test_one_window_that_is_behind_does_not_reject_a_draft() -> None:
    async with drafted() as (live, world, window):
        assert live.sharing.by(window)
        live.sharing.look_for("d")
        live.sharing.look_for("e")
        await until(lambda: bool(world.deleted))
        assert world.deleted == [frozenset({"e"})]


async def test_no_draft_counts_as_deleted_in_the_midst_of_a_change() -> None:
    """As while the room reads a file that another program has changed."""
    async with drafted() as (live, world, _):
        with world.book.ydoc.transaction():
            draft = world.book.ycells.pop(1)
            live.sharing.look_for("d")
            await asyncio.sleep(0.05)
            world.book.ycells.append(world.book.create_ycell(draft))
        await asyncio.sleep(0.05)
        assert world.deleted == []


async def test_a_room_is_opened_once() -> None:
    async with shared() as (live, world, _):
        for seq in range(1, 6):
            await live.apply(S, seq, Insert(f"d{seq}", "raw", "1", ("a",)))
            await live.read()
        assert world.opened == 1


async def test_a_read_has_all_cells_however_often_others_move_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not even the last try answers that the notebook is empty."""
    async with shared() as (live, world, _):
        await live.read()
        document, cells = world.book, world.book.ycells

        def meddle(shared: SharedNotebook, *given: Any, **named: Any) -> None:
            cells.append(document.create_ycell(code(f"p{len(cells)}", "")))
            shared._known_ids, shared.order = None, shared.order + 1

        monkeypatch.setattr(document_module, "_part", meddle)
        seen = [cell.cell_id for cell in (await live.read()).cells]
        assert seen == world.ids and "a" in seen


async def test_nothing_is_read_before_the_room_has_its_whole_file() -> None:
    """A room that loads in parts has its metadata first."""
    async with shared() as (live, world, _):
        await live.read()
        assert world.opened_room is not None
        world.opened_room.is_loaded = False
        reading = asyncio.ensure_future(live.read())
        await asyncio.sleep(0.05)
        assert not reading.done()
        world.opened_room.is_loaded = True
        assert [cell.cell_id for cell in (await reading).cells] == ["a"]


async def test_the_agent_asks_a_room_for_nothing_once_it_has_left() -> None:
    async with drafted() as (live, world, window):
        here = world.people
        here.set_local_state({**(here.get_local_state() or {}), "kernel": "of the server's"})
        live.moved("new.ipynb", window)
        await live.read()
        assert here.get_local_state() == {"kernel": "of the server's"}


async def test_the_agent_has_no_say_in_whether_the_room_saves_by_itself() -> None:
    async with shared() as (live, world, _):
        await live.read()
        here = world.people
        await live.apply(S, 1, Insert("d", "raw", "1 + 1", ("a",)))
        assert (here.get_local_state() or {})["autosave"] is True
        person = Awareness(Doc())
        person.set_local_state({"autosave": False})
        here.apply_awareness_update(person.encode_awareness_update([person.client_id]), "page")
        assert (here.get_local_state() or {})["autosave"] is False
        here.remove_awareness_states([person.client_id], "page")
        assert (here.get_local_state() or {})["autosave"] is True


# --- saving -----------------------------------------------------------------------------


async def test_a_save_that_fails_is_told_once_to_whom_it_concerns() -> None:
    async with shared() as (live, world, _):
        await live.read()
        world.tell("No space left on device")
        await until(lambda: bool(world.unsaved))
        assert [ids for ids, _ in world.unsaved] == [frozenset()]
        await live.apply(S, 1, Insert("d", "raw", "1", ("a",)))
        world.save()
        await until(lambda: world.saved_ops == {S: 1})
        await live.apply(S, 2, Insert("e", "raw", "1", ("a",)))
        world.tell("No space left on device")
        world.tell("No space left on device")
        await until(lambda: len(world.unsaved) > 1)
        ((_, _), (ids, words)) = world.unsaved
        assert ids == {S} and "No space left on device" in words


async def test_a_save_counts_though_an_op_came_after_the_room_had_copied_itself() -> None:
    async with drafted() as (live, world, _):
        copied = applied(world.book.get())
        await live.apply(S, 2, Insert("e", "raw", "1", ("a",)))
        world.file = copied
        world.tell("")
        await until(lambda: world.saved_ops == {S: 1})
        world.save()
        await until(lambda: world.saved_ops == {S: 2})


async def test_a_file_that_became_read_only_is_told_though_the_room_calls_it_saved() -> None:
    async with drafted() as (_live, world, _):
        world.read_only = True
        world.tell("")
        await until(lambda: bool(world.unsaved))
        ((ids, words),) = world.unsaved
        assert ids == {S} and "read-only" in words
        assert world.saved_ops == {}


async def test_a_room_that_is_let_go_before_its_last_save_comes_back_for_it() -> None:
    async with drafted() as (live, world, window):
        live.close(window)
        world.let_go(loses=True)
        world.tell_closed()
        await until(lambda: world.ids == ["a", "d"])


async def test_a_file_that_is_missing_when_the_room_is_saved_is_gone() -> None:
    async with drafted() as (_live, world, _):
        world.room = None
        world.tell("404")
        await until(lambda: bool(world.notes))
        assert world.notes == [f"{PATH} no longer exists."]


async def test_the_room_moves_in_all_windows_at_once() -> None:
    async with shared() as (live, _world, window):
        other = Window()
        live.open(other, WindowState({}, collaborative=True))
        assert live.moved("new.ipynb", window) == {}
        assert live.path == "new.ipynb" and live.opened_by(other) and live.opened_by(window)


def test_the_server_loads_nothing_of_it_by_itself() -> None:
    code = (
        "import sys, jupyter_codeinterp.server.app, jupyter_codeinterp.app.workbench\n"
        "print([name for name in sys.modules if 'pycrdt' in name or '.documents.room' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n"


# --- which rooms ------------------------------------------------------------------------


class Kept:
    """A room of the extension, and its store, which follows the document once it is ready."""

    def __init__(self, room_id: str, document: Any) -> None:
        self.room_id = room_id
        self._document = document
        self.ydoc = document.ydoc
        self.ready = True
        self.ydoc_observed = asyncio.Event()
        self.ystore: Any = self
        self.stored: list[bytes] = []

    async def write(self, update: bytes) -> None:
        self.stored.append(update)

    def observe(self) -> None:
        self.ydoc.observe(lambda event: self.stored.append(event.update))
        self.ydoc_observed.set()


class App:
    """The extension, with one room."""

    def __init__(self, disable_rtc: bool = False) -> None:
        self.disable_rtc = disable_rtc
        self.asked: list[dict[str, Any]] = []
        self.document = room_with([])
        self.room = Kept("json:notebook:1", self.document)
        self.ywebsocket_server = SimpleNamespace(rooms={"json:notebook:1": self.room})
        self.serverapp = SimpleNamespace(event_logger=None)
        self.hangs = False

    async def get_document(self, **asked: Any) -> Any:
        self.asked.append(asked)
        if self.hangs:
            await asyncio.sleep(0.2)
        return self.document


class Point:
    def __init__(self, app: Any) -> None:
        self.app = app


def test_rooms_are_found_only_where_collaboration_is_on() -> None:
    ydoc = "jupyter_server_ydoc"
    assert isinstance(found({ydoc: Point(App())}, None), ServerYDoc)
    for extensions in ({}, {ydoc: Point(None)}, {ydoc: Point(App(disable_rtc=True))}):
        assert found(extensions, None) is None
    assert found({ydoc: Point(object())}, None) is None


async def test_the_document_itself_is_asked_for_and_no_copy() -> None:
    app = App()
    room = await ServerYDoc(app, None).open(PATH)
    assert room.document is app.document and room.is_open
    app.ywebsocket_server.rooms.clear()
    assert not room.is_open
    (asked,) = app.asked
    assert asked == {
        "path": PATH,
        "content_type": "notebook",
        "file_format": "json",
        "copy": False,
        "create": True,
    }


def _not_yet() -> asyncio.Future[None]:
    return asyncio.get_running_loop().create_future()


async def test_the_store_has_what_a_room_wrote_before_it_was_observed() -> None:
    """Else pages of the next room leave out all that depends on it."""
    app = App()
    document = YNotebook()
    document.ydoc.apply_update(app.document.ydoc.get_update())
    room = app.room = Kept("json:notebook:1", document)
    app.document = document
    app.ywebsocket_server.rooms["json:notebook:1"] = room
    document.path = PATH
    rooms = ServerYDoc(app, None)
    vars(room).update(_update_lock=asyncio.Lock(), _document_progressively_loaded=_not_yet())
    opened = [await rooms.open(PATH) for _ in range(2)]
    assert not opened[0].is_loaded, "nobody would hear of an op"
    room.observe()
    assert opened[0].is_loaded
    document.dirty = True
    await until(lambda: len(room.stored) > 1)
    await asyncio.sleep(0.01)
    assert len(room.stored) == 2, "once for each room"
    again = YNotebook()
    for update in room.stored:
        again.ydoc.apply_update(update)
    assert again.ystate.to_py() == {"path": PATH, "dirty": True}


@pytest.mark.parametrize(
    ("ready", "in_parts", "locked", "loaded"),
    [
        pytest.param(False, None, False, False, id="before it is ready"),
        pytest.param(True, None, True, False, id="while parts are missing"),
        pytest.param(True, "done", False, True, id="after its last part"),
        pytest.param(True, "failed", False, False, id="a part could not be read"),
        pytest.param(True, None, False, True, id="read at once, or from its store"),
        pytest.param(True, "done", True, False, id="while it reads a changed file"),
    ],
)
async def test_a_room_is_loaded_when_it_has_its_whole_file(
    ready: bool, in_parts: str | None, locked: bool, loaded: bool
) -> None:
    app = App()
    future = asyncio.get_running_loop().create_future()
    lock = asyncio.Lock()
    if in_parts == "done":
        future.set_result(None)
    elif in_parts == "failed":
        future.set_exception(OSError())
    if locked:
        await lock.acquire()
    app.room.observe()
    vars(app.room).update(
        ready=ready,
        _update_lock=lock,
        _document_load_progressively=True,
        _document_progressively_loaded=future,
    )
    room = await ServerYDoc(app, None).open(PATH)
    assert room.is_loaded is loaded


class Events:
    """The server's event log."""

    def __init__(self) -> None:
        self.listeners: list[Callable[..., Awaitable[None]]] = []

    def add_listener(self, *, schema_id: str, listener: Callable[..., Awaitable[None]]) -> None:
        assert schema_id == server_ydoc.EVENTS
        self.listeners.append(listener)

    def remove_listener(self, *, schema_id: str, listener: Callable[..., Awaitable[None]]) -> None:
        self.listeners.remove(listener)

    async def emit(self, **data: str) -> None:
        for listener in self.listeners:
            await listener(None, server_ydoc.EVENTS, data)


async def test_a_room_that_closes_has_not_saved() -> None:
    app, events = App(), Events()
    app.serverapp.event_logger = events
    room = await ServerYDoc(app, None).open(PATH)
    heard: list[str] = []
    stop = room.follow_saves(heard.append, lambda: heard.append("closed"))
    await events.emit(room="json:notebook:2", level="INFO", action="save")
    for action in ("load", "overwrite"):
        await events.emit(room=app.room.room_id, level="INFO", action=action)
    assert heard == []
    await events.emit(room=app.room.room_id, level="INFO", action="save")
    await events.emit(room=app.room.room_id, level="ERROR", msg="No space left on device")
    await events.emit(room=app.room.room_id, level="INFO", action="clean")
    assert heard == ["", "No space left on device", "closed"]
    stop()
    assert events.listeners == []


async def test_a_room_that_hangs_is_told_in_words() -> None:
    app = App()
    app.hangs = True

    class Contents:
        def file_exists(self, path: str) -> bool:
            return True

    with pytest.raises(DocumentError, match="does not load"):
        await ServerYDoc(app, Contents()).open(PATH)


@pytest.mark.parametrize(
    ("exists", "code"),
    [(True, "unreadable"), (OSError("a broken pipe"), "unreadable"), (False, "no_file")],
)
async def test_only_a_file_that_is_known_to_be_missing_is_gone(
    exists: bool | OSError, code: str
) -> None:
    class Remote:
        def get(self, path: str, content: bool) -> Any:
            raise OSError("a broken pipe")

        def file_exists(self, path: str) -> bool:
            if isinstance(exists, OSError):
                raise exists
            return exists

    with pytest.raises(DocumentError) as found_out:
        await ServerYDoc(App(), Remote()).check(PATH)
    assert found_out.value.code == code
