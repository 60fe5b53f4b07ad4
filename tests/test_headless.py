"""A turn that begins where no window shows the notebook, by REST: its file is worked in, and the
kernel is the one that it has or gets."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_codeinterp.wire import commands as c
from tests.fake_anthropic import FakeAnthropic, answer, edit_cell, in_order, run_cell, text
from tests.kernels import until
from tests.reference_window import notebook
from tests.rest_client import RestClient, of_command, rest_client
from tests.site import Site

CELLS = ("a = 20", "b = a + 1", "print(b * 2)")
DONE = answer(text("It is 42."))
THREE = [*(answer(run_cell(source)) for source in CELLS), DONE]


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    """A window would be waited for much longer than any test takes."""
    return {"window_grace": 600.0}


@pytest.fixture
def file(jp_root_dir: Path) -> Path:
    """``work/a.ipynb``, with one cell."""
    (jp_root_dir / "work").mkdir()
    path = jp_root_dir / "work" / "a.ipynb"
    path.write_text(json.dumps(notebook("import math")))
    return path


def cells(file: Path) -> list[str]:
    return [cell.source for cell in nbformat.read(file, as_version=4).cells]


async def begun(client: RestClient, text: str = "Go", **given: Any) -> str:
    """A conversation, and its turn; the id."""
    sent = await client.command("send_message", "", notebook="work/a.ipynb", text=text, **given)
    assert sent["running"]
    return str(sent["session_id"])


async def test_three_cells_without_any_window(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(in_order(THREE))
    client = await rest_client(site)
    session_id = await begun(client)
    async with client.follow(session_id) as stream:
        for number in (1, 2, 3):
            draft = (await stream.event("draft_waiting", number))["draft"]
            assert draft["source"] == CELLS[number - 1]
            await client.decide(session_id, draft)
        ended = await stream.event("turn_ended")
    assert ended["stop_reason"] == "end_turn" and len(ended["added"]) == 3
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    assert [cell.source for cell in book.cells] == ["import math", *CELLS]
    assert [cell.cell_type for cell in book.cells] == ["code"] * 4
    assert [cell.execution_count for cell in book.cells[1:]] == [1, 2, 3]
    assert book.cells[3].outputs[0].text == "42\n"
    # Who opens it has the variables.
    watch = await site.watch(await site.kernel_of("work/a.ipynb"))
    assert await watch.run("print(a)") == "20\n"


LATER = """
import asyncio, os
async def work():
    while not os.path.exists("go"):
        await asyncio.sleep(0.01)
    print("late")
task = asyncio.ensure_future(work())
shown = display("begun", display_id="d")
"""


async def test_outputs_after_the_turn_are_in_the_file(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    """Of a task, and of a display that a person's code changes."""
    api.play(in_order([answer(run_cell(LATER)), DONE]))
    client = await rest_client(site)
    session_id = await begun(client)
    async with client.follow(session_id) as stream:
        await client.decide(session_id, (await stream.event("draft_waiting"))["draft"])
        await stream.event("turn_ended")
    watch = await site.watch(await site.kernel_of("work/a.ipynb"))
    await watch.run("shown.update('changed')")
    (file.parent / "go").touch()
    await until(lambda: "late" in file.read_text() and "'changed'" in file.read_text())
    nbformat.validate(nbformat.read(file, as_version=4))


V3 = {
    "nbformat": 3,
    "nbformat_minor": 0,
    "metadata": {"name": "old"},
    "worksheets": [
        {"cells": [{"cell_type": "heading", "level": 2, "source": "Sales", "metadata": {}}]},
        {
            "cells": [
                {
                    **{"cell_type": "code", "input": "x = 1", "language": "python"},
                    **{"prompt_number": 3, "collapsed": False, "metadata": {}, "outputs": []},
                }
            ]
        },
    ],
}


@pytest.fixture
def old_file(file: Path) -> Path:
    file.write_text(json.dumps(V3))
    return file


def whole(file: Path) -> str:
    return file.read_text()


async def test_a_notebook_of_format_3_is_converted_and_said(
    site: Site, api: FakeAnthropic, old_file: Path
) -> None:
    """A checkpoint keeps it, as when a page opens it."""
    api.play(in_order([answer(run_cell("y = 2")), DONE]))
    client = await rest_client(site)
    session_id = await begun(client)
    async with client.follow(session_id) as stream:
        await client.decide(session_id, (await stream.event("draft_waiting"))["draft"])
        await stream.event("turn_ended")
        (note,) = [event["text"] for event in stream.events if event["type"] == "note"]
    assert "Converted from notebook format 3 to 4.5" in note and "A checkpoint" in note
    assert cells(old_file) == ["## Sales", "x = 1", "y = 2"]
    kept = old_file.parent / ".ipynb_checkpoints" / "a-checkpoint.ipynb"
    assert (whole(kept), "orig_nbformat" in whole(old_file)) == (json.dumps(V3), False)


