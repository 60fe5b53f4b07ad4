"""The tool ``new_notebook``: after a decision the turn ends, and another conversation goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from jupyter_codeinterp.agent.tools.built_in.new_notebook import LONGEST_TASK, safe_name
from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.events import Mode
from jupyter_codeinterp.wire.messages import ToolUse, assistant
from tests.core.test_taking_up import killed
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]

TASK = "Fit a model to the cleaned data."


class Shelf:
    """Notebooks beside the session's, in memory."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.begun: list[tuple[str, str, int]] = []
        self.fault: CommandError | None = None
        self.hold: asyncio.Event | None = None
        self.begins = asyncio.Event()

    async def free_name(self, name: str) -> str:
        stem = name.removesuffix(".ipynb")
        numbered = (name, *(f"{stem}-{n}.ipynb" for n in range(1, 9)))
        return next(one for one in numbered if one not in self.names)

    async def go_on(self, name: str, task: str, by: int) -> tuple[str, str]:
        self.begins.set()
        if self.hold is not None:
            await self.hold.wait()
        if self.fault is not None:
            raise self.fault
        if name in self.names:
            raise CommandError("name_taken", f"{name} exists already.")
        self.names.append(name)
        self.begun.append((name, task, by))
        return f"work/{name}", f"session-{len(self.begun)}"


def shelved(b: Bench, *names: str) -> Shelf:
    shelf = Shelf(*names)
    b.session.workplace.new_notebooks = shelf
    return shelf


def onward(name: str = "Models", task: str = TASK) -> ToolUse:
    return ToolUse("toolu_onward", "new_notebook", {"name": name, "task": task})


@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_it_asks_and_the_turn_ends(bench: Benches, mode: Mode) -> None:
    b = bench(assistant(onward(), *run("late = 1").content))
    shelf = shelved(b, "Models.ipynb")
    b.send("Go", mode)
    draft = await b.draft()
    assert (draft.kind, draft.cell_id, draft.runs, draft.can_run_all) == (
        "notebook",
        "",
        False,
        False,
    )
    assert draft.title == "Make Models-1.ipynb"
    assert draft.source == (
        f"Make Models-1.ipynb beside this notebook and go on there.\nTask: {TASK}"
    )
    assert shelf.begun == [], "nothing happens before the decision"
    b.decide(draft)
    ended = await b.ended()
    assert shelf.begun == [("Models-1.ipynb", TASK, 0)]
    assert ended.stop_reason == "end_turn"
    (went,) = b.of(e.WentOn)
    assert went == e.WentOn(draft.draft_id, "work/Models-1.ipynb", "session-1")
    assert [done.status for done in b.of(e.ToolDone)] == ["ok", "not_started"]
    assert b.sequence[-4:] == ["WentOn", "ToolDone", "ToolDone", "TurnEnded"]
    assert len(b.model.requests) == 1, "the model is not asked again here"
    assert b.document.sources() == ["x = 20"]


async def test_the_conversation_can_go_on_here_later(bench: Benches) -> None:
    b = bench(assistant(onward()), say("Here I am."))
    shelved(b)
    b.send()
    b.decide(await b.draft())
    await b.ended()
    await b.turn("And here?")
    assert "Made Models.ipynb." in b.results[-1]


async def test_a_rejection_makes_nothing(bench: Benches) -> None:
    b = bench(assistant(onward()), say("Then here."))
    shelf = shelved(b)
    b.send()
    b.decide(await b.draft(), "reject")
    await b.ended()
    assert shelf.names == [] and b.of(e.WentOn) == []
    assert b.of(e.ToolDone)[0].status == "rejected"
    assert len(b.model.requests) == 2


async def test_plan_refuses(bench: Benches) -> None:
    b = bench(assistant(onward()), say("The plan."))
    shelf = shelved(b)
    await b.turn("Go", "plan")
    assert b.of(e.DraftWaiting) == [] and shelf.names == []
    assert "no notebook was made" in b.results[0]


async def test_a_failure_is_said_and_the_turn_goes_on(bench: Benches) -> None:
    b = bench(assistant(onward()), say("Then here."))
    shelved(b).fault = CommandError("no_such_kernel", "There is no kernel.")
    b.send()
    b.decide(await b.draft())
    ended = await b.ended()
    (done,) = b.of(e.ToolDone)
    said = "Made Models.ipynb, but could not go on there: There is no kernel."
    assert said in b.results[0] and said in done.summary
    assert (done.status, ended.stop_reason) == ("not_started", "end_turn")
    assert b.of(e.WentOn) == [] and len(b.model.requests) == 2


