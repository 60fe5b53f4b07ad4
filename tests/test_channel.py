"""The window's socket: who may open it, what each command needs leave for, and what becomes
of frames that are no commands."""

from __future__ import annotations

import asyncio
import typing
from contextlib import suppress
from functools import partial
from typing import Any

import msgspec
import pytest
from jupyter_server.auth.authorizer import Authorizer
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClosedError

from jupyter_codeinterp.base.errors import CommandError
from jupyter_codeinterp.server.socket import connection
from jupyter_codeinterp.server.socket.send_queue import MAX_SNAPSHOT, SendQueue
from jupyter_codeinterp.session.messages import MAX_MESSAGE
from jupyter_codeinterp.session.server import service, windows
from jupyter_codeinterp.session.server.windows import MAX_OF_A_LOGIN, MAX_WINDOWS, Bearer, Windows
from jupyter_codeinterp.view.redaction.secrets import REMOVED
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.commands import CHANGE, EXECUTE, LOOK, NOT_ALLOWED
from jupyter_codeinterp.wire.ops import Receipt
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, run_cell, text
from tests.login import log_in
from tests.reference_window import body
from tests.site import Site

COMMANDS: tuple[type[Any], ...] = typing.get_args(c.Command)
ROWS: dict[type[Any], Any] = {**service.COMMANDS, **connection.OF_WINDOWS}
NEEDS = {kind: row.needs for kind, row in ROWS.items()}


# --- opening -------------------------------------------------------------------------


async def refused(site: Site, ticket: str, **kwargs: Any) -> int:
    """The status with which a socket is refused; 101 if it opens."""
    try:
        socket = await site.connect(ticket, **kwargs)
    except HTTPClientError as error:
        return int(error.code)
    socket.close()
    return 101


