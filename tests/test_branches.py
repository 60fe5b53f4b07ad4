"""A message is changed after it was sent: a branch of the conversation, over the wire.

The notebook is the window's, the kernel and the journal are real.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.base.errors import CommandError, StoreError
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.journal.branching import beginning, points
from jupyter_codeinterp.journal.sqlite import SqliteStore
from jupyter_codeinterp.session.messages import MAX_MESSAGE
from jupyter_codeinterp.view.context import BRANCHED
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.stores import INHERITED
from tests.fake_anthropic import FakeAnthropic, answer, edit_cell, in_order, run_cell, text
from tests.reference_window import ReferenceWindow
from tests.rest_client import rest_client
from tests.site import Site

ASKED = ("Make a", "Make b", "Make c")
MADE = ["x = 20", "a = 1", "b = 2", "c = 3"]


async def talked(site: Site, api: FakeAnthropic, *later: Any) -> ReferenceWindow:
    """A window after three turns that have each made a cell. ``later`` are the next answers."""
    steps: list[Any] = []
    for source in MADE[1:]:
        steps += [answer(run_cell(source)), answer(text(f"Made: {source}"))]
    api.play(in_order([*steps, *later]))
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    for number, asked in enumerate(ASKED, 1):
        assert (await w.ask(asked, mode="auto")).error is None
        await w.ended(number)
        await site.until(lambda: not site.extension.manager.running)
    assert sources(w) == MADE
    return w


def sources(w: ReferenceWindow) -> list[str]:
    return [cell["source"] for cell in w.cells]


async def branch(w: ReferenceWindow, turn: int, words: str = "Another", **given: Any) -> c.Reply:
    given.setdefault("mode", "auto")
    return await w.send(c.Branch(given.pop("of", w.session_id), turn, words, **given))


async def branched(site: Site, w: ReferenceWindow, turn: int, **given: Any) -> str:
    """The branch's id, once its turn has ended well."""
    reply = await branch(w, turn, **given)
    assert reply.error is None, reply.message
    session_id = str(reply.result["session_id"])
    await site.until(lambda: not site.extension.manager.running)
    ended = events(site, session_id)[-1]
    assert isinstance(ended, e.TurnEnded) and ended.stop_reason == "end_turn", ended
    return session_id


def events(site: Site, session_id: str) -> list[e.Event]:
    return [event for _, event in site.extension.manager.store.events(session_id)]


def of(site: Site, session_id: str, kind: type[Any]) -> list[Any]:
    return [event for event in events(site, session_id) if isinstance(event, kind)]


def asked(site: Site, session_id: str) -> list[str]:
    return [event.text for event in of(site, session_id, e.TurnStarted)]


def sent(api: FakeAnthropic) -> str:
    """All texts of the last request."""
    return str(api.exchanges[-1].body["messages"])


def info(site: Site, session_id: str) -> c.SessionInfo:
    found = site.extension.manager.store.get(session_id)
    assert found is not None
    return found


@pytest.mark.parametrize("turn", [1, 2, 3])
async def test_what_came_before_is_there_and_what_came_after_is_not(
    site: Site, api: FakeAnthropic, turn: int
) -> None:
    w = await talked(site, api, answer(text("As you like.")))
    old, before = w.session_id, events(site, w.session_id)
    new = await branched(site, w, turn, undo=True)
    assert new != old
    assert asked(site, new) == [*ASKED[: turn - 1], "Another"]
    assert sources(w) == MADE[:turn]
    told = sent(api)
    for number, words in enumerate(ASKED, 1):
        assert (words in told) == (number < turn)
        assert (f"Made: {MADE[number]}" in told) == (number < turn)
    assert BRANCHED in told and "Another" in told
    # The old one is whole, and says what was put back, the newest first.
    assert events(site, old)[: len(before)] == before
    undone = [event.turn for event in of(site, old, e.TurnUndone)]
    assert undone == list(range(3, turn - 1, -1))
    assert info(site, new).branches == (c.BranchPoint(old, turn),)
    assert info(site, old).branches == ()
    assert info(site, new).title == "Another"


async def test_what_the_person_has_changed_since_stays_and_is_told(
    site: Site, api: FakeAnthropic
) -> None:
    w = await talked(site, api, answer(text("As you like.")))
    w.cells[3]["source"] = "c = 'mine'"
    new = await branched(site, w, 2, undo=True)
    assert sources(w) == ["x = 20", "a = 1", "c = 'mine'"]
    (note,) = [n for n in of(site, new, e.Note) if "restored" in n.text]
    assert note.text.startswith("Cells that were not restored: 1.")
    (last, _) = of(site, w.session_id, e.TurnUndone)
    assert [kept.why for kept in last.kept] == ["changed"]


