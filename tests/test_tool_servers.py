"""MCP servers as programs: approval by content, limits, and their ends."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import httpx2
import pytest
from mcp.client.stdio import DEFAULT_INHERITED_ENV_VARS, StdioServerParameters, stdio_client

from jupyter_codeinterp.base.errors import CommandError, ToolServerError
from jupyter_codeinterp.features.mcp_client import client as client_module
from jupyter_codeinterp.features.mcp_client import guard
from jupyter_codeinterp.features.mcp_client import live as live_module
from jupyter_codeinterp.features.mcp_client import servers as servers_module
from jupyter_codeinterp.features.mcp_client import tools as tools_module
from jupyter_codeinterp.features.mcp_client.servers import ToolServers
from jupyter_codeinterp.features.mcp_client.tools import OutsideAnswer, OutsideTool
from jupyter_codeinterp.view.redaction.secrets import Secrets
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

    def servers(self, **given: Any) -> ToolServers:
        given = {"servers": {}, "own_servers": True, "env": (), "call_timeout": 20.0, **given}
        settings: Any = SimpleNamespace(
            folder=self.data, **{f"mcp_{name}": value for name, value in given.items()}
        )
        made = ToolServers(settings, self.secrets, self.secrets.scrub)
        self.made.append(made)
        return made

    @property
    def logged(self) -> list[str]:
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def place(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Place]:
    place = Place(tmp_path)
    yield place
    for made in place.made:
        jp_asyncio_loop.run_until_complete(made.close())


async def approved(servers: ToolServers, name: str = "one") -> str:
    """Its id, after the person's approval."""
    shown, _ = await servers.shown()
    [digest] = [one.id for one in shown if one.name == name]
    await servers.approve(digest)
    return digest


class Opened(NamedTuple):
    """The tools of a conversation, and their servers."""

    tools: list[OutsideTool]
    pinned: Callable[[OutsideTool], Awaitable[str]]
    call: Callable[[OutsideTool, dict[str, Any]], Coroutine[Any, Any, OutsideAnswer]]


async def opened(servers: ToolServers) -> Opened:
    return Opened((await servers.tools())[0], servers.pinned, servers.call)


def named(tools: Opened, name: str) -> OutsideTool:
    return next(tool for tool in tools.tools if tool.tool == name)


def said(answer: OutsideAnswer) -> str:
    return answer.text


# --- approval ------------------------------------------------------------------------


