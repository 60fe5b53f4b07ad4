"""MCP servers where something ends, is slow, or meets something else."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_codeinterp.app.workbench import Workbench
from jupyter_codeinterp.base.errors import CommandError, ToolServerError
from jupyter_codeinterp.extensions import Features
from jupyter_codeinterp.features.mcp_client.entries import NEUTRAL, entries_for, secrets_of
from jupyter_codeinterp.features.mcp_client.live import Live
from jupyter_codeinterp.features.mcp_client.servers import Approval
from tests.http_tool_server import HttpToolServer
from tests.kernels import until
from tests.test_tool_servers import Place, approved, entry, is_alive, named, opened, said
from tests.test_tool_servers import place as place  # a fixture


@pytest.fixture
def web(place: Place, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[HttpToolServer]:
    async def begun() -> HttpToolServer:
        return HttpToolServer()

    server = jp_asyncio_loop.run_until_complete(begun())
    place.name(one={"url": server.url})
    yield server
    server.stop()


# --- the folder of a program ---------------------------------------------------------


async def test_no_module_beside_the_notebook_becomes_a_server(place: Place) -> None:
    """``python -m`` looks in its folder first, where a sandboxed kernel may write."""
    for folder in (place.root / "work", place.root):
        (folder / "json").mkdir()
        (folder / "json" / "__init__.py").write_text(f"open({str(place.log)!r}, 'w').close()")
    program = entry()["args"][0]
    code = f"import sys, runpy; sys.argv = ['x']; runpy.run_path({program!r}, run_name='__main__')"
    place.name(one={"command": entry()["command"], "args": ["-c", code]})
    servers = place.servers()
    await approved(servers)
    assert not place.log.exists(), "the notebook's folder gave it a module"
    [shown], _ = await servers.shown()
    assert f"Folder: {NEUTRAL} (the entry names no “cwd”)" in shown.lines


@pytest.mark.parametrize("given", ["root/work", "whole"])
async def test_an_entry_names_its_folder_itself(
    place: Place, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: place.root.parent)
    work = place.root / "work"
    (work / "here").write_text("")
    code = "import os, sys; sys.exit(' '.join(sorted(os.listdir())))"
    cwd = given if given != "whole" else str(work)
    place.name(one={"command": entry()["command"], "args": ["-c", code], "cwd": cwd})
    servers = place.servers()
    [shown], _ = await servers.shown()
    [line] = [line for line in shown.lines if line.startswith("Folder: ")]
    assert line.startswith(f"Folder: {work}. Files that a notebook's code writes there")
    with pytest.raises(CommandError, match="It said: here"):
        await approved(servers)


# --- addresses that restart ----------------------------------------------------------


LOST = [
    "",
    json.dumps(
        {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}}
    ),
]


@pytest.mark.parametrize("body", LOST)
async def test_an_address_that_restarts_is_connected_anew(
    place: Place, web: HttpToolServer, body: str
) -> None:
    web.lost = body
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    for number in range(3):
        web.restart()
        assert await tools.pinned(named(tools, "echo")) == named(tools, "echo").pinned
        assert said(await tools.call(named(tools, "echo"), {"text": str(number)})) == str(number)
    assert web.begun == 4


async def test_a_restart_right_before_a_call_repeats_no_call(
    place: Place, web: HttpToolServer
) -> None:
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    web.restart()
    with pytest.raises(ToolServerError, match="ended during this") as caught:
        await tools.call(named(tools, "echo"), {"text": "a"})
    assert caught.value.code == "ended" and web.calls == 0
    assert said(await tools.call(named(tools, "echo"), {"text": "b"})) == "b"


async def test_an_answer_of_too_many_parts_is_not_read(place: Place, web: HttpToolServer) -> None:
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    with pytest.raises(ToolServerError, match=r"ended during this.* It sent too much"):
        await tools.call(named(tools, "echo"), {"text": "many"})
    assert said(await tools.call(named(tools, "echo"), {"text": "b"})) == "b"


async def test_a_person_starts_again_what_does_not_say_that_it_restarted(
    place: Place, web: HttpToolServer
) -> None:
    """The protocol asks for 404. Some servers answer an unknown session with 400."""
    web.status = HTTPStatus.BAD_REQUEST
    servers = place.servers()
    digest = await approved(servers)
    tools = await opened(servers)
    web.restart()
    with pytest.raises(ToolServerError):
        await tools.pinned(named(tools, "echo"))
    [shown], _ = await servers.shown()
    assert shown.state == "failed"
    await servers.approve(digest)
    assert said(await tools.call(named(tools, "echo"), {"text": "back"})) == "back"


# --- secrets -------------------------------------------------------------------------

KEY = "zq81-kLm02-Qrs93-9983"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"url": "http://a", "headers": {"Accept": "application/json"}}, []),
        ({"url": "http://a", "headers": {"X-Project": "quarterly-report"}}, []),
        ({"url": "http://a", "headers": {"Authorization": f"Bearer {KEY}"}}, [KEY]),
        ({"url": "http://a", "headers": {"X-Api-Key": KEY}}, [KEY]),
        ({"url": "http://a", "headers": {"Cookie": f"sid={KEY}"}}, [f"sid={KEY}"]),
        ({"url": "http://a", "headers": {"X-Any": "Bearer ${A_KEY}"}}, ["of-the-variable"]),
        ({"command": "x", "env": {"DATA": "/srv/data/files", "MODE": "fast-and-good"}}, []),
        ({"command": "x", "env": {"A": "/srv/${A_KEY}/data"}}, ["of-the-variable"]),
        ({"command": "x", "env": {"API_TOKEN": KEY}}, [KEY]),
    ],
)
def test_which_values_of_an_entry_are_secrets(given: Any, kept: list[str]) -> None:
    [one], _ = entries_for(Path("/nowhere"), {"one": given}, files=False)
    found = secrets_of(one, {"A_KEY": "of-the-variable"})
    assert set(kept) <= set(found) and all(any(k in f for k in kept) for f in found), found


# --- names ---------------------------------------------------------------------------


async def test_tools_of_two_servers_never_share_a_name(place: Place) -> None:
    """“a b” and “a_b” are the same in a model's name for a tool."""
    first, second = place.root.parent / "first", place.root.parent / "second"
    place.name(**{"a b": entry(f"log={first}"), "a_b": entry(f"log={second}")})
    servers = place.servers()
    for name in ("a b", "a_b"):
        await approved(servers, name)
    tools = await opened(servers)
    names = [tool.name for tool in tools.tools]
    assert len(names) == 14 == len(set(names))
    for tool in tools.tools:
        if tool.tool == "echo":
            await tools.call(tool, {"text": tool.server})
    assert [
        sum(line.startswith("call") for line in log.read_text().split("\n"))
        for log in (first, second)
    ] == [1, 1]


