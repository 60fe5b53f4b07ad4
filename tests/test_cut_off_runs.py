"""A run that a server's death cut off ends in every kind of document: no cell stays [*]."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.replay import ends_of_runs
from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.session.server import live_notebooks
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.ops import BeginRun, FinishRun, Insert, Notebook, Op, Receipt, digest
from jupyter_codeinterp.wire.stores import StoredOp
from tests.fake_anthropic import FakeAnthropic, answer, in_order, text
from tests.kernels import until
from tests.reference_window import ReferenceWindow, notebook
from tests.site import Site
from tests.test_shared_decisions import Rooms
from tests.test_shared_notebook import room_with

S, PATH = "s", "a.ipynb"
DONE = Receipt("done")
SAID = {"output_type": "stream", "name": "stdout", "text": "begun\n"}
BEGUN: tuple[Op, ...] = (
    Insert("d", "raw", "work()", ("c1",)),
    BeginRun("d", digest("work()"), "r1", trusted=True),
)
CUT_OFF = FinishRun("d", "r1", (), None, cut_off=True)


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"window_grace": 0.05}


@pytest.fixture
def killed(site: Site, jp_root_dir: Path) -> Site:
    """The journal has a turn whose server is gone, and the file nothing of it."""
    (jp_root_dir / PATH).write_text(json.dumps(notebook("x = 20")))
    store = site.extension.workbench.store
    store.create(SessionInfo(S, PATH, "Work", "m", "auto", True, 0, 0))
    started = (
        e.TurnStarted(1, "Work", "auto", "m"),
        e.StepStarted(1),
        e.ToolStarted("t1", "run_cell", Sentence("Work")),
        e.RunStarted("t1", "d", "r1", "m1", "k1", "python"),
    )
    store.append_events(S, list(enumerate(started, 1)))
    for seq, op in enumerate(BEGUN, 1):
        store.append_op(S, StoredOp(seq, 1, op, DONE))
    return site


def begun() -> Notebook:
    """What a page shows that was there when the server was killed."""
    book = notebook("x = 20")
    for op in BEGUN:
        book, _ = apply(book, op)
    book["cells"][1]["outputs"] = [SAID]
    return book


def last_receipt(site: Site) -> Receipt | None:
    stored = site.extension.workbench.store.ops(S)[-1]
    assert (stored.turn, stored.op) == (1, CUT_OFF)
    return stored.receipt


def ops(window: ReferenceWindow) -> list[Op]:
    return [frame.op for frame in window.frames if isinstance(frame, c.OpFrame)]


async def test_in_a_page_that_was_there(killed: Site) -> None:
    """Nobody opens the conversation: the notebook is enough."""
    page = await killed.bare_window(PATH, begun())
    page.applied = {S: 2}
    await page.open()
    await until(lambda: last_receipt(killed) == DONE)
    assert ops(page) == [CUT_OFF]
    cell = page.cell("d")
    assert cell is not None and cell["outputs"] == [SAID]
    info = killed.extension.workbench.store.get(S)
    assert info is not None and not info.running


async def test_in_a_page_that_comes_anew(killed: Site) -> None:
    page = await killed.window(PATH)
    await until(lambda: last_receipt(killed) == DONE)
    assert ops(page) == [*BEGUN, CUT_OFF]


async def test_in_a_page_that_is_there_while_the_session_is_taken_up(killed: Site) -> None:
    killed.extension.workbench.store.update(SessionInfo(S, PATH, "Work", "m", "auto", False, 0, 0))
    page = await killed.bare_window(PATH, begun())
    page.applied = {S: 2}
    await page.open()
    assert ops(page) == []
    await page.send(c.Subscribe(S))
    await until(lambda: last_receipt(killed) == DONE)


async def test_in_a_page_that_comes_before_the_lease_of_another_host_expires(
    killed: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_notebooks, "LEASE_TIME", 0.05)
    holders = [Sentence("other")]
    monkeypatch.setattr(
        killed.extension.workbench.store, "holder", lambda _: holders[0] if holders else Sentence()
    )
    page = await killed.bare_window(PATH, begun())
    page.applied = {S: 2}
    await page.open()
    assert ops(page) == []
    holders.clear()
    await until(lambda: ops(page) == [CUT_OFF])
    await until(lambda: last_receipt(killed) == DONE)


async def test_one_session_is_made_where_the_conversation_comes_first(
    killed: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_codeinterp.session.session import Session

    made: list[Session] = []
    begin = Session.__init__

    def init(self: Session, *given: Any) -> None:
        made.append(self)
        begin(self, *given)

    monkeypatch.setattr(Session, "__init__", init)
    session = killed.extension.manager.session(S)
    assert made == [session]
    assert killed.extension.manager.sessions.get(S) is session
    assert len(killed.extension.workbench.store.events(S)) == session.event_log.last_seq


async def test_a_mark_of_a_turn_that_has_ended_goes_once(killed: Site) -> None:
    """The server was killed after it had journaled the turn's end."""
    store = killed.extension.workbench.store
    store.append_events(S, [(5, e.TurnEnded(1, "end_turn"))])
    killed.extension.manager.notebooks.at(PATH)
    info = store.get(S)
    assert info is not None and not info.running
    assert store.last_seq(S) == 5


