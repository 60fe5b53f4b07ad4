"""MCP servers as programs and addresses: approval by content, limits, and their ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS

from jupyter_codeinterp.app.workbench import Workbench
from jupyter_codeinterp.base.errors import CommandError, ToolServerError
from jupyter_codeinterp.extensions import Features
from jupyter_codeinterp.features.mcp_client import server as server_module
from jupyter_codeinterp.features.mcp_client.entries import entries_for, secrets_of
from jupyter_codeinterp.features.mcp_client.helper import INHERITED
from jupyter_codeinterp.features.mcp_client.server import OutsideTool
from jupyter_codeinterp.features.mcp_client.servers import ToolServers
from jupyter_codeinterp.view.redaction.secrets import Secrets
from tests.http_tool_server import HttpToolServer
from tests.kernels import until

PROGRAM = Path(__file__).with_name("tool_server.py")


def entry(*how: str, **more: Any) -> dict[str, Any]:
    return {"command": sys.executable, "args": [str(PROGRAM), *how], **more}


class Place:
    """A notebook's folder, and the data folder with the person's file."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "root"
        self.data = folder / "data"
        self.log = folder / "log"
        (self.root / "work").mkdir(parents=True)
        self.data.mkdir()
        self.secrets = Secrets()
        self.made: list[ToolServers] = []

    @property
    def file(self) -> Path:
        return self.data / "mcp-servers.json"

    def name(self, **servers: Any) -> None:
        self.file.write_text(json.dumps({"mcpServers": servers}))

    def servers(self, admins: Any = None, own: bool = True) -> ToolServers:
        settings: Any = SimpleNamespace(
            folder=self.data, mcp_servers=admins or {}, mcp_own_servers=own
        )
        made = ToolServers(settings, self.secrets, self.secrets.scrub)
        self.made.append(made)
        return made

    @property
    def logged(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []

    @property
    def pid(self) -> int:
        return int(self.logged[0].split()[1])


@pytest.fixture
def place(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    for made in place.made:
        jp_asyncio_loop.run_until_complete(made.close())


@pytest.fixture
def web(place: Place, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[HttpToolServer]:
    async def begun() -> HttpToolServer:
        return HttpToolServer()

    server = jp_asyncio_loop.run_until_complete(begun())
    place.name(one={"url": server.url})
    yield server
    server.stop()


async def approved(servers: ToolServers, name: str = "one") -> str:
    """Its id, after the person's approval."""
    shown, _ = await servers.shown()
    [digest] = [one.id for one in shown if one.name == name]
    await servers.decide(digest, True)
    return digest


async def opened(servers: ToolServers) -> dict[str, OutsideTool]:
    """The tools of a conversation, by the server's names."""
    tools, notes = await servers.tools()
    assert notes == []
    return {tool.tool: tool for tool in tools.values()}


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


# --- approval ------------------------------------------------------------------------


async def test_nothing_starts_before_the_person_approves(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    tools, [words] = await servers.tools()
    assert tools == {} and "waits for your approval" in words
    [shown], _ = await servers.shown()
    assert shown.state == "asks"
    assert f"Argument 2: log={place.log}" in shown.lines and place.logged == []
    await servers.decide(shown.id, True)
    assert (await servers.shown())[0][0].state == "approved"
    later = await opened(servers)
    assert [tool.name for tool in later.values()][:2] == ["mcp__one__echo", "mcp__one__hang"]
    assert (await servers.call(later["echo"], {"text": "hi"})).text == "hi"
    assert len([line for line in place.logged if line.startswith("start")]) == 1


async def test_a_file_in_the_notebooks_folder_names_no_server(place: Place) -> None:
    (place.root / "work" / ".codeinterp").mkdir()
    text = json.dumps({"mcpServers": {"one": entry(f"log={place.log}")}})
    for name in ("mcp.json", "mcp-servers.json"):
        (place.root / "work" / ".codeinterp" / name).write_text(text)
    servers = place.servers()
    assert await servers.shown() == ([], []) and await servers.tools() == ({}, [])
    assert place.logged == []


async def test_a_changed_entry_asks_again(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    first = await approved(servers)
    for changed in (
        entry(f"log={place.log}", "more"),
        entry(f"log={place.log}", env={"A": "b"}),
        {**entry(f"log={place.log}"), "unknown": 1},
    ):
        place.name(one=changed)
        [shown], _ = await servers.shown()
        assert shown.state == "asks" and shown.id != first
        with pytest.raises(CommandError) as caught:
            await servers.decide(first, True)
        assert caught.value.code == "unknown_server", "what was seen is what is approved"
    place.name(one=entry(f"log={place.log}"))
    assert (await servers.shown())[0][0].state == "approved"
    [known], _ = await place.servers().shown()
    assert known.state == "approved", "the next server knows it, too"


async def test_the_admins_start_at_once_and_can_be_the_only_ones(place: Place) -> None:
    place.name(one=entry("other"), two=entry())
    servers = place.servers({"one": entry(f"log={place.log}")})
    assert [one.name for one in (await servers.shown())[0]] == ["two"]
    tools, _ = await servers.tools()
    assert len(tools) == 7 and place.logged
    alone = place.servers({"one": entry()}, own=False)
    assert await alone.shown() == ([], []) and len(await opened(alone)) == 7


async def test_a_withdrawn_approval_ends_it_and_its_tools(place: Place) -> None:
    """And nothing is a secret any more that only its entry had."""
    key = "zq81-kLm02-Qrs93-9983"
    place.name(one=entry(f"log={place.log}", env={"API_TOKEN": key}))
    servers = place.servers()
    digest = await approved(servers)
    tools = await opened(servers)
    assert key not in place.secrets.scrub(f"It is {key}.")
    await servers.decide(digest, False)
    await until(lambda: not is_alive(place.pid))
    assert place.secrets.scrub(f"It is {key}.") == f"It is {key}."
    with pytest.raises(ToolServerError, match="turned off"):
        await servers.call(tools["echo"], {})
    assert (await servers.tools())[0] == {}
    await servers.decide(digest, True)
    assert len(await opened(servers)) == 7


async def test_a_withdrawn_server_starts_for_no_call_that_waits(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    digest = await approved(servers)
    tools = await opened(servers)
    hangs = asyncio.ensure_future(servers.call(tools["hang"], {}))
    await until(lambda: any(line.startswith("call hang") for line in place.logged))
    waits = asyncio.ensure_future(servers.call(tools["echo"], {}))
    await asyncio.sleep(0)
    await servers.decide(digest, False)
    results = await asyncio.gather(hangs, waits, return_exceptions=True)
    assert [getattr(one, "code", one) for one in results] == ["ended", "not_started"]
    assert sum(line.startswith("start") for line in place.logged) == 1


@pytest.mark.parametrize("steps", [1, 2, 5])
async def test_a_server_closed_while_it_starts_does_not_start(place: Place, steps: int) -> None:
    place.name(one=entry(f"log={place.log}"))
    [one], _ = entries_for(place.data, {})
    server = server_module.Server(one, str)
    looks = asyncio.ensure_future(server.list_tools())
    for _ in range(steps):
        await asyncio.sleep(0)
    await server.close()
    with pytest.raises(ToolServerError, match="turned off"):
        await looks
    assert place.logged == []


async def test_another_jupyter_server_withdraws_the_approval(place: Place) -> None:
    place.name(one=entry())
    servers = place.servers()
    digest = await approved(servers)
    tools = await opened(servers)
    await place.servers().decide(digest, False)
    with pytest.raises(ToolServerError, match="turned off"):
        await servers.call(tools["echo"], {})


@pytest.mark.parametrize("text", ["{", '{"version": 2}'])
async def test_unreadable_approvals_end_no_turn(place: Place, text: str) -> None:
    place.name(one=entry())
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    (place.data / "mcp-approved.json").write_text(text)
    found, [words] = await servers.tools()
    assert found == {} and words.startswith("Cannot read mcp-approved")
    with pytest.raises(ToolServerError, match="Cannot read mcp-approved"):
        await servers.call(tools["echo"], {})


async def test_decisions_of_earlier_versions_hold(place: Place) -> None:
    place.name(one=entry(), two=entry())
    servers = place.servers()
    (one, two), _ = await servers.shown()
    words = {
        one.id: {"approved": True, "off": False, "picked": ["echo"], "when": 1.0},
        two.id: {"approved": True, "off": True, "picked": None, "when": 2.0},
    }
    (place.data / "mcp-approved.json").write_text(json.dumps({"version": 1, "words": words}))
    assert [one.state for one in (await servers.shown())[0]] == ["approved", "asks"]


# --- the file, and secrets -----------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"command": "x", "env": {"A": "${NOT_THERE_AT_ALL}"}}, "no variable NOT_THERE_AT_ALL"),
        ({"command": "", "args": []}, "neither a command nor an address"),
        ({"url": "http://127.0.0.1:1", "env": {"A": "b"}}, "no command, arguments or variables"),
        ({"url": "http://127.0.0.1:1", "command": "run"}, "no command, arguments or variables"),
        ({"command": "run", "headers": {"A": "b"}}, "no headers"),
        ({"command": 3}, "its entry is wrong"),
        ({"command": "x", "args": "y"}, "its entry is wrong"),
    ],
)
async def test_wrong_entries_are_refused_in_words(place: Place, given: Any, words: str) -> None:
    place.name(one=given)
    servers = place.servers()
    [shown], _ = await servers.shown()
    assert shown.state == "refused" and words in shown.why
    with pytest.raises(CommandError, match="cannot be used"):
        await servers.decide(shown.id, True)
    assert words in (await servers.tools())[1][0]


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}', "[" * 20_000])
async def test_a_broken_file_is_said(place: Place, text: str) -> None:
    place.file.write_text(text)
    shown, [fault] = await place.servers().shown()
    assert shown == [] and fault.startswith("mcp-servers.json: not the expected JSON")


async def test_a_large_file_is_said(place: Place) -> None:
    place.file.write_text("{" + " " * 70_000)
    _, [words] = await place.servers().shown()
    assert words == "mcp-servers.json: not read: it is larger than 64 kB."


async def test_a_file_that_a_sandboxed_kernel_could_write_is_not_read_through_a_link(
    place: Place,
) -> None:
    place.name(one=entry())
    place.file.rename(place.root / "theirs.json")
    place.file.symlink_to(place.root / "theirs.json")
    assert await place.servers().shown() == ([], [])


async def test_the_program_gets_a_small_environment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-for-it-0123456789")
    monkeypatch.setenv("ALLOWED_KEY", "allowed-secret-0123456789")
    place.name(one=entry(env={"MINE": "${ALLOWED_KEY}", "MODE": "fast"}))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    text = (await servers.call(tools["env"], {})).text
    given = json.loads(text)
    assert given["MINE"] == "allowed-secret-0123456789" and given["MODE"] == "fast"
    allowed = {*DEFAULT_INHERITED_ENV_VARS, *INHERITED, "MINE", "MODE", "LC_CTYPE"}
    assert set(given) <= allowed
    [shown], _ = await servers.shown()
    assert "Variable MINE: ${ALLOWED_KEY}" in shown.lines
    assert "0123456789" not in str(shown), "no value of the environment is shown"
    assert "allowed-secret" not in place.secrets.scrub(text), "results are without it"


KEY = "hf_" + "a1B2" * 9
BLANKS = "\x7f\u2800\u3164\uffa0\u00a0\u200b\u202e\u0301\ufe0f"
EXACTLY = [
    ("-c", "-c"),
    ("données=été 漢字", "données=été 漢字"),
    ("a b", "a b"),
    ("a  b", '"a \\u0020b"'),
    (" a", '" a"'),
    ("", '""'),
    ('"a"', '"\\"a\\""'),
    ("a\\nb", '"a\\\\nb"'),
    ("import os\nos.system('x')", "\"import os\\nos.system('x')\""),
    ("a" + BLANKS, '"a\\u007f\\u2800\\u3164\\uffa0\\u00a0\\u200b\\u202e\\u0301\\ufe0f"'),
    (f"-----BEGIN PRIVATE KEY-----{KEY}", f"-----BEGIN PRIVATE KEY-----{KEY}"),
    ("password=Zx81-kLm02-Qrs93-9983", "password=Zx81-kLm02-Qrs93-9983"),
    (KEY, KEY),
]


async def test_an_entry_is_shown_exactly_as_it_runs(place: Place) -> None:
    texts = [text for text, _ in EXACTLY]
    env = {f"N{number}_TOKEN": text for number, text in enumerate(texts)}
    here = {"command": "run\u2800it", "args": texts, "env": env}
    there = {"url": "https://a.b/\u200b", "headers": {"Authorization": f"Bearer {KEY}"}}
    place.name(one=here, two=there)
    place.secrets.add(KEY)
    (one, two), _ = await place.servers().shown()
    assert one.lines[0] == 'Command: "run\\u2800it"'
    for number, (text, shown) in enumerate(EXACTLY):
        assert one.lines[1 + number] == f"Argument {number + 1}: {shown}"
        assert f"Variable N{number}_TOKEN: {shown}" in one.lines
        assert json.loads(shown) == text if shown.startswith('"') else shown == text
    assert two.lines == ('Address: "https://a.b/\\u200b"', f"Header Authorization: Bearer {KEY}")


SECRET = "zq81-kLm02-Qrs93-9983"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"url": "http://a", "headers": {"Accept": "application/json"}}, []),
        ({"url": "http://a", "headers": {"X-Project": "quarterly-report"}}, []),
        ({"url": "http://a", "headers": {"Authorization": f"Bearer {SECRET}"}}, [SECRET]),
        ({"url": "http://a", "headers": {"X-Api-Key": SECRET}}, [SECRET]),
        ({"url": "http://a", "headers": {"Cookie": f"sid={SECRET}"}}, [f"sid={SECRET}"]),
        ({"url": "http://a", "headers": {"X-Any": "Bearer ${A_KEY}"}}, ["of-the-variable"]),
        ({"command": "x", "env": {"DATA": "/srv/data/files", "MODE": "fast-and-good"}}, []),
        ({"command": "x", "env": {"A": "/srv/${A_KEY}/data"}}, ["of-the-variable"]),
        ({"command": "x", "env": {"API_TOKEN": SECRET}}, [SECRET]),
    ],
)
def test_which_values_of_an_entry_are_secrets(
    given: Any, kept: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", "of-the-variable")
    [one], _ = entries_for(None, {"one": given})
    found = secrets_of(one)
    assert set(kept) <= set(found) and all(any(k in f for k in kept) for f in found), found


# --- tools ---------------------------------------------------------------------------


async def test_128_tools_are_bounded(place: Place) -> None:
    place.name(one=entry("many"))
    servers = place.servers()
    await approved(servers)
    tools, [words] = await servers.tools()
    assert len(tools) == 64
    assert "64 tools of the MCP server “one”, such as “tool_064”" in words


async def test_the_models_api_gets_only_what_it_takes(place: Place) -> None:
    place.name(one=entry("lies"))
    servers = place.servers()
    await approved(servers)
    tools, [words] = await servers.tools()
    assert "1 tools of the MCP server “one”, such as “big”: its schema has more than" in words
    found = {tool.tool: tool for tool in tools.values()}
    plain = {"type": "object", "properties": {"a": {}}}
    assert found["remote"].parameters == found["kind"].parameters == plain
    assert found["odd"].parameters == {"type": "object", "properties": {}}
    assert '"$ref":"http://x/y"' in found["remote"].told
    assert len(tools) == 6, "two have the same name at the server"


@pytest.mark.parametrize(
    ("given", "parameters"),
    [
        ("object", {}),
        ({"properties": []}, {}),
        ({"properties": {"a\n": {}, "b": 3}}, {"b": {}}),
        ({"properties": {"a": {"type": ["string"], "$ref": "x"}}}, {"a": {}}),
        ({"properties": {"a": {"type": "string", "pattern": "("}}}, {"a": {"type": "string"}}),
    ],
)
def test_of_a_schema_names_and_simple_types_stay(given: Any, parameters: Any) -> None:
    plain = {"type": "object", "properties": parameters}
    assert OutsideTool("", "", "", "", json.dumps(given)).parameters == plain


async def test_a_changed_description_is_not_called(place: Place) -> None:
    place.name(one=entry("changes", f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    with pytest.raises(ToolServerError, match="changed or removed this tool"):
        await servers.call(tools["echo"], {"text": "a"})
    assert not any(line.startswith("call") for line in place.logged)


@pytest.mark.parametrize("names", [("a b", "a_b"), ("a", "a__b")])
async def test_tools_of_two_servers_never_share_a_name(
    place: Place, names: tuple[str, str]
) -> None:
    one, two = names
    place.name(**{one: entry("names=b__c,d"), two: entry("names=c,b__c,d")})
    servers = place.servers()
    for name in names:
        await approved(servers, name)
    tools, _ = await servers.tools()
    assert len(tools) == 5
    for tool in tools.values():
        assert (await servers.call(tool, {"text": tool.server})).text == tool.server


# --- faults --------------------------------------------------------------------------


async def test_after_its_end_the_next_call_starts_it_again(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    for _ in range(2):
        with pytest.raises(ToolServerError, match="ended during this") as caught:
            await servers.call(tools["die"], {})
        assert caught.value.code == "ended"
        assert (await servers.call(tools["echo"], {"text": "again"})).text == "again"
    assert sum(line.startswith("call die") for line in place.logged) == 2, "no call is repeated"


async def test_a_call_that_hangs_ends_in_time(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "CALLS_WITHIN", 0.5)
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    with pytest.raises(ToolServerError, match="did not answer within") as caught:
        await servers.call(tools["hang"], {})
    assert caught.value.code == "too_slow"
    assert (await servers.call(tools["echo"], {"text": "on"})).text == "on"


async def test_stop_ends_the_server_at_once(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    call = asyncio.ensure_future(servers.call(tools["hang"], {}))
    await until(lambda: any(line.startswith("call hang") for line in place.logged))
    began = time.monotonic()
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled() and time.monotonic() - began < 1
    await until(lambda: not is_alive(place.pid))


@pytest.mark.parametrize("how", ["parts", "values"])
async def test_an_answer_of_many_parts_stops_no_other_work(place: Place, how: str) -> None:
    place.name(one=entry(how))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    call = asyncio.ensure_future(servers.call(tools["echo"], {"text": "x"}))
    longest = 0.0
    while not call.done():
        began = time.monotonic()
        await asyncio.sleep(0.01)
        longest = max(longest, time.monotonic() - began)
    assert longest < 1.0
    assert len(call.result().text) <= 300_000


@pytest.mark.parametrize("name", ["flood", "long"])
async def test_a_flood_ends_with_the_call(
    place: Place, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "CALLS_WITHIN", 1.0)
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    with pytest.raises(ToolServerError):
        await servers.call(tools[name], {})
    await until(lambda: not is_alive(place.pid))


async def test_what_a_program_prints_is_in_no_log(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.name(one=entry("says={sk-not-for-logs}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    assert (await servers.call(tools["echo"], {"text": "on"})).text == "on"
    assert "not-for-logs" not in caplog.text


async def test_a_server_that_cannot_start_says_why(place: Place) -> None:
    place.name(one=entry("no_start"), two={"command": "no-such-program-here"})
    servers = place.servers()
    await approved(servers)
    await approved(servers, "two")
    tools, [one, two] = await servers.tools()
    assert tools == {} and "is not available" in one and "It said: Not today" in one
    assert "no-such-program-here" in two


@pytest.mark.parametrize("how", ["cancelled", "withdrawn", "too slow"])
async def test_a_silent_server_holds_up_a_turn_for_a_bounded_time(
    place: Place, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "too slow":
        monkeypatch.setattr(server_module, "STARTS_WITHIN", 12.0)
    place.name(one=entry("silent", f"log={place.log}"))
    servers = place.servers()
    digest = await approved(servers)
    turn = asyncio.ensure_future(servers.tools())
    await until(lambda: place.logged)
    if how == "cancelled":
        turn.cancel()
    elif how == "withdrawn":
        await servers.decide(digest, False)
    await asyncio.wait({turn}, timeout=20)
    assert turn.cancelled() if how == "cancelled" else "is not available" in turn.result()[1][0]
    await until(lambda: not is_alive(place.pid))


@pytest.mark.parametrize("how", ["garbled", "no_object"])
async def test_a_list_that_breaks_the_protocol_is_said(place: Place, how: str) -> None:
    place.name(one=entry(how))
    servers = place.servers()
    await approved(servers)
    tools, [words] = await servers.tools()
    assert tools == {} and "is not available" in words


async def test_without_the_package_it_says_what_to_install(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "find_spec", lambda name: None)
    place.name(one=entry())
    servers = place.servers()
    await approved(servers)
    assert "pip install" in (await servers.tools())[1][0]


# --- their end -----------------------------------------------------------------------


async def test_no_module_beside_the_notebook_becomes_a_server(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``python -m`` looks in its folder first, where a sandboxed kernel may write."""
    monkeypatch.chdir(place.root)
    for folder in (place.root / "work", place.root):
        for name in ("json", "mcp"):
            (folder / name).mkdir()
            code = f"open({str(place.log)!r}, 'w').close()"
            (folder / name / "__init__.py").write_text(code)
    code = (
        f"import sys, runpy; sys.argv = ['x']; runpy.run_path({str(PROGRAM)!r}, None, '__main__')"
    )
    place.name(one={"command": sys.executable, "args": ["-c", code]})
    servers = place.servers()
    await approved(servers)
    assert len(await opened(servers)) == 7
    assert not place.log.exists(), "the notebook's folder gave it a module"


async def test_programs_end_with_the_server(place: Place) -> None:
    place.name(one=entry("stays", f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    await opened(servers)
    assert is_alive(place.pid)
    await servers.close()
    await until(lambda: not is_alive(place.pid))


PARENT = """
import asyncio, sys, time
from pathlib import Path
from tests.test_tool_servers import Place, approved, entry
async def main():
    place = Place(Path(sys.argv[1]))
    place.name(one=entry("stays", f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    await servers.tools()
    print("ready", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


async def test_programs_end_where_the_server_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", PARENT, str(tmp_path)]
    process = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert await process.stdout.readline() == b"ready\n"
    pid = int((tmp_path / "log").read_text().split()[1])
    assert is_alive(pid)
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    await until(lambda: not is_alive(pid))


def test_the_package_is_not_loaded_in_the_server() -> None:
    code = (
        "import sys; from jupyter_codeinterp.app import workbench;"
        "from jupyter_codeinterp.features.mcp_client import server, servers, tool;"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcp_types')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


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


# --- over HTTP -----------------------------------------------------------------------


async def test_an_address_that_restarts_is_connected_anew(
    place: Place, web: HttpToolServer
) -> None:
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    assert (await servers.call(tools["echo"], {"text": "a"})).text == "a"
    web.restart()
    with pytest.raises(ToolServerError):
        await servers.call(tools["echo"], {"text": "b"})
    assert web.calls == 1
    assert (await servers.call(tools["echo"], {"text": "c"})).text == "c"


async def answering(head: str, piece: bytes) -> tuple[asyncio.Server, int, list[bytes]]:
    """A web server that answers each request with ``head``, then with ``piece`` again and again."""
    asked: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            asked.append(await reader.readuntil(b"\r\n\r\n"))
            writer.write(f"HTTP/1.1 {head}\r\nConnection: close\r\n\r\n".encode())
            while piece:
                writer.write(piece)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return server, server.sockets[0].getsockname()[1], asked


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        ("200 OK\r\nContent-Type: application/json", b" " * 65_536),
        ("200 OK\r\nContent-Type: text/event-stream", b"data: x\n" * 8_192),
        ("307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/mcp", b""),
        ("500 Internal Server Error", b""),
    ],
)
async def test_a_web_server_that_misbehaves_is_given_up(
    place: Place, head: str, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "STARTS_WITHIN", 12.0)
    server, port, asked = await answering(head, piece)
    async with server:
        headers = {"Authorization": "Bearer not-for-others-0123456789"}
        place.name(one={"url": f"http://127.0.0.1:{port}/mcp", "headers": headers})
        servers = place.servers()
        await approved(servers)
        tools, [words] = await servers.tools()
        assert tools == {} and "is not available" in words
        assert "not-for-others" not in words
        assert b"not-for-others" in asked[0], "it gets the header of its entry"


def most_of_children() -> int:
    """The memory of the largest process that this one has started, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


async def test_an_address_that_sends_gigabytes_does_not_fill_the_memory(place: Place) -> None:
    before = most_of_children()
    packer = zlib.compressobj(9, wbits=31)
    begin, more = (
        packer.compress(bytes(64_000_000)) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2)
    )

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip"
            writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode())
            writer.write(begin + more * 40)
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        place.name(one={"url": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"})
        servers = place.servers()
        await approved(servers)
        tools, [words] = await servers.tools()
        await servers.close()
    assert tools == {} and "is not available" in words
    assert most_of_children() <= max(before, 2_000_000), "kilobytes"