async def test_nothing_starts_before_the_person_approves(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    tools, words, complete = await servers.tools()
    assert tools == [] and "waits for your approval" in words[0] and complete
    [shown], _ = await servers.shown()
    assert (shown.state, shown.place) == ("asks", "person")
    assert f"Argument 2: log={place.log}" in shown.lines and place.logged == []
    await servers.approve(shown.id)
    assert len(place.logged) == 1 and (await servers.shown())[0][0].state == "running"
    later = await opened(servers)
    assert [tool.name for tool in later.tools][:2] == ["mcp__one__echo", "mcp__one__hang"]
    assert said(await later.call(named(later, "echo"), {"text": "hi"})) == "hi"


async def test_a_file_in_the_notebooks_folder_names_no_server(place: Place) -> None:
    (place.root / "work" / ".codeinterp").mkdir()
    text = json.dumps({"mcpServers": {"one": entry(f"log={place.log}")}})
    for name in ("mcp.json", "mcp-servers.json"):
        (place.root / "work" / ".codeinterp" / name).write_text(text)
    servers = place.servers()
    assert await servers.shown() == ([], []) and await servers.tools() == ([], [], True)
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
            await servers.approve(first)
        assert caught.value.code == "unknown_server", "what was seen is what is approved"
    place.name(one=entry(f"log={place.log}"))
    assert (await servers.shown())[0][0].state == "running"
    assert place.servers().approvals.of(first).approved, "the next server knows it, too"


async def test_the_admins_start_at_once_and_can_be_the_only_ones(place: Place) -> None:
    place.name(one=entry("other"), two=entry())
    servers = place.servers(servers={"one": entry(f"log={place.log}")})
    shown, _ = await servers.shown()
    assert [(one.name, one.place) for one in shown] == [
        ("one", "admin"),
        ("two", "person"),
    ]
    assert len((await opened(servers)).tools) == 7
    alone = place.servers(servers={"one": entry()}, own_servers=False)
    assert [one.name for one in (await alone.shown())[0]] == ["one"]


async def test_off_ends_it_and_its_tools(place: Place) -> None:
    """And nothing is a secret any more that only its entry had."""
    key = "zq81-kLm02-Qrs93-9983"
    place.name(one=entry(f"log={place.log}", env={"API_TOKEN": key}))
    servers = place.servers()
    digest = await approved(servers)
    assert key not in place.secrets.scrub(f"It is {key}.")
    tools = await opened(servers)
    pid = int(place.logged[0].split()[1])
    await servers.turn_off(digest)
    assert not is_alive(pid) and place.secrets.scrub(f"It is {key}.") == f"It is {key}."
    with pytest.raises(ToolServerError, match="turned this server off"):
        await tools.call(named(tools, "echo"), {})
    assert (await opened(servers)).tools == []
    await servers.approve(digest)
    assert len((await opened(servers)).tools) == 7


# --- the file, and secrets -----------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"command": "x", "args": ["${HOME}"]}, "only values of env and headers"),
        ({"command": "x", "env": {"A": "${HOME}"}}, "asks for the variable HOME"),
        ({"command": "x", "env": {"A": "${A-b}"}}, "not the name of a variable"),
        ({"url": "file:///etc/passwd"}, "must begin with http"),
        ({"command": "", "args": []}, "neither a command nor an address"),
        ({"command": 3}, "its entry is wrong"),
        ({"command": "x", "args": "y"}, "its entry is wrong"),
        ({"command": "x\0"}, "no program accepts"),
    ],
)
async def test_wrong_entries_are_refused_in_words(place: Place, given: Any, words: str) -> None:
    place.name(one=given)
    servers = place.servers()
    [shown], _ = await servers.shown()
    assert shown.state == "refused" and words in shown.why
    with pytest.raises(CommandError, match="cannot be used"):
        await servers.approve(shown.id)


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}', "[" * 20_000])
async def test_a_broken_file_is_said(place: Place, text: str) -> None:
    place.file.write_text(text)
    shown, [fault] = await place.servers().shown()
    assert shown == [] and fault.startswith("mcp-servers.json: not the expected JSON")


