"""Approved MCP servers, their tools for conversations, and REST for the panel.

No server starts without a person's approval: an entry starts a program.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Union

import msgspec

from ..._version import __version__
from ...base.errors import CommandError, ToolServerError
from ...base.private_file import PrivateFile
from ...base.sentences import Sentence, as_it_is
from ...base.visible import visible_line
from ...extensions import Route
from ...run.turn.workplace import MoreTools
from ...view.redaction.found_secrets import without_secrets
from ...wire.commands import BOTH, LOOK
from .entries import FAILED, ServerEntry, described, entries_for, filled, secrets_of
from .tool import OutsideAnswer, OutsideTool, RawTool, outside_tool, tool_for

if TYPE_CHECKING:
    from ...app.settings import CodeInterpSettings
    from ...server.rest.base import Handler
    from ...view.redaction.secrets import Secrets
    from ...view.untrusted import Untrusted

T = TypeVar("T")

# -------------------------------------------------------------------------------------------------
# One server. Its program is untrusted, so answers have bounds, and threads read them.

PROTOCOL = "2025-11-25"
INHERITED = (
    "APPDATA", "HOME", "LANG", "LC_ALL", "LOCALAPPDATA", "LOGNAME", "PATH", "PATHEXT", "SHELL",
    "SYSTEMROOT", "TEMP", "TERM", "TMPDIR", "TZ", "USER", "USERPROFILE",
)  # fmt: skip
"""Variables of the Jupyter server that programs get; none is a key."""
FOLDER = "/"
"""Where programs start. They load files from there (``python -m``, ``npx``), and a sandboxed kernel
may write into the notebook's folder."""
STARTS_WITHIN = 30.0
"""Seconds. ``npx`` and ``uvx`` may download the program first."""
LISTS_WITHIN = 10.0
CALLS_WITHIN = 300.0
LONGEST = 8_000_000
"""Bytes of an answer."""
MOST_TEXT = 300_000
"""Characters of its text."""
ENDS_WITHIN = 0.5
NOT_STARTED = Sentence("It did not start. {words}")
ENDED = Sentence("The server ended during this, or broke the protocol. It may have done something.")
OFF = Sentence("This server is turned off.")
TOO_SLOW = Sentence("The server did not answer within {limit:g} s. It may have done something.")
REFUSED = Sentence("The server refused it: {words}")


class _Message(msgspec.Struct):
    """A line of JSON-RPC: an answer, or with ``method`` a request or a notification."""

    id: Any = None
    method: str = ""
    result: msgspec.Raw = msgspec.Raw(b"{}")
    error: Union[dict[str, Any], None] = None


class _Listed(msgspec.Struct):
    tools: list[RawTool]


class _Part(msgspec.Struct):
    type: str
    text: Union[str, None] = None


class _Called(msgspec.Struct):
    content: list[_Part]
    isError: bool = False


