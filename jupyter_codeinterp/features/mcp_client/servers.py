"""Approvals and states of MCP servers, and their tools for conversations.

Only the admin's servers start without a person's approval: an entry starts a program.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...base.errors import CodeInterpError, CommandError, ToolServerError
from ...base.private_file import PrivateFile
from ...base.sentences import Sentence, as_it_is
from ...base.visible import visible_line
from ...view.redaction.found_secrets import without_secrets
from .entries import ServerEntry, described, entries_for, missing
from .live import OFF, Live
from .tools import Listed, OutsideAnswer, OutsideTool, chosen

if TYPE_CHECKING:
    from ...app.settings import CodeInterpSettings
    from ...view.redaction.secrets import Secrets

WAITS = 10.0
"""Seconds that the first turn of a conversation waits for servers."""
MOST_TOOLS = 64
"""Tools of all servers in one conversation."""
ASKS = Sentence("The MCP server “{name}” waits for your approval. Open the gear, Tool servers.")
STARTING = Sentence(
    "The MCP server “{name}” is still starting. Its tools will be there in a new conversation."
)
FAILED = Sentence("The MCP server “{name}” is not available: {why}")
NOT_READ = Sentence("The agent has no tools of MCP servers: {why}")
LEFT_OUT = Sentence("{count} tools of MCP servers are left out. See the gear, Tool servers.")
UNKNOWN = "The entry of this server was changed or removed. Reload the list."
log = logging.getLogger(__name__)


class Approval(msgspec.Struct, frozen=True):
    """A person's decision on an entry."""

    approved: bool
    off: bool = False


NONE = Approval(approved=False)


class _ApprovalsFile(msgspec.Struct, frozen=True):
    version: Literal[1] = 1
    words: dict[str, Approval] = {}


class Approvals:
    """``mcp-approved.json``: what a person has decided on servers, by the digest of the entry."""

    def __init__(self, folder: Path) -> None:
        path = folder / "mcp-approved.json"
        self._file = PrivateFile(path, _ApprovalsFile(), Sentence("the list of approved servers"))

    def of(self, digest: str) -> Approval:
        """Raises CommandError ``not_kept``."""
        return self._file.content.words.get(digest, NONE)

    def set(self, digest: str, approval: Approval) -> None:
        """Raises CommandError ``not_kept``."""
        self._file.change(lambda now: _ApprovalsFile(words={**now.words, digest: approval}))


State = Literal["asks", "off", "refused", "stopped", "running", "failed"]


class ShownServer(msgspec.Struct, frozen=True):
    """A server for people. ``id``: the digest to approve. ``lines``: exactly what would start,
    without secrets for an admin's server. ``why``: why it cannot be used."""

    id: str
    name: str
    place: str
    state: State
    lines: tuple[Sentence, ...]
    why: Sentence = msgspec.field(default_factory=Sentence)
    tools: tuple[Listed, ...] = ()