async def test_the_program_gets_a_small_environment(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-not-for-it-0123456789")
    monkeypatch.setenv("ALLOWED_KEY", "allowed-secret-0123456789")
    place.name(one=entry(env={"MINE": "${ALLOWED_KEY}", "MODE": "fast"}))
    servers = place.servers(env=["ALLOWED_KEY"])
    await approved(servers)
    tools = await opened(servers)
    text = said(await tools.call(named(tools, "env"), {}))
    given = json.loads(text)
    assert given["MINE"] == "allowed-secret-0123456789" and given["MODE"] == "fast"
    assert set(given) <= {
        *DEFAULT_INHERITED_ENV_VARS,
        *client_module.INHERITED,
        "MINE",
        "MODE",
        "LC_CTYPE",
    }
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
    here = {"command": "run\u2800it", "args": texts, "env": env, "cwd": "a\nb"}
    there = {"url": "https://a.b/\u200b", "headers": {"Authorization": f"Bearer {KEY}"}}
    place.name(one=here, two=there)
    place.secrets.add(KEY)
    (one, two), _ = await place.servers().shown()
    assert one.lines[0] == 'Command: "run\\u2800it"'
    for number, (text, shown) in enumerate(EXACTLY):
        assert one.lines[1 + number] == f"Argument {number + 1}: {shown}"
        assert f"Variable N{number}_TOKEN: {shown}" in one.lines
        assert json.loads(shown) == text if shown.startswith('"') else shown == text
    assert "a\\nb" in one.lines[-1]
    assert two.lines == ('Address: "https://a.b/\\u200b"', f"Header Authorization: Bearer {KEY}")
    (one, two), _ = await place.servers(
        servers={"one": here, "two": there}, own_servers=False
    ).shown()
    assert KEY not in str((one, two)) and "Header Authorization: …" in two.lines


# --- tools ---------------------------------------------------------------------------


async def test_128_tools_are_bounded_and_the_entry_names_some(place: Place) -> None:
    place.name(one=entry("many"))
    servers = place.servers()
    await approved(servers)
    tools, words, _ = await servers.tools()
    assert len(tools) == 32 and "96 tools of MCP servers are left out" in words[0]
    [shown], _ = await servers.shown()
    assert len(shown.tools) == 128 and shown.tools[-1].why.startswith("no room: name the tools")
    place.name(one=entry("many", tools=["tool_127", "tool_000"]))
    [shown], _ = await servers.shown()
    assert shown.state == "asks" and "Only these tools: tool_127, tool_000" in shown.lines
    await approved(servers)
    tools, words, _ = await servers.tools()
    assert [tool.tool for tool in tools] == ["tool_000", "tool_127"] and words == []


async def test_lies_about_schemas_are_left_out_in_words(place: Place) -> None:
    place.name(one=entry("lies"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    assert [tool.tool for tool in tools.tools] == ["good"]
    [shown], _ = await servers.shown()
    why = {tool.name: tool.why for tool in shown.tools}
    assert why["remote"].endswith("at `$.properties[...].$ref`")
    assert "bytes, and 8,000 are allowed" in why["big"]
    assert why["odd"].endswith("at `key` in `$.properties`")
    assert "Invalid enum value 'everything'" in why["kind"]
    assert shown.tools[-1].why == "the server lists this name twice"


DEEP: dict[str, Any] = {"type": "object"}
for _ in range(200):
    DEEP = {"type": "object", "properties": {"a": DEEP}}


@pytest.mark.parametrize(
    "wrong",
    [
        "object",
        {"type": "array"},
        DEEP,
        {"type": "object", "properties": []},
        {"type": "object", "properties": {"a\n": {}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a/../b"}}},
        {"type": "object", "properties": {"a": {"enum": []}}},
        {"type": "object", "required": "a"},
        {"type": "object", "items": [3]},
        {"type": "object", "default": "\ud800"},
    ],
)
def test_a_schema_that_a_model_would_refuse_is_left_out(wrong: Any) -> None:
    with pytest.raises(tools_module.BadTool, match="its input schema "):
        tools_module.checked(wrong)


def test_of_a_schema_the_known_keywords_stay() -> None:
    whole = {
        "type": "object",
        "properties": {
            "pattern": {"type": ["string", "null"], "default": None, "not": {"const": 0}},
            "a": True,
            "b": {"anyOf": [{"$ref": "#/$defs/b"}, {"prefixItems": [{}]}], "description": "B"},
        },
        "$defs": {"b": {"type": "integer", "exclusiveMinimum": 0}},
        "required": ["a"],
        "additionalProperties": False,
    }
    more: Any = {**whole, "$schema": "https://json-schema.org/draft/2020-12/schema", "x": "y"}
    more["properties"]["pattern"]["pattern"] = "(a+)+"
    kept = tools_module.checked(more)
    del more["properties"]["pattern"]["pattern"]
    assert kept == whole


async def test_a_changed_description_has_another_digest(place: Place) -> None:
    place.name(one=entry("changes"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    echo = named(tools, "echo")
    assert await tools.pinned(echo) != echo.pinned
    assert await tools.pinned(named(tools, "hang")) == named(tools, "hang").pinned


# --- faults --------------------------------------------------------------------------


async def test_after_its_end_the_next_call_starts_it_again(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    for _ in range(3):
        with pytest.raises(ToolServerError, match="ended during this") as caught:
            await tools.call(named(tools, "die"), {})
        assert caught.value.code == "ended"
        [shown], _ = await servers.shown()
        assert shown.state == "failed" and "ended during this" in shown.why
        assert await tools.pinned(named(tools, "echo")) == named(tools, "echo").pinned
        assert (await servers.shown())[0][0].state == "running"
        assert said(await tools.call(named(tools, "echo"), {"text": "again"})) == "again"
    assert sum(line.startswith("call die") for line in place.logged) == 3, "no call is repeated"


async def test_a_call_that_hangs_ends_in_time_and_is_cancelled(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers(call_timeout=0.5)
    await approved(servers)
    tools = await opened(servers)
    with pytest.raises(ToolServerError, match="did not answer within") as caught:
        await tools.call(named(tools, "hang"), {})
    assert caught.value.code == "too_slow"
    await until(lambda: any(line.startswith("cancelled") for line in place.logged))
    assert said(await tools.call(named(tools, "echo"), {"text": "on"})) == "on"


async def test_stop_cancels_with_a_notification(place: Place) -> None:
    place.name(one=entry(f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    call = asyncio.ensure_future(tools.call(named(tools, "hang"), {}))
    await until(lambda: any(line.startswith("call hang") for line in place.logged))
    number = next(line for line in place.logged if line.startswith("call hang")).split()[-1]
    call.cancel()
    await asyncio.wait({call})
    assert call.cancelled()
    await until(lambda: f"cancelled {number}" in place.logged)


@pytest.mark.parametrize(
    ("name", "how"), [("flood", ""), ("long", ""), ("echo", "parts"), ("echo", "values")]
)
async def test_a_flood_ends_the_server(place: Place, name: str, how: str) -> None:
    place.name(one=entry(f"log={place.log}", how))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    pid = int(place.logged[0].split()[1])
    with pytest.raises(ToolServerError, match=r"sent (too much|a message of more)"):
        await tools.call(named(tools, name), {})
    await until(lambda: not is_alive(pid))


TRICKY = ['a"[{,', "\\", '\\"', "", "\n[", "é,"]
ANSWER = {"result": [{"text": text, "n": [1, 2, [], {}]} for text in TRICKY]}
EACH = {"strings": 3, "lists": 2, "objects": 2, "commas": 4}
IN_ALL = len(TRICKY) * sum(EACH.values()) + len(TRICKY) - 1 + 3


@pytest.mark.parametrize("indent", [None, 2])
def test_values_of_an_answer_are_counted(indent: int | None) -> None:
    lines = json.dumps(ANSWER, indent=indent).encode().splitlines()
    assert sum(map(guard.values, lines)) == IN_ALL


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1_000])
async def test_an_answer_in_pieces_of_any_size_is_passed_on_and_counted(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = json.dumps(ANSWER, indent=2).encode()

    class Pieces(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            for start in range(0, len(data), size):
                yield data[start : start + size]

    given_up: list[str] = []

    async def read() -> bytes:
        body = client_module._Counted(Pieces(), guard.Flow(), given_up.append)
        return b"".join([part async for part in body])

    monkeypatch.setattr(guard, "MOST_VALUES", IN_ALL)
    assert await read() == data and given_up == []
    monkeypatch.setattr(guard, "MOST_VALUES", IN_ALL - 1)
    with pytest.raises(guard.TooMuch):
        await read()
    assert given_up == ["It sent too much, so it was ended."]


async def test_what_the_package_cannot_read_is_in_no_log(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.name(one=entry("says={sk-not-for-logs}"))
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    assert said(await tools.call(named(tools, "echo"), {"text": "on"})) == "on"
    assert "not-for-logs" not in caplog.text


async def test_what_others_do_with_the_package_is_logged(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    place.name(one=entry())
    servers = place.servers()
    await approved(servers)
    other = StdioServerParameters(command=sys.executable, args=["-c", "print('{theirs}')"])
    async with stdio_client(other) as (read, _):
        assert isinstance(await read.receive(), Exception)
    assert "theirs" in caplog.text


async def test_the_children_of_a_program_end_with_it(place: Place) -> None:
    child = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(600)"
    kept = place.root / "child"
    begun = f"[sys.executable, '-c', {child!r}, {str(kept)!r}]"
    start = f"import subprocess, sys; subprocess.Popen({begun})"
    serve = f"import runpy; sys.argv = ['x']; runpy.run_path({str(PROGRAM)!r}, run_name='__main__')"
    place.name(one={"command": sys.executable, "args": ["-c", f"{start}; {serve}"]})
    servers = place.servers()
    await approved(servers)
    tools = await opened(servers)
    await until(lambda: kept.exists() and kept.read_text())
    pid = int(kept.read_text())
    with pytest.raises(ToolServerError, match="ended during this"):
        await tools.call(named(tools, "die"), {})
    await servers.close()
    await until(lambda: not is_alive(pid))


async def test_a_server_that_cannot_start_says_why(place: Place) -> None:
    place.name(one=entry("no_start"), two={"command": "no-such-program-here"})
    servers = place.servers()
    with pytest.raises(CommandError, match="It said: Not today"):
        await approved(servers)
    with pytest.raises(CommandError, match="no-such-program-here"):
        await approved(servers, "two")
    _, words, _ = await servers.tools()
    assert all("is not available" in one for one in words) and len(words) == 2


async def test_a_silent_server_holds_up_a_turn_for_a_bounded_time(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers_module, "WAITS", 0.3)
    monkeypatch.setattr(client_module, "STARTS_WITHIN", 1.0)
    place.name(one=entry("silent", f"log={place.log}"))
    servers = place.servers()
    with pytest.raises(CommandError, match="did not answer within 1 s"):
        await approved(servers)
    tools, words, _ = await servers.tools()
    assert tools == [] and "is still starting" in words[0]


@pytest.mark.parametrize("how", ["garbled", "no_object"])
async def test_a_list_that_breaks_the_protocol_is_said(place: Place, how: str) -> None:
    place.name(one=entry(how))
    servers = place.servers()
    with pytest.raises(CommandError, match="breaks the protocol"):
        await approved(servers)
    [shown], _ = await servers.shown()
    assert shown.state == "failed" and "breaks the protocol" in shown.why


async def test_without_the_package_it_says_what_to_install(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, live_module.CLIENT, None)
    place.name(one=entry())
    with pytest.raises(CommandError, match="pip install"):
        await approved(place.servers())


# --- their end -----------------------------------------------------------------------


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (OSError, IndexError):
        return False


async def test_programs_end_with_the_server(place: Place) -> None:
    place.name(one=entry("stays", f"log={place.log}"))
    servers = place.servers()
    await approved(servers)
    pid = int(place.logged[0].split()[1])
    assert is_alive(pid)
    await servers.close()
    assert not is_alive(pid)


PARENT = """
import asyncio, sys, time
from pathlib import Path
from tests.test_tool_servers import Place, approved, entry
async def main():
    place = Place(Path(sys.argv[1]))
    place.name(one=entry("stays", f"log={place.log}"))
    await approved(place.servers())
    print("ready", flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG")
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


def test_nothing_of_the_package_is_loaded_before_it_is_needed() -> None:
    code = (
        "import sys; from jupyter_codeinterp.app import workbench;"
        "print(sorted(name for name in sys.modules if name.split('.')[0] in ('mcp', 'mcp_types')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- over HTTP -----------------------------------------------------------------------


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
        ("200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip", b""),
        ("307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/mcp", b""),
        ("500 Internal Server Error", b""),
    ],
)
async def test_a_web_server_that_misbehaves_is_given_up(
    place: Place, head: str, piece: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client_module, "STARTS_WITHIN", 10.0)
    server, port, asked = await answering(head, piece)
    async with server:
        headers = {"Authorization": "Bearer not-for-others-0123456789"}
        place.name(one={"url": f"http://127.0.0.1:{port}/mcp", "headers": headers})
        servers = place.servers()
        with pytest.raises(CommandError) as caught:
            await approved(servers)
        assert caught.value.code == "server_failed"
        assert "not-for-others" not in caught.value.message
        assert b"not-for-others" in asked[0], "it gets the header of its entry"
        [shown], _ = await servers.shown()
        assert shown.state == "failed" and shown.why