async def test_a_socket_opens_with_a_fresh_ticket_only(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticket = await site.ticket()
    assert await refused(site, ticket) == 101
    assert await refused(site, ticket) == 403, "used"
    assert await refused(site, "") == 403
    assert await refused(site, "x" * 32) == 403, "forged"
    ticket = await site.ticket()
    monkeypatch.setattr(windows, "TICKET_LIFE", 0.0)
    assert await refused(site, ticket) == 403, "expired"


async def test_a_ticket_does_not_replace_authentication(site: Site) -> None:
    assert await refused(site, await site.ticket(), headers={"Authorization": ""}) == 403
    assert await refused(site, await site.ticket(), headers={"Authorization": "token x"}) == 403


def test_a_ticket_is_one_persons() -> None:
    known = Windows()

    def opens(holder: Bearer, bearer: Bearer) -> bool:
        return known.redeem(known.issue(holder)[0], bearer) > 0

    ours, theirs = Bearer("ann", False), Bearer("bob", False)
    assert not opens(theirs, ours)
    assert opens(ours, ours)
    # With the token in both requests it is one person, by whatever made-up name.
    assert opens(Bearer("x", True), Bearer("y", True))
    assert not opens(Bearer("x", True), Bearer("y", False))
    assert not opens(Bearer("x", False), Bearer("y", True))


def test_tickets_that_were_tampered_with() -> None:
    known, ann = Windows(), Bearer("ann", False)
    ticket, _ = known.issue(ann)
    other = "B" if ticket[0] == "A" else "A"
    for wrong in ("", "ä", "=", ticket[:-8], other + ticket[1:], ticket[:43]):
        assert known.redeem(wrong, ann) == 0, wrong
    assert Windows().redeem(ticket, ann) == 0, "another server's"
    assert known.redeem(ticket, ann) == 1


def test_a_page_that_connects_again_keeps_its_number() -> None:
    known, ann = Windows(), Bearer("ann", False)
    ticket, secret = known.issue(ann)
    assert known.number(secret) == 0, "no socket yet"
    assert known.redeem(ticket, ann) == known.number(secret) == 1
    other, another = known.issue(ann)
    assert known.redeem(other, ann) == 2 and another != secret
    again, same = known.issue(ann, secret)
    assert same == secret and known.redeem(again, ann) == 1
    # A secret that the server does not know is none that one may choose.
    _, given = known.issue(ann, "x")
    assert given != "x"


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


async def test_windows_are_for_browsers_that_have_logged_in(site: Site) -> None:
    """The token can be read by every kernel. It gets no ticket: not in the header, not in the
    address, not beside the cookies of a login."""
    token = site.app.identity_provider.token
    cookies = (await site.login()).headers
    for how in (
        {},
        {"params": {"token": token}, "headers": {"Authorization": "none"}},
        {"headers": dict(cookies)},
    ):
        response = await site.request("POST", "tickets", **how)
        assert response.code == 403, how
        assert body(response)["code"] == "no_session"
        assert "Only logged-in browsers get windows" in body(response)["message"]


class TestTokenWindows:
    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {"allow_token_windows": True}

    async def test_an_admin_may_allow_windows_with_the_token_alone(self, site: Site) -> None:
        given = body(await site.request("POST", "tickets"))
        assert await refused(site, given["ticket"], headers={}) == 101


async def test_a_browser_opens_its_own_tickets_alone(site: Site) -> None:
    other = await log_in(site.url, site.app.identity_provider.token)
    theirs = {**other.headers, "Authorization": "none"}
    assert await refused(site, await site.ticket(), headers=theirs) == 403, "another user's"
    assert await refused(site, (await other.ask()).ticket, headers=theirs) == 101


async def test_foreign_pages_and_hosts_are_refused(site: Site) -> None:
    ours = {**(await site.login()).headers, "Authorization": "none"}
    foreign = {**ours, "Origin": "http://evil.example"}
    assert await refused(site, await site.ticket(), headers=foreign) == 403
    own = {**ours, "Origin": site.url.rpartition("/")[0]}
    assert await refused(site, await site.ticket(), headers=own) == 101
    assert await refused(site, await site.ticket(), headers={**ours, "Host": "evil"}) == 403


# --- leave ---------------------------------------------------------------------------


def test_every_command_says_what_it_needs() -> None:
    assert set(NEEDS) == set(COMMANDS)
    harmless = {kind for kind, needs in NEEDS.items() if needs == (LOOK,)}
    assert harmless == {c.Subscribe, c.Unsubscribe, c.CloseNotebook}
    for kind in (c.SendMessage, c.Decide, c.Retry, c.OpReceipt, c.OpenNotebook, c.KernelOf):
        assert EXECUTE in NEEDS[kind] and CHANGE in NEEDS[kind]


def test_the_table_has_each_command_once_and_a_method_that_takes_it() -> None:
    assert not service.COMMANDS.keys() & connection.OF_WINDOWS.keys()
    assert set(service.COMMANDS) == set(typing.get_args(c.SessionCommand))
    for kind, row in ROWS.items():
        assert typing.get_type_hints(row.method)["command"] is kind


WAITING = [kind for kind, row in service.COMMANDS.items() if row.waits]


def test_what_waits_for_a_window_or_copies_files_keeps_no_socket_waiting() -> None:
    assert {c.Branch, c.UndoTurn, c.RedoTurn, c.KeepFiles} <= set(WAITING)


@pytest.mark.parametrize("kind", WAITING)
async def test_a_command_that_waits_keeps_no_other_waiting(
    site: Site, monkeypatch: pytest.MonkeyPatch, kind: type[Any]
) -> None:
    w, ended = await site.window(), asyncio.Event()

    async def waits(self: Any, command: Any, caller: Any) -> None:
        await ended.wait()

    row = service.COMMANDS[kind]._replace(method=waits)
    monkeypatch.setitem(service.COMMANDS, kind, row)
    slow = asyncio.ensure_future(w.send(example(kind, "0" * 32)))
    await asyncio.sleep(0)  # The socket has it.
    assert (await w.send(c.TakeLease("a.ipynb"))).error is None
    assert not slow.done()
    ended.set()
    await asyncio.wait({slow})


class Denying(Authorizer):
    """Allows all but what a test has put here."""

    denied: tuple[tuple[str, str], ...] = ()

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return (action, resource) not in self.denied


@pytest.fixture
def server_config() -> dict[str, Any]:
    return {"authorizer_class": Denying}


def example(kind: type[Any], session_id: str) -> c.Command:
    """Any command of a kind, its required fields filled in."""
    values: dict[Any, Any] = {
        int: 1,
        str: "x",
        bool: False,
        dict[str, int]: {},
        dict[str, str]: {},
        Receipt: {"status": "done"},
    }
    given: dict[str, Any] = {"type": kind.__struct_config__.tag, "id": 7}
    hints = typing.get_type_hints(kind)
    for field in msgspec.structs.fields(kind):
        if field.name == "session_id":
            given[field.name] = session_id
        elif field.name == "notebook":
            given[field.name] = "a.ipynb"
        elif field.required:
            hint = hints[field.name]
            literal = typing.get_origin(hint) is typing.Literal
            given[field.name] = typing.get_args(hint)[0] if literal else values.get(hint, [])
    command: c.Command = msgspec.convert(given, c.Command)
    return command


@pytest.mark.parametrize("denied", [EXECUTE, CHANGE, LOOK], ids=" ".join)
async def test_a_command_without_permission_does_nothing(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch, denied: tuple[str, str]
) -> None:
    api.play(in_order([answer(run_cell("21 * 2"))]))
    kernel_id = await site.kernel()
    w = await site.window(kernel_id=kernel_id)
    await w.ask("Go")
    await w.draft()
    watch = await site.watch(kernel_id)
    cells = w.cells
    manager = site.extension.manager
    epoch, seq = (
        manager.notebooks.at("a.ipynb").epoch,
        manager.session(w.session_id).event_log.last_seq,
    )
    monkeypatch.setattr(Denying, "denied", (denied,))

    for kind in COMMANDS:
        if denied in NEEDS[kind]:
            reply = await w.send(example(kind, w.session_id))
            assert reply.error == "forbidden", kind
            assert reply.message == NOT_ALLOWED[denied]

    assert manager.notebooks.at("a.ipynb").epoch == epoch
    assert manager.session(w.session_id).event_log.last_seq == seq
    assert w.cells == cells
    assert len(site.extension.workbench.store.list()) == 1
    assert await watch.reached() == []
    monkeypatch.setattr(Denying, "denied", ())
    assert (await w.send(c.Cancel(w.session_id))).error is None
    assert (await w.ended()).stop_reason == "cancelled"


async def test_an_answer_is_bounded_and_without_keys(site: Site, api: FakeAnthropic) -> None:
    """As a message is."""
    asks = answer(call("ask_user", {"question": "Which?"}))
    api.play(in_order([asks, answer(text("All right."))]))
    w = await site.window()
    await w.ask("Go")
    asked = await w.event(e.QuestionAsked)
    long = await w.send(c.Answer(w.session_id, asked.call_id, "x" * (MAX_MESSAGE + 1)))
    assert long.error == "too_long"
    assert (await w.send(c.Answer(w.session_id, asked.call_id, f"It is {KEY}."))).error is None
    await w.ended()
    assert w.of(e.QuestionAnswered)[0].answer == f"It is {REMOVED}."
    assert KEY not in str([request.body for request in api.requests])


async def test_who_may_not_read_gets_no_socket(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    ticket = await site.ticket()
    monkeypatch.setattr(Denying, "denied", (LOOK,))
    assert await refused(site, ticket) == 403


async def test_a_window_that_has_gone_while_it_was_asked_for_does_nothing(site: Site) -> None:
    manager = site.extension.manager
    asked, answered = asyncio.Event(), asyncio.Event()

    async def allowed(action: str, resource: str) -> bool:
        asked.set()
        await answered.wait()
        return True

    async def nowhere(message: bytes) -> None:
        raise AssertionError("there is nobody to write to")

    send_queue = SendQueue(nowhere, print)
    client = connection.ClientConnection(manager, send_queue, allowed)
    manager.join(client)
    command = asyncio.ensure_future(client.receive(msgspec.json.encode(c.OpenNotebook("a.ipynb"))))
    await asked.wait()
    manager.leave(client)
    answered.set()
    await command
    assert manager.notebooks.opened("a.ipynb") is None, "it would hold the lease for ever"
    send_queue.close()


# --- what is no command --------------------------------------------------------------

BAD_FRAMES = {
    "no JSON": "Hello!",
    "cut": '{"type": "cancel", "session_',
    "empty": "",
    "a list": "[]",
    "a number": "7",
    "no type": "{}",
    "unknown type": '{"type": "sudo", "id": 3}',
    "a server's frame": '{"type": "event", "session_id": "x", "seq": 1, "event": {}, "id": 3}',
    "missing field": '{"type": "cancel", "id": 3}',
    "wrong type": '{"type": "cancel", "session_id": 5, "id": 3}',
    "wrong literal": '{"type": "set_mode", "session_id": "x", "mode": "root", "id": 3}',
    "id of a wrong type": '{"type": "cancel", "session_id": "x", "id": "3"}',
    "huge id": '{"type": "cancel", "session_id": "x", "id": 1' + "0" * 400 + "}",
    "half a surrogate": '{"type": "cancel", "session_id": "\\ud800", "id": 3}',
    "deep": '{"type": "cancel", "x": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "deep in a field": '{"type": "receipt", "notebook": "a", "epoch": 1, "session_id": "x", '
    '"seq": 1, "id": 3, "receipt": {"status": "done", "before": {"a": '
    + "[" * 50_000
    + "]" * 50_000
    + "}}}",
}


async def test_frames_that_are_no_commands_are_answered(site: Site) -> None:
    w = await site.window()
    for name, frame in BAD_FRAMES.items():
        seen = len(w.frames)
        await w.socket.write_message(frame)
        await w.until(partial(_more, w.frames, seen))
        reply = w.frames[-1]
        assert isinstance(reply, c.Reply) and reply.error == "malformed", name
        assert reply.id == (
            3 if '"id": 3' in frame and not name.startswith(("deep", "half")) else 0
        )
    await w.socket.write_message(b"\xff\xfe\x00", binary=True)
    await w.until(lambda: isinstance(w.frames[-1], c.Reply) and w.frames[-1] is not reply)
    assert w.frames[-1].error == "malformed"  # type: ignore[union-attr]
    assert (await w.send(c.TakeLease("a.ipynb"))).error is None, "the socket lives on"


async def test_a_binary_frame_is_read_like_any_other(site: Site) -> None:
    w = await site.window()
    command = c.Cancel("0" * 32, id=99)
    await w.socket.write_message(msgspec.json.encode(command), binary=True)
    await w.until(lambda: isinstance(w.frames[-1], c.Reply) and w.frames[-1].id == 99)
    assert w.frames[-1].error == "unknown_session"  # type: ignore[union-attr]


async def test_commands_that_are_too_large(site: Site) -> None:
    w = await site.window()
    long = await w.send(c.SendMessage("x" * (MAX_MESSAGE + 1), "a.ipynb"))
    assert long.error == "too_long"
    huge = await w.send(c.SendMessage("x" * (connection.MAX_COMMAND + 1), "a.ipynb"))
    assert huge.error == "too_large"
    assert (await w.send(c.SendMessage(" \n", "a.ipynb"))).error == "empty_message"
    assert (await w.send(c.SendMessage("Hello", ""))).error == "no_notebook"
    about = c.SendMessage("Hello", "a.ipynb", about="a cell that is gone")
    assert (await w.send(about)).error == "no_longer_waits"
    assert site.extension.workbench.store.list() == []
    # What is larger than any snapshot may be closes the socket; a new one works.
    with suppress(WebSocketClosedError):
        await w.socket.write_message("x" * (MAX_SNAPSHOT + 1))
    await asyncio.wait_for(w.closed.wait(), 30)
    assert (await (await site.window()).send(c.TakeLease("a.ipynb"))).error is None


async def test_commands_for_unknown_sessions(site: Site) -> None:
    w = await site.window()
    for kind in COMMANDS:
        if "session_id" in kind.__struct_fields__ and kind not in (c.Unsubscribe, c.OpReceipt):
            for session_id in ("0" * 32, "../../etc", "'; DROP TABLE sessions; --"):
                assert (await w.send(example(kind, session_id))).error == "unknown_session", kind


async def test_the_session_lives_on_through_all_of_it(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(run_cell("21 * 2")), answer(text("It is 42."))]))
    kernel_id = await site.kernel()
    w = await site.window(kernel_id=kernel_id)
    await w.ask("Go")
    draft = await w.draft()
    for frame in BAD_FRAMES.values():
        await w.socket.write_message(frame)
    assert (await w.ask("Me too")).result["did"] == "queue"
    assert (await w.send(c.TakeBack(w.session_id, 1))).error is None
    assert (await w.send(c.TakeBack(w.session_id, 1))).error == "not_queued"
    # Numbers that no journal has.
    for number in (-1, -(2**63), 2**63 - 1, 10**9):
        assert (await w.send(c.Subscribe(w.session_id, number))).error is None
    await w.socket.write_message(
        f'{{"type": "subscribe", "session_id": "{w.session_id}", "after": {10**400}}}'
    )
    await w.send(c.Subscribe(w.session_id, w.events[-1][0]))
    assert (await w.decide(draft)).error is None
    assert (await w.ended()).stop_reason == "end_turn"


def _more(frames: list[c.ServerFrame], seen: int) -> bool:
    return len(frames) > seen