async def test_a_decision_on_another_task_asks_again(bench: Benches) -> None:
    b = bench(assistant(onward()), say("Then here."))
    shelf = shelved(b)
    b.send()
    first = await b.draft()
    b.decide(first, source=first.source.replace("Fit", "Delete"))
    again = await b.draft(2)
    assert again.source == first.source and again.notices
    b.decide(again, "reject")
    await b.ended()
    assert shelf.begun == []


@pytest.mark.parametrize("task", ["", "  \n", "x" * (LONGEST_TASK + 1)])
async def test_a_task_must_be_short(bench: Benches, task: str) -> None:
    b = bench(assistant(onward(task=task)), say("Then here."))
    shelved(b)
    await b.turn()
    assert b.of(e.DraftWaiting) == []
    assert "Say in one sentence what to do there" in b.results[0]


async def test_what_the_card_shows_is_what_begins(bench: Benches) -> None:
    b = bench(assistant(onward("../../etc/\u202ex", "Sum\u202e it\x1b[2K\nup")))
    shelf = shelved(b)
    b.send()
    draft = await b.draft()
    assert draft.title == "Make x.ipynb"
    assert draft.source.endswith("Task: Sum\\u202e it\\x1b[2K up")
    b.decide(draft)
    await b.ended()
    assert shelf.begun == [("x.ipynb", "Sum\\u202e it\\x1b[2K up", 0)]


async def test_stop_while_it_is_made(bench: Benches) -> None:
    b = bench(assistant(onward()))
    shelf = shelved(b)
    shelf.hold = asyncio.Event()
    b.send()
    b.decide(await b.draft())
    await shelf.begins.wait()
    b.session.cancel()
    await b.ended()
    (done,) = b.of(e.ToolDone)
    assert done.status == "interrupted" and "may have had effects" in done.summary


async def test_the_server_stops_while_it_is_made(bench: Benches) -> None:
    b = bench(assistant(onward()))
    shelf = shelved(b)
    shelf.hold = asyncio.Event()
    b.send()
    b.decide(await b.draft())
    await shelf.begins.wait()
    killed(b)
    (done,) = b.of(e.ToolDone)
    assert done.status == "interrupted" and "may have had effects" in done.summary
    b.model.script = [say("I see.")]
    b.session.retry()
    await b.ended(2)
    said = "\n".join(str(message) for message in b.model.requests[-1].messages)
    assert "a new notebook had been approved and may have had effects" in said


async def test_the_server_stops_when_the_other_conversation_has_begun(bench: Benches) -> None:
    """But before this one could say so. It says where it went on, and nothing is made twice."""
    b = bench(assistant(onward()))
    shelf = shelved(b)
    b.send()
    draft = await b.draft()
    there = replace(b.session.info, session_id="f" * 32, notebook="work/Models.ipynb")
    shelf.hold, shelf.begins = asyncio.Event(), asyncio.Event()
    b.decide(draft)
    await shelf.begins.wait()
    # Another conversation, and one that has been linked, are not meant.
    b.store.create(replace(there, session_id="e" * 32))
    b.store.create(replace(there, goes_on_from=b.session.info.session_id))
    killed(b)
    (went,) = b.of(e.WentOn)
    assert went == e.WentOn(draft.draft_id, there.notebook, there.session_id)
    (done,) = b.of(e.ToolDone)
    assert done.status == "ok" and "Models.ipynb was made" in done.summary
    assert b.of(e.TurnEnded)[0].code == "server_stopped"
    b.restart_server()
    assert len(b.of(e.WentOn)) == 1
    b.model.script = [say("I see.")]
    b.session.retry()
    await b.ended(2)
    said = "\n".join(str(message) for message in b.model.requests[-1].messages)
    assert "Models.ipynb was made, and a conversation there has begun with the task" in said
    assert "may have had effects" not in said


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Models", "Models.ipynb"),
        ("Models.ipynb", "Models.ipynb"),
        ("Models.IPYNB", "Models.ipynb"),
        ("a/b/../c", "c.ipynb"),
        ("..\\..\\c", "c.ipynb"),
        ("C:\\temp\\d", "d.ipynb"),
        (".hidden", "hidden.ipynb"),
        ("..", "Untitled.ipynb"),
        ("", "Untitled.ipynb"),
        (".ipynb", "ipynb.ipynb"),
        ("a\x00b\nc\u202ed", "abcd.ipynb"),
        ("what?*<>|", "what.ipynb"),
        ("\ud800x", "x.ipynb"),
        ("Umsätze 2026", "Umsätze 2026.ipynb"),
        ("日" * 300, "日" * 60 + ".ipynb"),
    ],
)
def test_a_name_is_made_safe(given: str, name: str) -> None:
    assert safe_name(given) == name
    assert len(name.encode()) < 255