class Program:
    """One start of a server's program, which speaks MCP over its standard input and output."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._sent = 0

    @classmethod
    async def start(cls, entry: ServerEntry) -> Program:
        """Raises ToolServerError."""
        env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        try:
            process = await asyncio.create_subprocess_exec(
                *(shutil.which(entry.command) or entry.command, *entry.args),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={**env, **filled(entry.env)},
                cwd=FOLDER,
                limit=LONGEST,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise ToolServerError("not_started", Sentence(NOT_STARTED, words=error)) from None
        return cls(process)

    async def list_tools(self) -> list[RawTool]:
        """The server's current tools, unchecked. Raises ToolServerError."""
        return (await self._asked("tools/list", {}, _Listed, LISTS_WITHIN)).tools

    async def call(self, tool: str, arguments: dict[str, Any]) -> OutsideAnswer:
        """Raises ToolServerError."""
        params = {"name": tool, "arguments": arguments}
        called = await self._asked("tools/call", params, _Called, CALLS_WITHIN)
        texts = (f"[{p.type} not shown]" if p.text is None else p.text for p in called.content)
        return OutsideAnswer("\n".join(texts)[:MOST_TEXT], called.isError)

    async def greet(self) -> None:
        """Begin the conversation. Raises ToolServerError."""
        about = {"name": "jupyter_codeinterp", "version": __version__}
        hello = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": about}
        await self._asked("initialize", hello, msgspec.Raw, STARTS_WITHIN)
        await self._send({"method": "notifications/initialized"})

    async def _asked(self, method: str, params: Any, kind: type[T], within: float) -> T:
        """The result of a request. No request is repeated, because it may have done something."""
        try:
            answer = await asyncio.wait_for(self._answer(method, params), within)
            if answer.error is not None:
                words = str(answer.error.get("message"))
                raise ToolServerError("error", Sentence(REFUSED, words=words))
            return await asyncio.to_thread(msgspec.json.decode, answer.result, type=kind)
        except asyncio.TimeoutError:
            raise ToolServerError("timeout", Sentence(TOO_SLOW, limit=within)) from None
        except (OSError, ValueError, RecursionError):
            raise ToolServerError("error", ENDED) from None

    async def _answer(self, method: str, params: Any) -> _Message:
        """Raises OSError, and ValueError for a line that is too long."""
        self._sent += 1
        await self._send({"id": self._sent, "method": method, "params": params})
        assert self._process.stdout is not None
        while line := await self._process.stdout.readline():
            message = await asyncio.to_thread(_read, line)
            if message.id == self._sent and not message.method:
                return message
        raise OSError

    async def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message})
        self._process.stdin.write(line.encode() + b"\n")
        await self._process.stdin.drain()

    async def end(self) -> None:
        """The program ends at the end of its input, as the protocol asks, or is killed."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._process.wait(), ENDS_WITHIN)
        self.kill()
        await self._process.wait()

    def kill(self) -> None:
        """Kill it with the programs that it has started."""
        with suppress(ProcessLookupError):
            if sys.platform == "win32":
                self._process.kill()
            else:
                os.killpg(self._process.pid, signal.SIGKILL)


def _read(line: bytes) -> _Message:
    """The message of a line; an empty one for any other text."""
    try:
        return msgspec.json.decode(line, type=_Message)
    except (ValueError, RecursionError):
        return _Message()


# -------------------------------------------------------------------------------------------------
# Approvals and tools.

MOST_TOOLS = 64
"""Tools of all servers in one conversation."""
ASKS = Sentence("The MCP server “{name}” waits for your approval. Open the gear, Tool servers.")
LEFT_OUT = Sentence(
    "The agent does not get {count} tools of the MCP server “{name}”: they are too many or too "
    "long, or their descriptions give the model orders."
)
UNKNOWN = "The entry of this server was changed or removed. Reload the list."
CHANGED = Sentence(
    "The server has changed or removed this tool since the conversation began. A new conversation "
    "gets its current tools."
)


class Approval(msgspec.Struct, frozen=True):
    """A person's decision on an entry."""

    approved: bool
    off: bool = False
    """In files of earlier versions, an approved server may be off."""


class Approvals(msgspec.Struct, frozen=True):
    """``mcp-approved.json``: by the digest of the entry."""

    version: Literal[1] = 1
    words: dict[str, Approval] = {}


class ShownServer(msgspec.Struct, frozen=True):
    """A server of the person's file. ``id``: the digest to approve. ``lines``: exactly what would
    start."""

    id: str
    name: str
    approved: bool
    lines: tuple[Sentence, ...]