async def test_servers_with_underscores_never_share_a_name(place: Place) -> None:
    place.name(**{"a": entry("names=b__c,d"), "a__b": entry("names=c")})
    servers = place.servers()
    for name in ("a", "a__b"):
        await approved(servers, name)
    tools = (await opened(servers)).tools
    assert len({tool.name for tool in tools}) == 3 and "mcp__a__d" in {tool.name for tool in tools}


# --- ends ----------------------------------------------------------------------------


async def starting(place: Place, servers: Any) -> tuple[str, int, asyncio.Future[Any]]:
    """A server that never answers, in its start: its id, its process, and the first turn."""
    [shown], _ = await servers.shown()
    servers.approvals.set(shown.id, Approval(True))
    turn = asyncio.ensure_future(servers.tools())
    await until(lambda: place.logged)
    return shown.id, int(place.logged[0].split()[1]), turn


@pytest.mark.parametrize("how", ["off", "close"])
async def test_an_end_waits_for_no_start(place: Place, how: str) -> None:
    place.name(one=entry("silent", f"log={place.log}"))
    servers = place.servers()
    digest, pid, turn = await starting(place, servers)
    began = time.monotonic()
    await (servers.turn_off(digest) if how == "off" else servers.close())
    assert time.monotonic() - began < 8
    assert not is_alive(pid)
    tools, words, _ = await turn
    assert tools == [] and "is not available" in words[0], "the turn goes on"


