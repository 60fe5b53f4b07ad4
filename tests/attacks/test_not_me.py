"""Other windows and clients act in the person's name: the person hears of all of it, however
much it is, and "Not me" puts all of it back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.errors import CommandError
from jupyter_codeinterp.server.models.changes import Change, Changes
from jupyter_codeinterp.server.models.key_file import Content, SavedConnection
from jupyter_codeinterp.server.socket.handler import FOR_GOOD
from jupyter_codeinterp.server.windows.windows import MAX_OF_A_LOGIN, MAX_WINDOWS, Bearer, Windows
from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, run_cell, text
from tests.kernels import until
from tests.reference_window import ReferenceWindow, body
from tests.site import Site


def told(w: ReferenceWindow) -> list[c.DoneElsewhere]:
    return [frame for frame in w.frames if isinstance(frame, c.DoneElsewhere)]


async def client(site: Site) -> dict[str, str]:
    """The headers of a client without a window, which has logged in."""
    headers = await site.of_a_page()
    given = body(await site.request("POST", "clients", json_body={}, headers=dict(headers)))
    return {**headers, "X-Codeinterp-Window": given["secret"]}


@asynccontextmanager
async def slow_server() -> AsyncIterator[tuple[str, asyncio.Event, asyncio.Event]]:
    """A model server that does not answer before the second event; the first says that it was
    asked."""
    asked, answers = asyncio.Event(), asyncio.Event()
    models = b'{"data": [{"type": "model", "id": "m", "display_name": "M"}], "has_more": false}'

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await answers.wait()
        head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(models)}\r\n\r\n".encode() + models)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}", asked, answers
    finally:
        server.close()


async def test_two_clients_set_an_address_and_both_are_put_back(
    site: Site, api: FakeAnthropic
) -> None:
    w = await site.window()
    before = site.extension.models.host
    async with FakeAnthropic() as evil, FakeAnthropic() as worse:
        for server in (evil, worse, evil):
            given = {"base_url": server.url, "key": f"sk-ant-of-{server.url[-5:]}"}
            headers = await client(site)
            set_there = await site.request("POST", "key", json_body=given, headers=headers)
            assert set_there.code == 200
        assert site.extension.models.host in evil.url
        assert (await w.send(c.NotMe())).error is None
    assert site.extension.models.host == before


async def test_an_address_that_is_being_tried_is_not_kept_afterwards(
    site: Site, api: FakeAnthropic
) -> None:
    w = await site.window()
    before = site.extension.models.host
    async with slow_server() as (url, asked, answers):
        trying = asyncio.ensure_future(
            site.request(
                "POST", "key", json_body={"base_url": url, "key": "x" * 20},
                headers=await client(site),
            )
        )  # fmt: skip
        await asyncio.wait_for(asked.wait(), 30)
        assert (await w.send(c.NotMe())).error is None
        answers.set()
        refused = await trying
    assert (refused.code, body(refused)["code"]) == (403, "closed_window")
    assert site.extension.models.host == before
    assert told(w) == []


async def test_a_request_waits_for_a_kernel_while_it_is_closed(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same for whatever else is waited for."""
    w = await site.window()
    waits, goes_on = asyncio.Event(), asyncio.Event()

    async def ready(path: str, name: str = "") -> None:
        waits.set()
        await goes_on.wait()

    monkeypatch.setattr(site.extension.workbench.notebook_kernels, "ready", ready)
    session_id = site.extension.manager.new_session("b.ipynb", "review", "").info.session_id
    asking = asyncio.ensure_future(
        site.request(
            "POST", "sessions", session_id, "messages",
            json_body={"text": "Delete all", "mode": "auto"}, headers=await client(site),
        )
    )  # fmt: skip
    await asyncio.wait_for(waits.wait(), 30)
    assert (await w.send(c.NotMe())).error is None
    goes_on.set()
    assert (await asking).code == 403
    assert site.extension.manager.session(session_id).turn == 0
    assert api.exchanges == []