async def test_whose_cell_is_whose(site: Site, api: FakeAnthropic) -> None:
    """What it made before the point is the agent's, and edited without asking; what the other
    branch has left in the notebook is the person's."""

    def edits(number: int, source: str) -> Any:
        return lambda request: answer(edit_cell(w.cells[number]["id"], source))

    later = [edits(1, "a = 10"), edits(2, "b = 20"), answer(text("Changed."))]
    w = await talked(site, api, *later)
    reply = await branch(w, 2)
    new = str(reply.result["session_id"])
    draft = await w.draft()
    assert (draft.old_source, sources(w)[1]) == ("b = 2", "a = 10")
    w.session_id = new
    assert (await w.decide(draft)).error is None
    await site.until(lambda: not site.extension.manager.running)
    assert sources(w) == ["x = 20", "a = 10", "b = 20", "c = 3"]
    # Turns of before can be reviewed and undone in the branch.
    ledger = site.extension.manager.session(new).log.ledger
    assert [change.source for change in ledger.changes(1)] == ["a = 1"]
    assert (await w.send(c.UndoTurn(new, 2))).error is None
    assert sources(w) == ["x = 20", "a = 1", "b = 2", "c = 3"]


async def test_a_cell_that_was_put_back_is_the_agents_again(site: Site, api: FakeAnthropic) -> None:
    def edits(source: str) -> Any:
        return lambda request: answer(edit_cell(w.cells[1]["id"], source))

    done = answer(text("Done."))
    api.play(
        in_order([answer(run_cell("a = 1")), done, edits("a = 2"), done, edits("a = 3"), done])
    )
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    for number in (1, 2):
        await w.ask(f"Go {number}", mode="auto")
        await w.ended(number)
        await site.until(lambda: not site.extension.manager.running)
    assert sources(w) == ["x = 20", "a = 2"]
    new = await branched(site, w, 2, undo=True)
    assert sources(w) == ["x = 20", "a = 3"]
    assert of(site, new, e.DraftWaiting) == [], "it was edited without asking"


async def test_the_old_branch_goes_on(site: Site, api: FakeAnthropic) -> None:
    w = await talked(site, api, answer(text("As you like.")), answer(text("Here, too.")))
    new = await branched(site, w, 3, undo=True)
    assert (await w.ask("And now?")).error is None
    await site.until(lambda: not site.extension.manager.running)
    assert asked(site, w.session_id)[-1] == "And now?"
    assert "Make c" in sent(api) and "Another" not in sent(api) and BRANCHED not in sent(api)
    assert asked(site, new) == ["Make a", "Make b", "Another"]


async def test_branches_of_branches_know_their_siblings(site: Site, api: FakeAnthropic) -> None:
    more = [answer(text("As you like.")) for _ in range(4)]
    w = await talked(site, api, *more)
    a = w.session_id
    b = await branched(site, w, 2)
    again = await branched(site, w, 2, of=b, words="A third")
    assert info(site, again).branches == (c.BranchPoint(a, 2),), "all three are siblings"
    later = await branched(site, w, 3, of=a)
    first = await branched(site, w, 1, of=later)
    assert info(site, later).branches == (c.BranchPoint(a, 3),)
    assert info(site, first).branches == (c.BranchPoint(a, 1),)


def blank(session_id: str) -> c.SessionInfo:
    return c.SessionInfo(session_id, "n.ipynb", "", "m", "review", False, 0.0, 0.0)


def test_points_over_several_branches() -> None:
    def session(session_id: str, *at: tuple[str, int]) -> c.SessionInfo:
        points = tuple(c.BranchPoint(*point) for point in at)
        return msgspec.structs.replace(blank(session_id), branches=points)

    z = session("z", ("a", 2), ("b", 5))
    assert points(z, 1) == (c.BranchPoint("a", 1),)
    assert points(z, 2) == (c.BranchPoint("a", 2),)
    assert points(z, 3) == (c.BranchPoint("a", 2), c.BranchPoint("b", 3))
    assert points(z, 5) == (c.BranchPoint("a", 2), c.BranchPoint("b", 5))
    assert points(z, 6) == (c.BranchPoint("a", 2), c.BranchPoint("b", 5), c.BranchPoint("z", 6))


async def test_money_and_what_was_sent_are_there_and_without_undo_the_notebook_stays(
    site: Site, api: FakeAnthropic
) -> None:
    w = await talked(site, api, answer(text("As you like.")))
    spent = of(site, w.session_id, e.UsageChanged)[-1]
    new = await branched(site, w, 3)
    assert sources(w) == MADE
    assert of(site, w.session_id, e.TurnUndone) == [] == of(site, new, e.TurnUndone)
    first, *_, last = of(site, new, e.UsageChanged)
    assert (first.cost, first.usage.input_tokens, first.models) == (0.0, 0, ())
    assert first.context_share > 0
    assert last.usage.output_tokens < spent.usage.output_tokens / 2
    assert of(site, w.session_id, e.UsageChanged)[-1] == spent, "counted where it was spent"
    store = site.extension.manager.store
    assert [step for step in range(1, 9) if store.request(new, step)] == [1, 2, 3, 4, 5]
    for step in range(1, 5):
        assert store.request(new, step) == store.request(w.session_id, step)
    now = store.request(new, 5)
    assert now is not None and now["messages"][-1]["content"][-1]["text"] == "Another"