async def test_nothing_runs_that_was_not_decided(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    api.play(in_order(THREE))
    client = await rest_client(site)
    kernel_id = await site.kernel_of("work/a.ipynb")
    watch = await site.watch(kernel_id)
    session_id = await begun(client)
    async with client.follow(session_id) as stream:
        draft = (await stream.event("draft_waiting"))["draft"]
        forged = {"draft_id": draft["draft_id"], "nonce": "x", "source": draft["source"]}
        for wrong, code in (
            ({**forged, "action": "run"}, 409),
            ({**forged, "action": "go"}, 400),
            ({**forged, "action": "run", "draft_id": "other"}, 404),
        ):
            status, said = await client.try_command("decide", session_id, **wrong)
            assert (status, bool(said["message"])) == (code, True), said
        assert await watch.sources() == []
        word = {**forged, "nonce": draft["nonce"], "action": "reject"}
        await client.command("decide", session_id, **word)
        await stream.event("tool_done")
        assert await watch.sources() == []
        await client.command("cancel", session_id)
        assert (await stream.event("turn_ended"))["stop_reason"] == "cancelled"
    assert cells(file) == ["import math"]


async def test_who_has_the_token_alone_may_look_and_not_act(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    """Code in a kernel can read the server's token."""
    api.play(in_order(THREE))
    session_id = await begun(await rest_client(site))
    assert (await site.request("POST", "clients")).code == 403
    for kind, given in (
        ("send_message", {"text": "Go"}),
        ("cancel", {}),
        ("answer", {"call_id": "x", "text": "y"}),
        ("undo_turn", {"turn": 1}),
        ("redo_turn", {"turn": 1}),
        ("set_mode", {"mode": "auto"}),
    ):
        for headers in ({}, {"X-Codeinterp-Window": "guessed"}):
            command = of_command(kind, session_id, **given)
            response = await site.request(
                "POST", "command", json_body=command, headers=dict(headers)
            )
            assert response.code == 403, kind
    assert site.extension.manager.session(session_id).running
    assert (await site.get("sessions"))["sessions"][0]["session_id"] == session_id


async def test_a_window_that_has_it_open_is_worked_in(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    api.play(in_order(THREE))
    w = await site.window("work/a.ipynb", notebook("import math"))
    client = await rest_client(site)
    session_id = await begun(client)
    w.session_id = session_id
    await w.send(c.Subscribe(session_id))
    draft = await w.draft()
    assert [cell["source"] for cell in w.cells] == ["import math", CELLS[0]]
    assert cells(file) == ["import math"], "the window saves it"
    # Either may decide, and the other hears of it.
    async with client.follow(session_id) as stream:
        await client.decide(session_id, (await stream.event("draft_waiting"))["draft"])
    await w.until(lambda: [f for f in w.frames if isinstance(f, c.DoneElsewhere)])
    assert (await w.decide(draft)).error == "already_decided"
    await w.decide(await w.draft(2))
    await w.decide(await w.draft(3))
    assert (await w.ended()).stop_reason == "end_turn"
    assert [cell["source"] for cell in w.cells] == ["import math", *CELLS]


async def test_a_window_that_opens_it_in_mid_turn_gets_it(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    api.play(in_order(THREE))
    client = await rest_client(site)
    session_id = await begun(client)
    async with client.follow(session_id) as stream:
        await client.decide(session_id, (await stream.event("draft_waiting"))["draft"])
        await stream.event("draft_waiting", 2)
        await until(lambda: len(cells(file)) == 3)
        book = json.loads(json.dumps(nbformat.read(file, as_version=4)))
        w = await site.bare_window("work/a.ipynb", book)
        w.applied = dict(book["metadata"]["codeinterp"]["applied"])
        await w.open(await site.kernel_of("work/a.ipynb"))
        w.session_id = session_id
        await w.send(c.Subscribe(session_id))
        await w.decide(await w.draft(2))
        await w.decide(await w.draft(3))
        assert (await w.ended()).stop_reason == "end_turn"
    assert [cell["source"] for cell in w.cells] == ["import math", *CELLS]
    assert w.cells[3]["outputs"][0]["text"] == "42\n"


async def test_what_a_lost_window_has_not_saved_is_not_passed_over(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    api.play(in_order(THREE))
    w = await site.window("work/a.ipynb", notebook("import math"))
    assert (await w.send(c.FileState("work/a.ipynb", {}, "v", True))).error is None
    await w.close()
    await until(lambda: not site.extension.manager.connected)
    client = await rest_client(site)
    session_id = await begun(client)
    async with client.follow(session_id) as stream:
        ended = await stream.event("turn_ended")
    assert ended["stop_reason"] == "error" and "unsaved changes" in ended["message"]
    assert cells(file) == ["import math"]


async def test_a_turn_is_undone_in_the_file(site: Site, api: FakeAnthropic, file: Path) -> None:
    source = nbformat.read(file, as_version=4).cells[0].id
    api.play(in_order([answer(edit_cell(source, "import math, os")), THREE[0], DONE]))
    client = await rest_client(site)
    session_id = await begun(client, mode="auto")
    async with client.follow(session_id) as stream:
        # A cell of the person's is asked for in Auto, too.
        await client.decide(session_id, (await stream.event("draft_waiting"))["draft"])
        await stream.event("turn_ended")
        changed = cells(file)
        await client.command("undo_turn", session_id, turn=1)
        await stream.event("turn_undone")
        assert changed[0] == "import math, os" and len(changed) == 2
        await until(lambda: cells(file) == ["import math"])
        await client.command("redo_turn", session_id, turn=1)
        redone = await stream.event("turn_redone")
        await until(lambda: cells(file) == changed)
    assert len(redone["restored"]) == 2 and redone["window"] != 0


async def test_what_cannot_be_begun(site: Site, file: Path) -> None:
    client = await rest_client(site)
    here = {"notebook": "work/a.ipynb"}
    cases: list[tuple[dict[str, Any], str, str]] = [
        ({"notebook": "none.ipynb"}, "unknown_notebook", "No notebook 'none.ipynb'"),
        ({"notebook": "work"}, "unknown_notebook", "No notebook 'work'"),
        ({"notebook": "../../etc/passwd"}, "unknown_notebook", "No notebook"),
        ({"notebook": ""}, "no_notebook", "Open a notebook first."),
        (here | {"mode": "god"}, "malformed", "god"),
        ({"notebook": 7}, "malformed", "notebook"),
    ]
    for given, code, words in cases:
        status, said = await client.try_command("send_message", "", text="Go", **given)
        assert 400 <= status < 500 and said["code"] == code and words in said["message"], said
    assert (await site.get("sessions"))["sessions"] == []


async def test_two_who_ask_at_once_get_one_kernel(site: Site, file: Path) -> None:
    client = await rest_client(site)
    given = {"notebook": "/work//a.ipynb", "text": "Go"}
    await asyncio.gather(*(client.command("send_message", "", **given) for _ in range(3)))
    listed: Any = await site.app.session_manager.list_sessions()
    assert [one["path"] for one in listed] == ["work/a.ipynb"]


async def test_a_message_during_a_turn_is_queued(
    site: Site, api: FakeAnthropic, file: Path
) -> None:
    api.play(in_order(THREE))
    client = await rest_client(site)
    session_id = await begun(client)
    said = await client.command("send_message", session_id, text="And?")
    assert (said["did"], said["session_id"]) == ("queue", session_id)
    await client.command("take_back", session_id, number=1)
    status, said = await client.try_command("take_back", session_id, number=1)
    assert (status, said["code"]) == (409, "not_queued")
    status, said = await client.try_command("send_message", session_id, text="No", about="x")
    assert (status, said["code"]) == (409, "no_longer_waits")
    status, said = await client.try_command("send_message", "0" * 32, text="And?")
    assert (status, said["code"]) == (404, "unknown_session")


async def test_events_go_on_after_a_number(site: Site, api: FakeAnthropic, file: Path) -> None:
    api.play(in_order([answer(text("One.")), answer(text("Two."))]))
    client = await rest_client(site)
    session_id = await begun(client)
    async with client.follow(session_id) as first:
        await first.event("turn_ended")
    await client.command("send_message", session_id, text="More")
    async with client.follow(session_id, first.last) as second:
        await second.event("turn_ended")
    assert [event["text"] for event in second.of("turn_started")] == ["More"]
    everything = await site.get("sessions", session_id, "events")
    kinds = [event["event"]["type"] for event in everything["events"]]
    heard = [event["type"] for event in [*first.events, *second.events]]
    assert [kind for kind in heard if kind != "text_delta"] == [
        kind for kind in kinds if kind != "text_delta"
    ]
    for of, after, code in (("0" * 32, "0", 404), (session_id, "x", 400)):
        refused = await site.request("GET", "sessions", of, "events", params={"after": after})
        assert refused.code == code


async def test_what_is_refused_starts_no_kernel(site: Site, api: FakeAnthropic, file: Path) -> None:
    client = await rest_client(site)
    session_id = client.conversation("work/a.ipynb")
    sessions: Any = site.app.session_manager
    for kind, given, code in (
        ("send_message", {"text": " "}, "empty_message"),
        ("send_message", {"text": "x" * 100_001}, "too_long"),
        ("send_message", {"text": "Go", "about": "nothing that waits"}, "no_longer_waits"),
        (
            "send_message",
            {"text": "Go", "references": [{"kind": "cell", "name": "x" * 301}]},
            "too_long",
        ),
        ("branch", {"turn": 1, "text": "Go"}, "unknown_turn"),
        ("branch", {"turn": 1, "text": ""}, "empty_message"),
        ("retry", {}, "nothing_to_retry"),
    ):
        status, said = await client.try_command(kind, session_id, **given)
        assert status >= 400 and said["code"] == code, (kind, given, said)
        assert await sessions.list_sessions() == [], (kind, given)