class ToolServers:
    def __init__(
        self, settings: CodeInterpSettings, secrets: Secrets, scrub: Callable[[str], str]
    ) -> None:
        """``secrets`` learns those of servers; ``scrub`` removes them."""
        path = settings.folder / "mcp-approved.json"
        self.approvals = PrivateFile(path, Approvals(), Sentence("the list of approved servers"))
        self._settings = settings
        self._secrets = secrets
        self._scrub = scrub
        self._known: dict[str, ServerEntry] = {}
        """Servers that are on, by digest. Their secrets are redacted."""
        self._programs: list[tuple[str, Program]] = []
        """Those that run, with the digests of their entries."""

    async def _found(self) -> tuple[list[ServerEntry], list[Sentence]]:
        if not self._settings.mcp_own_servers:
            return [], []
        return await asyncio.to_thread(entries_for, self._settings.folder)

    def _approved(self, one: ServerEntry) -> bool:
        """Raises CommandError ``not_kept``."""
        found = self.approvals.content.words.get(one.digest)
        return found is not None and found.approved and not found.off

    def _clean(self, text: str) -> str:
        return without_secrets(self._scrub(visible_line(text)))

    # --- for people ------------------------------------------------------------------

    async def shown(self) -> tuple[list[ShownServer], list[Sentence]]:
        """The servers of the person's file, and why others cannot be used. Starts nothing. Raises
        CommandError ``not_kept``."""
        found, faults = await self._found()
        shown = [
            ShownServer(
                one.digest, self._clean(one.name), self._approved(one), tuple(described(one))
            )
            for one in found
        ]
        return shown, [fault.changed(self._clean) for fault in faults]

    async def approve(self, digest: str) -> None:
        """Allow exactly this entry. Raises CommandError ``unknown_server`` or ``not_kept``."""
        if digest not in (one.digest for one in (await self._found())[0]):
            raise CommandError("unknown_server", UNKNOWN)
        self.approvals.change(lambda now: Approvals(words={**now.words, digest: Approval(True)}))

    async def withdraw(self, digest: str) -> None:
        """Forget the approval, and end the server's calls. Raises CommandError ``not_kept``."""
        self.approvals.change(lambda now: Approvals(words={**now.words, digest: Approval(False)}))
        for one, program in self._programs:
            if one == digest:
                program.kill()
        entry = self._known.pop(digest, None)
        for secret in secrets_of(entry) if entry is not None else ():
            self._secrets.forget(secret)

    # --- programs --------------------------------------------------------------------

    @asynccontextmanager
    async def _running(self, entry: ServerEntry) -> AsyncIterator[Program]:
        """Start the server's program, and end it afterwards. Raises ToolServerError."""
        self._check(entry)
        if entry.digest not in self._known:
            self._known[entry.digest] = entry
            for secret in secrets_of(entry):
                self._secrets.add(secret)
        program = await Program.start(entry)
        self._programs.append((entry.digest, program))
        try:
            self._check(entry)  # Somebody may have turned it off meanwhile.
            await program.greet()
            yield program
        except ToolServerError as error:
            why = as_it_is(error.message.changed(self._clean))
            raise ToolServerError(error.code, why) from None
        finally:
            self._programs.remove((entry.digest, program))
            await program.end()

    def _check(self, entry: ServerEntry) -> None:
        """Another Jupyter server, too, may have turned it off. Raises ToolServerError."""
        try:
            is_on = self._approved(entry)
        except CommandError as error:
            raise ToolServerError("not_started", as_it_is(error.message)) from None
        if not is_on:
            raise ToolServerError("not_started", OFF)

    async def _look(self, entry: ServerEntry) -> list[RawTool]:
        """The server's tools. Raises ToolServerError."""
        async with self._running(entry) as program:
            return await program.list_tools()

    async def close(self) -> None:
        """End all programs; their calls fail."""
        for _, program in self._programs:
            program.kill()

    # --- for conversations -----------------------------------------------------------

    async def tools(self) -> tuple[list[OutsideTool], list[Sentence]]:
        """The tools for a conversation, and notes for the person. A turn goes on without the
        servers that fail."""
        found, faults = await self._found()
        notes = [fault.changed(self._clean) for fault in faults]
        try:
            asks = [one for one in found if not self._approved(one)]
        except CommandError as error:
            return [], [*notes, as_it_is(error.message)]
        notes += (Sentence(ASKS, name=self._clean(one.name)) for one in asks)
        on = [one for one in found if one not in asks]
        looks = await asyncio.gather(*map(self._look, on), return_exceptions=True)
        tools: dict[str, OutsideTool] = {}
        for one, look in zip(on, looks, strict=True):
            name = self._clean(one.name)
            if isinstance(look, ToolServerError):
                notes.append(Sentence(FAILED, name=name, why=look.message))
            elif isinstance(look, BaseException):
                raise look
            elif left_out := _add_tools(tools, one, look):
                notes.append(Sentence(LEFT_OUT, count=left_out, name=name))
        return list(tools.values()), notes

    async def tools_for(self, untrusted: Untrusted) -> MoreTools:
        found, notes = await self.tools()
        return MoreTools(tuple(tool_for(self.call, one, untrusted) for one in found), tuple(notes))

    async def call(self, tool: OutsideTool, arguments: dict[str, Any]) -> OutsideAnswer:
        """Call a tool that is still as the conversation knows it. Cancelling this cancels the
        call. Raises ToolServerError."""
        entry = self._known.get(tool.entry)
        if entry is None:
            raise ToolServerError("not_started", OFF)
        async with self._running(entry) as program:
            now = await program.list_tools()
            if tool.pinned not in (raw.digest for raw in now if raw.name == tool.tool):
                raise ToolServerError("not_started", CHANGED)
            return await program.call(tool.tool, arguments)


def _add_tools(tools: dict[str, OutsideTool], entry: ServerEntry, listed: Iterable[RawTool]) -> int:
    """Add the server's tools, each with a name of its own. Return how many are left out."""
    left_out = 0
    for raw in listed:
        tool = outside_tool(entry, raw) if len(tools) < MOST_TOOLS else None
        if tool is None:
            left_out += 1
            continue
        name = tool.name if tool.name not in tools else f"{tool.name}_{len(tools)}"
        tools.setdefault(name, msgspec.structs.replace(tool, name=name))
    return left_out


# -------------------------------------------------------------------------------------------------
# REST for the panel.


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the server may start."""

    approved: bool


async def tool_servers(handler: Handler) -> dict[str, Any]:
    """The servers of the person's file. Starts nothing."""
    found, faults = await handler.settings["codeinterp_tool_servers"].shown()
    return {"servers": found, "faults": faults}


async def change_tool_server(handler: Handler, digest: str) -> dict[str, Any]:
    """Carry out a person's wish for the server with exactly this entry."""
    servers = handler.settings["codeinterp_tool_servers"]
    wish = handler.given(Wish)
    await (servers.approve if wish.approved else servers.withdraw)(digest)
    return await tool_servers(handler)


SERVER = r"([0-9a-f]{64})"
ROUTES = (
    Route("GET", r"tool-servers", (LOOK,), tool_servers),
    Route("PATCH", rf"tool-servers/{SERVER}", BOTH, change_tool_server),
)