async def test_neither_needs_the_other(site: Site, api: FakeAnthropic) -> None:
    w = await talked(site, api, *(answer(text("As you like.")) for _ in range(2)))
    new = await branched(site, w, 3)
    manager = site.extension.manager
    await manager.delete(w.session_id)
    again = await branched(site, w, 2, of=new, words="Without it", undo=True)
    assert asked(site, again) == ["Make a", "Without it"]
    assert sources(w) == ["x = 20", "a = 1", "c = 3"], "the deleted one's own stays"


async def test_it_is_taken_up_as_it_was(site: Site, api: FakeAnthropic) -> None:
    """The server ends without a word between the branch and its first turn: there is one, as
    it was taken over, and the model is told when it goes on."""
    w = await talked(site, api, answer(text("As you like.")))
    manager = site.extension.manager
    before = manager.session(w.session_id)
    begun = manager.new_branch(before.info, 2, before.reviews.beginning(2)).info.session_id
    manager.sessions.pop(begun)
    assert asked(site, begun) == ["Make a"]
    w.session_id = begun
    assert (await w.ask("Go on from there")).error is None
    await site.until(lambda: not manager.running)
    told = sent(api)
    assert BRANCHED in told and "Make a" in told and "Make b" not in told
    manager.sessions.pop(begun)
    assert manager.session(begun).log.note == ""


def test_a_branch_is_there_whole_or_not_at_all(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "journal")
    store.create(blank("old"))
    store.append_events("old", [(1, e.TurnStarted(1, "Go", "review", "m", messages=0))])
    begins = beginning(1, store.events("old"), [])
    notes = e.Note(Sentence("a")), e.Note(Sentence("b"))
    twice = msgspec.structs.replace(begins, events=[(1, note) for note in notes])
    with pytest.raises(StoreError):
        store.create_branch(blank("new"), "old", twice)
    assert store.get("new") is None and store.events("new") == []
    store.close()


KILLED = """
import os, signal, sys
from pathlib import Path
from jupyter_codeinterp.journal.sqlite import SqliteStore, store as module
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.events import TurnEnded, TurnStarted
from jupyter_codeinterp.journal.branching import beginning
from jupyter_codeinterp.wire.messages import Text, user

store = SqliteStore(Path(sys.argv[1]))
given = ("n.ipynb", "", "m", "review", False, 0.0, 0.0)
store.create(SessionInfo("old", *given))
store.append_events("old", [(1, TurnStarted(1, "Go", "review", "m", messages=0))])
store.append_messages("old", (user(Text("Go")),), 1)
store.append_events("old", [(2, TurnEnded(1, "end_turn"))])
store.append_events("old", [(3, TurnStarted(2, "On", "review", "m", messages=1))])
begins = beginning(2, store.events("old"), [])
copy = module._copy_conversation

def die(*given):
    copy(*given)
    os.kill(os.getpid(), signal.SIGKILL)

module._copy_conversation = die
store.create_branch(SessionInfo("new", *given), "old", begins)
"""