async def test_the_model_of_a_conversation_is_put_back(site: Site, api: FakeAnthropic) -> None:
    w, other = await site.window(), await site.bare_window()
    manager = site.extension.manager
    chosen = {}
    for name, steps in (
        ("only theirs", [(other, "claude-x"), (other, "claude-y")]),
        ("mine, then theirs", [(w, "claude-mine"), (other, "claude-y")]),
        ("theirs, then mine", [(other, "claude-y"), (w, "claude-mine")]),
    ):
        session = manager.new_session("b.ipynb", "review", "claude-first")
        chosen[name] = session
        for window, model in steps:
            assert (await window.send(c.SetModel(session.info.session_id, model))).error is None
    assert (await w.send(c.NotMe())).error is None
    await until(lambda: chosen["only theirs"].info.model == "claude-first")
    await until(lambda: chosen["mine, then theirs"].info.model == "claude-mine")
    assert chosen["theirs, then mine"].info.model == "claude-mine"


async def test_a_conversation_in_auto_that_is_not_open_asks_again(site: Site) -> None:
    w, other = await site.window(), await site.bare_window()
    manager = site.extension.manager
    session = manager.new_session("b.ipynb", "review", "")
    session_id = session.info.session_id
    await other.send(c.SetMode(session_id, "auto"))
    await session.close()
    del manager._sessions[session_id]
    assert (await w.send(c.NotMe())).error is None
    assert manager.session(session_id).info.mode == "review"