class ToolServers:
    def __init__(
        self, settings: CodeInterpSettings, secrets: Secrets, scrub: Callable[[str], str]
    ) -> None:
        """``secrets`` learns those of servers that are on; ``scrub`` removes them."""
        self.approvals = Approvals(settings.folder)
        self._settings = settings
        self._secrets = secrets
        self._scrub = scrub
        self._live: dict[str, Live] = {}
        self._background: set[asyncio.Future[Any]] = set()

    async def _found(self) -> tuple[list[ServerEntry], list[Sentence]]:
        of = self._settings
        return await asyncio.to_thread(
            entries_for, of.folder, of.mcp_servers, files=of.mcp_own_servers
        )

    def _refused(self, one: ServerEntry) -> Sentence:
        return one.fault or missing(one, self._settings.mcp_env, os.environ)

    def _state(self, one: ServerEntry) -> tuple[State, Sentence]:
        """Its state, and why it cannot be used. Raises CommandError ``not_kept``."""
        approval, why = self.approvals.of(one.digest), self._refused(one)
        live = self.live(one.digest)
        if why:
            return "refused", why
        if approval.off:
            return "off", Sentence()
        if not (approval.approved or one.place == "admin"):
            return "asks", Sentence()
        if live is not None and live.fault:
            return "failed", live.fault
        running = live is not None and live.running
        return "running" if running else "stopped", Sentence()

    # --- for people ------------------------------------------------------------------

    async def shown(self) -> tuple[list[ShownServer], list[Sentence]]:
        """All servers, and faults of files. Starts nothing. Raises CommandError ``not_kept``."""
        found, faults = await self._found()
        return [self._shown(one) for one in found], faults

    def _shown(self, one: ServerEntry) -> ShownServer:
        state, why = self._state(one)
        live = self.live(one.digest)
        lines = described(one, whole=one.place != "admin")
        if one.place == "admin":
            lines = [line.changed(self._scrub) for line in lines]
        tools = tuple(
            Listed(
                self._clean(tool.name), self._clean(tool.description), tool.why.changed(self._clean)
            )
            for tool in (chosen(one, live.listed)[1] if live is not None else ())
        )
        name = self._clean(one.name)
        return ShownServer(
            one.digest, name, one.place, state, tuple(lines), why.changed(self._scrub), tools
        )

    def _clean(self, text: str) -> str:
        return without_secrets(self._scrub(visible_line(text)))

    async def approve(self, digest: str) -> None:
        """Allow exactly this entry, and start it. Raises CommandError ``unknown_server``,
        ``server_refused``, ``not_kept`` or ``server_failed``."""
        one = await self._one(digest)
        why = self._refused(one)
        if why:
            raise CommandError("server_refused", "This server cannot be used: {why}.", why=why)
        self.approvals.set(digest, Approval(approved=True))
        try:
            await self._on(one).start_again()
        except ToolServerError as error:
            raise CommandError("server_failed", "{why}", why=error.message) from None

    async def turn_off(self, digest: str) -> None:
        """Stop it, and keep it off. Raises CommandError as ``approve``."""
        await self._one(digest)
        self.approvals.set(digest, Approval(approved=False, off=True))
        live = self._live.pop(digest, None)
        if live is not None:
            await self._end(live)

    async def _one(self, digest: str) -> ServerEntry:
        for one in (await self._found())[0]:
            if one.digest == digest:
                return one
        raise CommandError("unknown_server", UNKNOWN)

    # --- servers that are on ---------------------------------------------------------

    def _on(self, entry: ServerEntry) -> Live:
        if entry.digest not in self._live:
            made = Live(entry, os.environ, self._scrub, self._settings.mcp_call_timeout)
            self._live[entry.digest] = made
            for secret in made.secrets:
                self._secrets.add(secret)
        return self._live[entry.digest]

    def live(self, digest: str) -> Live | None:
        """The server with this entry; None if somebody turned it off, also through another
        Jupyter server. Raises CommandError ``not_kept``."""
        if self.approvals.of(digest).off and digest in self._live:
            self._in_background(self._end(self._live.pop(digest)))
        return self._live.get(digest)

    async def _end(self, live: Live) -> None:
        await live.close()
        for secret in live.secrets:
            self._secrets.forget(secret)

    def _in_background(self, work: Any) -> asyncio.Future[Any]:
        """Start a task that outlives the turn."""
        task: asyncio.Future[Any] = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Future[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled():
            task.exception()  # ``Live.fault`` keeps the error.

    async def close(self) -> None:
        for task in self._background:
            task.cancel()
        ends = [live.close() for live in self._live.values()]
        self._live.clear()
        for fault in await asyncio.gather(*ends, return_exceptions=True):
            if fault is not None:
                log.error("Could not stop an MCP server", exc_info=fault)

    # --- for conversations -----------------------------------------------------------

    async def tools(self) -> tuple[list[OutsideTool], list[Sentence], bool]:
        """The tools for a conversation, notes for the person, and whether all could be read. Waits
        for servers that start. Raises nothing: a turn goes on without tools."""
        found, notes = await self._found()
        try:
            looks: list[tuple[ServerEntry, asyncio.Future[Any]]] = []
            for one in found:
                state, _ = self._state(one)
                if state == "asks":
                    notes.append(Sentence(ASKS, name=self._clean(one.name)))
                elif state not in ("refused", "off"):
                    looks.append((one, self._in_background(self._on(one).look())))
        except CommandError as error:
            return [], [*notes, Sentence(NOT_READ, why=error.message)], False
        if looks:
            await asyncio.wait([look for _, look in looks], timeout=WAITS)
        return self._offered(looks, notes), notes, True

    def _offered(
        self, looks: Iterable[tuple[ServerEntry, asyncio.Future[Any]]], notes: list[Sentence]
    ) -> list[OutsideTool]:
        """The tools that are there, each with a name of its own."""
        tools: dict[str, OutsideTool] = {}
        left_out = 0
        for entry, look in looks:
            name = self._clean(entry.name)
            if not look.done():
                notes.append(Sentence(STARTING, name=name))
            elif look.cancelled():
                notes.append(Sentence(FAILED, name=name, why=Sentence("it was stopped.")))
            elif (error := look.exception()) is not None:
                why = error.message if isinstance(error, CodeInterpError) else str(error)
                notes.append(Sentence(FAILED, name=name, why=why))
            else:
                offered, listed = chosen(entry, look.result())
                left_out += len(listed)
                for tool in offered[: MOST_TOOLS - len(tools)]:
                    own = tool.name if tool.name not in tools else f"{tool.name}_{len(tools)}"
                    if own not in tools:
                        tools[own] = msgspec.structs.replace(tool, name=own)
                        left_out -= 1
        if left_out:
            notes.append(Sentence(LEFT_OUT, count=left_out))
        return list(tools.values())

    async def pinned(self, tool: OutsideTool) -> str:
        """The tool's digest as its server describes it now; "" if the server no longer has it.
        Starts the server if it has ended. Raises ToolServerError."""
        live = self._of(tool)
        same = [raw for raw in await live.look() if raw.name == tool.tool]
        now, _ = chosen(live.entry, same[:1])
        return now[0].pinned if now else ""

    async def call(self, tool: OutsideTool, arguments: dict[str, Any]) -> OutsideAnswer:
        """Cancelling this cancels the call. Raises ToolServerError."""
        return await self._of(tool).call(tool.tool, arguments)

    def _of(self, tool: OutsideTool) -> Live:
        """Raises ToolServerError."""
        try:
            live = self.live(tool.entry)
        except CommandError as error:
            raise ToolServerError("not_started", as_it_is(error.message)) from None
        if live is None:
            raise ToolServerError("not_started", OFF)
        return live