def test_a_server_that_is_killed_in_the_middle_leaves_what_there_was(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    died = subprocess.run([sys.executable, "-c", KILLED, str(journal)], check=False, timeout=60)
    assert died.returncode == -signal.SIGKILL
    store = SqliteStore(journal)
    assert [info.session_id for info in store.list()] == ["old"]
    assert store.last_seq("old") == 3 and store.count_messages("old") == 1
    assert store.events("new") == [] and store.all_messages("new") == ()
    # And it can be done again.
    begins = beginning(2, store.events("old"), [])
    store.create_branch(msgspec.structs.replace(store.list()[0], session_id="new"), "old", begins)
    assert store.last_seq("new") == 2 and store.count_messages("new") == 1
    store.close()


async def test_no_op_of_before_is_done_again(site: Site, api: FakeAnthropic) -> None:
    """The notebook has them under the other's numbers; a window that connects again, or has
    read an older file, gets them from there alone."""
    w = await talked(site, api, answer(run_cell("d = 4")), answer(text("Made: d = 4")))
    new = await branched(site, w, 3, undo=True)
    store = site.extension.manager.store
    taken = [op.seq for op in store.ops(new, INHERITED) if op.seq <= 0]
    assert taken and taken[-1] == 0 and taken == list(range(1 - len(taken), 1))
    assert next(op.seq for op in store.ops(new)) == 1
    unsaved = [op.seq for name, ops in store.unsaved_ops("a.ipynb") for op in ops if name == new]
    assert min(unsaved) == 1
    assert sources(w) == ["x = 20", "a = 1", "b = 2", "d = 4"]
    assert w.applied[new] == max(unsaved)


# --- what cannot be done ---------------------------------------------------------------


async def test_what_makes_no_branch_says_why_and_changes_nothing(
    site: Site, api: FakeAnthropic
) -> None:
    w = await talked(site, api)
    names = tuple(e.Reference("variable", f"v{number}") for number in range(21))
    for error, turn, given in (
        ("unknown_turn", 0, {}),
        ("unknown_turn", 4, {}),
        ("unknown_turn", -1, {}),
        ("empty_message", 2, {"words": " \n"}),
        ("too_long", 2, {"words": "x" * (MAX_MESSAGE + 1)}),
        ("too_many_references", 2, {"references": names}),
        ("unknown_session", 2, {"of": "0" * 32}),
    ):
        reply = await branch(w, turn, undo=True, **given)
        assert reply.error == error, reply
    assert len(site.extension.manager.list("a.ipynb")) == 1
    assert sources(w) == MADE


async def test_a_turn_that_runs_must_be_stopped_first(site: Site, api: FakeAnthropic) -> None:
    w = await talked(site, api, answer(run_cell("while True: pass")))
    await w.ask("Loop", mode="auto")
    await w.event(e.RunStarted, 4)
    reply = await branch(w, 2, undo=True)
    assert (reply.error, "Stop it first" in reply.message) == ("busy", True)
    assert sources(w)[:4] == MADE
    await w.send(c.Cancel(w.session_id))
    await w.ended(4)


async def test_a_journal_that_takes_nothing_keeps_what_there_is(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = await talked(site, api, answer(text("As you like.")))
    full = StoreError("disk_full", "The disk is full.")

    def refuse(*_: Any) -> None:
        raise full

    store = site.extension.manager.store
    with monkeypatch.context() as broken:
        broken.setattr(store, "create_branch", refuse)
        assert (await branch(w, 2)).error == "disk_full"
    assert len(store.list("a.ipynb")) == 1
    await branched(site, w, 2)


async def test_a_message_that_was_queued_is_not_said_twice(site: Site, api: FakeAnthropic) -> None:
    looping = [answer(run_cell("while True: pass")), answer(text("Well."))]
    w = await talked(site, api, *looping, answer(text("As you like.")))
    await w.ask("Loop", mode="auto")
    await w.event(e.RunStarted, 4)
    await w.ask("Queued")
    await w.send(c.Cancel(w.session_id))
    await w.ended(4)
    await site.until(lambda: not site.extension.manager.running)
    await w.ask("")
    await w.ended(5)
    assert asked(site, w.session_id)[-1] == "Queued"
    new = await branched(site, w, 5, words="Instead")
    assert asked(site, new)[-1] == "Instead"
    assert of(site, new, e.MessageQueued) == []


# --- journals of before ----------------------------------------------------------------


def test_a_turn_that_an_early_version_began() -> None:
    """It did not count messages."""
    events: list[tuple[int, e.Event]] = [(1, e.TurnStarted(1, "Go", "review", "m"))]
    with pytest.raises(CommandError, match="An earlier version began this turn"):
        beginning(1, events, [])


def test_a_turn_that_was_tried_again_has_no_message() -> None:
    events: list[tuple[int, e.Event]] = [(1, e.TurnStarted(1, "", "review", "m"))]
    with pytest.raises(CommandError, match="No message of yours started this turn"):
        beginning(1, events, [])


# --- by REST -----------------------------------------------------------------------------


async def test_by_rest(site: Site, api: FakeAnthropic, jp_root_dir: Path) -> None:
    w = await talked(site, api, answer(text("As you like.")))
    (jp_root_dir / "a.ipynb").write_text(json.dumps(w.notebook))
    client = await rest_client(site)
    given = {"turn": 2, "text": "Another", "undo": True, "mode": "auto"}
    made = await client.command("branch", w.session_id, **given)
    assert made["branches"] == [{"session_id": w.session_id, "turn": 2}]
    new = made["session_id"]
    await site.until(lambda: not site.extension.manager.running)
    assert asked(site, new) == ["Make a", "Another"] and sources(w) == MADE[:2]
    listed = (await site.get("sessions", params={"notebook": "a.ipynb"}))["sessions"]
    assert {one["session_id"] for one in listed} == {w.session_id, new}
    code, refused = await client.try_command("branch", w.session_id, **{**given, "turn": 9})
    assert (code, refused["code"]) == (404, "unknown_turn")