async def test_a_stop_ends_a_start_and_what_is_closed_starts_no_more(place: Place) -> None:
    place.name(one=entry("silent", f"log={place.log}"))
    [one], _ = entries_for(place.data, {}, files=True)
    live = Live(one, os.environ, str, 5.0)
    looking = asyncio.ensure_future(live.look())
    await until(lambda: place.logged)
    looking.cancel()
    done, _ = await asyncio.wait({looking}, timeout=8)
    assert done and looking.cancelled()
    assert not is_alive(int(place.logged[0].split()[1]))
    await live.close()
    begun = list(place.logged)
    with pytest.raises(ToolServerError, match="turned this server off"):
        await live.look()
    assert place.logged == begun


async def test_one_fault_at_the_end_skips_nothing(
    place: Place, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    place.name(one=entry(), two=entry("stays", f"log={place.log}"))
    servers = place.servers()
    first = await approved(servers, "one")
    await approved(servers, "two")
    live = servers.live(first)
    assert live is not None

    async def broken() -> None:
        await end()
        raise OSError("broken")

    end = live.close
    monkeypatch.setattr(live, "close", broken)
    await servers.close()
    assert not is_alive(int(place.logged[0].split()[1]))
    assert "Could not stop an MCP server" in caplog.text


async def test_a_workbench_closes_every_part(caplog: pytest.LogCaptureFixture) -> None:
    closed: list[str] = []

    def part(name: str) -> Any:
        async def close() -> None:
            closed.append(name)
            raise OSError("broken")

        return SimpleNamespace(close=close)

    names = ["verifier", "manager", "_kernels", "models", "store"]
    features = Features()
    features.closing.append(part("feature"))
    bench: Any = SimpleNamespace(features=features, **{name: part(name) for name in names})
    await Workbench.close(bench)
    assert closed == ["feature", *names] and caplog.text.count("Could not close") == len(names) + 1


# --- files ---------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["{", '{"version": 2}'])
async def test_unreadable_approvals_end_no_turn(place: Place, text: str) -> None:
    place.name(one=entry())
    servers = place.servers(servers={"two": entry()})
    await approved(servers)
    before = await opened(servers)
    (place.data / "mcp-approved.json").write_text(text)
    tools, [words], complete = await servers.tools()
    assert tools == [] and "has no tools of MCP servers: Cannot read mcp-approved" in words
    assert not complete, "the next turn looks again"
    with pytest.raises(ToolServerError, match="Cannot read mcp-approved"):
        await before.pinned(named(before, "echo"))
    (place.data / "mcp-approved.json").unlink()
    assert [tool.server for tool in (await opened(servers)).tools[:1]] == ["two"]


async def test_decisions_of_earlier_versions_hold(place: Place) -> None:
    place.name(one=entry(), two=entry())
    servers = place.servers()
    (one, two), _ = await servers.shown()
    words = {
        one.id: {"approved": True, "off": False, "picked": ["echo"], "when": 1.0},
        two.id: {"approved": True, "off": True, "picked": None, "when": 2.0},
    }
    (place.data / "mcp-approved.json").write_text(json.dumps({"version": 1, "words": words}))
    assert [one.state for one in (await servers.shown())[0]] == ["stopped", "off"]


async def test_a_file_that_a_sandboxed_kernel_could_write_is_not_read_through_a_link(
    place: Place,
) -> None:
    place.name(one=entry())
    place.file.rename(place.root / "theirs.json")
    place.file.symlink_to(place.root / "theirs.json")
    assert await place.servers().shown() == ([], [])


async def test_a_large_file_is_said(place: Place) -> None:
    place.file.write_text("{" + " " * 70_000)
    _, [words] = await place.servers().shown()
    assert words == "mcp-servers.json: not read: it is larger than 64 kB."