async def test_a_socket_that_is_being_opened_is_closed_too(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await site.window()
    known = site.extension.manager.windows
    redeem = known.redeem

    def then_not_me(ticket: str, bearer: Bearer) -> int:
        number = redeem(ticket, bearer)
        known.close_others(1)
        return number

    monkeypatch.setattr(known, "redeem", then_not_me)
    socket = await site.connect(await site.ticket())
    assert await socket.read_message() is None and socket.close_code == FOR_GOOD
    socket.close()
    assert len(site.extension.manager.broadcaster) == 1


# --- what a page hears that was away ---------------------------------------------------


async def test_a_decision_is_told_after_however_many_windows_actions_and_clients(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([answer(run_cell("1", title="Harm")), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Go")
    draft = await w.draft()
    other = await site.bare_window()
    seen, secret, number = w.seen, w.secret, 1
    await w.close()
    manager = site.extension.manager
    await site.until(lambda: len(manager.broadcaster) == 1)
    await other.decide(draft, session_id=w.session_id)
    idle = manager.new_session("b.ipynb", "review", "").info.session_id
    for mode in ("auto", "review") * 105:
        assert (await other.send(c.SetMode(idle, mode))).error is None
    for _ in range(101):
        await (await site.bare_window("c.ipynb")).close()
    for login in range(101):
        for _ in range(101):
            manager.windows.admit(Bearer(f"evil {login}", False))
    same = await site.bare_window(secret=secret, seen=seen)
    await same.until(lambda: [a for a in told(same) if a.what == "mode"])
    (run,) = [action for action in told(same) if action.what == "run"]
    assert (run.window != number, run.name) == (True, "Harm")
    (you_are,) = [frame for frame in same.frames if isinstance(frame, c.YouAre)]
    assert not you_are.missed


async def test_a_page_hears_that_something_is_not_known_any_more(site: Site) -> None:
    w, other = await site.window(), await site.bare_window()
    idle = site.extension.manager.new_session("b.ipynb", "review", "").info.session_id
    await w.close()
    for mode in ("auto", "review", "auto"):
        await other.send(c.SetMode(idle, mode))
    site.extension.store._db.execute("DELETE FROM actions WHERE number < 5")
    for seen in (1, 10_000):
        same = await site.bare_window(secret=w.secret, seen=seen)
        assert (await same.send(c.Subscribe(idle))).error is None
        (you_are,) = [frame for frame in same.frames if isinstance(frame, c.YouAre)]
        assert you_are.missed, seen


async def test_numbers_go_on_when_the_server_is_started_again(site: Site) -> None:
    store = site.extension.store
    await site.bare_window()
    last = site.extension.manager.actions.last
    store._db.execute("DELETE FROM actions")
    assert store.append_window(0) == last + 1
    assert store.append_window(last + 5) == last + 6


def test_a_login_has_a_bounded_number_of_windows() -> None:
    connected: set[int] = set()
    known = Windows(connected=connected.__contains__)
    ann, evil = Bearer("ann", False), Bearer("evil", False)
    ticket, secret = known.issue(ann)
    mine = known.redeem(ticket, ann)
    for _ in range(2 * MAX_OF_A_LOGIN):
        number, _ = known.admit(evil)
    assert len(known._known) == 1 + MAX_OF_A_LOGIN
    assert known.number(secret) == mine, "another login's clients push out no window"
    connected.update(range(number + 1))
    with pytest.raises(CommandError) as caught:
        known.admit(evil)
    assert caught.value.code == "too_many_windows"
    for login in range(2 * MAX_WINDOWS // MAX_OF_A_LOGIN):
        for _ in range(MAX_OF_A_LOGIN):
            known.admit(Bearer(f"evil {login}", False))
    assert len(known._known) == MAX_WINDOWS
    assert known.number(secret) == mine, "nor do other logins, while it is connected"


# --- who did it ------------------------------------------------------------------------


async def test_all_that_another_window_does_is_told_and_names_it(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(
        in_order(
            [
                answer(call("ask_user", {"question": "Which?"})),
                answer(run_cell("1 / 0", title="Ratio")),
                answer(text("Done.")),
                answer(run_cell("2", title="Two")),
            ]
        )
    )
    w = await site.window(kernel_id=await site.kernel())
    other = await site.bare_window()
    await w.ask("Go")
    session_id = w.session_id
    asked: e.QuestionAsked = await w.event(e.QuestionAsked)

    async def does(command: c.Command, what: str) -> c.DoneElsewhere:
        before = len(told(w))
        assert (await other.send(command)).error is None, what
        done = await w.until(lambda: told(w)[before:])
        assert [(a.window, a.what) for a in done] == [(2, what)]
        return done[0]  # type: ignore[no-any-return]

    await does(c.Answer(session_id, asked.call_id, "All"), "answer")
    assert (await w.event(e.QuestionAnswered)).window == 2
    draft = await w.draft()
    await does(c.Decide(session_id, draft.draft_id, draft.nonce, "run", "3"), "run")
    await w.ended()
    assert (await does(c.UndoTurn(session_id, 1), "undo")).turn == 1
    assert (await w.event(e.TurnUndone)).window == 2
    await w.ask("More")
    await w.draft(2)
    await w.send(c.SendMessage("And this", "a.ipynb", session_id))
    await does(c.TakeBack(session_id, 1), "take_back")
    assert (await w.event(e.MessageTakenBack)).window == 2
    await does(c.Cancel(session_id), "stop")
    assert (await w.ended(2)).window == 2
    page = {**await site.of_a_page(), "X-Codeinterp-Window": other.secret}
    renamed = await site.request(
        "PATCH", "sessions", session_id, json_body={"title": "Mine"}, headers=dict(page)
    )
    assert renamed.code == 200
    assert (await w.event(e.TitleChanged, 2)).window == 2
    await w.until(lambda: told(w)[-1].what == "rename")
    assert (await site.request("DELETE", "sessions", session_id, headers=dict(page))).code == 204
    await w.until(lambda: told(w)[-1].what == "delete")
    kept, _ = site.extension.store.actions(0, 1, 100)
    assert {a.name for a in kept if a.session_id == session_id} == {""}, "words go with it"


# --- the connections -------------------------------------------------------------------

A, B, C = (SavedConnection(f"http://{name}", name) for name in "abc")
SET = st.tuples(
    st.integers(1, 3), st.sampled_from(["p", "q"]), st.sampled_from([A, B, C, None]),
    st.sampled_from(["", "m", "n"]),
)  # fmt: skip


@settings(deadline=None)
@given(before=st.lists(SET, max_size=4), after=st.lists(SET, max_size=8))
def test_what_stays_is_what_this_window_has_set_last_or_what_was_there(
    before: list[Any], after: list[Any]
) -> None:
    changes, now, number = Changes(), Content(), 0
    mine = 100
    expected: dict[str, Any] = {}
    for steps, base in ((before, 0), (after, 1)):
        for who, provider, kept, model in steps:
            number += 1
            window = mine if base and who == 1 else who
            at = number + (mine if base else 0)
            changes.add(
                Change(at, window, provider, now.connections.get(provider), now.default_model)
            )
            connections = {k: v for k, v in now.connections.items() if k != provider}
            if kept is not None:
                connections[provider] = kept
            if window == mine or not base:
                expected[provider] = kept
            now = Content(connections=connections, default_model=model)
    found = changes.without_others(now, mine)
    assert found.connections == {k: v for k, v in expected.items() if v is not None}
    if all(one[0] == 1 for one in after):
        assert found == now