async def test_a_conversation_that_is_deleted_meanwhile_holds_up_no_other(
    killed: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = killed.extension.workbench.store
    deleted = SessionInfo("gone", PATH, "Work", "m", "auto", True, 0, 0)
    known = store.list(PATH)
    monkeypatch.setattr(store, "list", lambda _: [deleted, *known])
    await (await killed.bare_window(PATH, begun())).open()
    info = store.get(S)
    assert info is not None and not info.running


async def test_a_move_goes_on_while_another_conversation_is_loaded(
    killed: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = killed.extension.manager
    first, second = (manager.new_session(PATH, "auto", "m") for _ in range(2))
    moved = first.log.moved

    def loads(path: str) -> None:
        manager.session(S)
        moved(path)

    monkeypatch.setattr(first.log, "moved", loads)
    manager.notebooks.move(PATH, "b.ipynb")
    assert (first.info.notebook, second.info.notebook) == ("b.ipynb", "b.ipynb")


async def test_in_the_file_with_what_comes_next(
    killed: Site, api: FakeAnthropic, jp_root_dir: Path
) -> None:
    """For the end alone no file is opened: it would change without a person."""
    before = (jp_root_dir / PATH).read_text()
    session = killed.extension.manager.session(S)
    await until(lambda: last_receipt(killed) is not None)
    assert (jp_root_dir / PATH).read_text() == before
    api.play(in_order([answer(text("Done."))]))
    session.workplace.expect_no_window()
    session.send("Go on", "auto", "")
    await session.task.idle()
    await until(lambda: last_receipt(killed) == DONE)
    cells = json.loads((jp_root_dir / PATH).read_text())["cells"]
    assert [(cell["id"], cell.get("execution_count")) for cell in cells] == [
        ("c1", None),
        ("d", None),
    ]


async def test_in_a_room(killed: Site) -> None:
    rooms = Rooms()
    rooms.document = room_with(begun()["cells"])
    rooms.document.ycells[1]["execution_state"] = "running"
    vars(killed.extension.workbench)["_rooms"] = rooms
    page = await killed.bare_window(PATH, begun())
    await page.send(c.OpenNotebook(PATH, {}, "", collaborative=True))
    await until(lambda: rooms.document.ycells[1]["execution_state"] == "idle")
    assert rooms.document.get()["cells"][1]["outputs"] == [SAID]
    await until(lambda: last_receipt(killed) == DONE)
    assert ops(page) == []


POSTED = FinishRun("d", "r1", (SAID,), 3)
POSTED_AGAIN = FinishRun("d", "r1", (SAID,), 3, cut_off=True)
AGAIN = BeginRun("d", digest("work()"), "r2")


@pytest.mark.parametrize(
    ("done", "ends"),
    [
        pytest.param([], [], id="nothing ran"),
        pytest.param([(BEGUN[1], DONE)], [CUT_OFF], id="it ran"),
        pytest.param([(BEGUN[1], None)], [CUT_OFF], id="nobody knows whether it began"),
        pytest.param([(BEGUN[1], DONE), (POSTED, DONE)], [], id="it ended"),
        pytest.param([(BEGUN[1], DONE), (POSTED, Receipt("pending"))], [], id="its end comes"),
        pytest.param(
            [(BEGUN[1], DONE), (POSTED, None)], [POSTED_AGAIN], id="its end was on its way"
        ),
        pytest.param(
            [(BEGUN[1], DONE), (POSTED, DONE), (AGAIN, DONE)],
            [FinishRun("d", "r2", (), None, cut_off=True)],
            id="it ran again",
        ),
    ],
)
def test_which_runs_need_an_end(
    done: list[tuple[Op, Receipt | None]], ends: list[FinishRun]
) -> None:
    stored = [StoredOp(seq, 1, op, receipt) for seq, (op, receipt) in enumerate(done, 1)]
    assert list(ends_of_runs(stored)) == ends
