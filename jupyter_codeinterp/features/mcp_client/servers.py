"""Approvals and states of MCP servers, and their tools for conversations.

Only the admin's servers start without a person's approval: an entry starts a program, and files
may come with a notebook.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...base.errors import CodeInterpError, CommandError, ToolServerError
from ...base.private_file import PrivateFile
from ...base.sentences import Sentence, as_it_is
from ...base.visible import visible_line
from ...view.redaction.found_secrets import without_secrets
from .entries import SLOW, ServerEntry, described, entries_for, missing
from .listing import NOT_PICKED, Listed, OutsideAnswer, OutsideTool, chosen
from .live import OFF, Live

if TYPE_CHECKING:
    from ...app.settings import CodeInterpSettings
    from ...view.redaction.secrets import Secrets

MOST = 500
"""Kept entries; the oldest are dropped."""


class Approval(msgspec.Struct, frozen=True):
    """A person's decision on an entry. ``picked``: the tools that conversations get; None: as many
    as fit. ``when``: seconds since 1970."""

    approved: bool
    off: bool = False
    picked: tuple[str, ...] | None = None
    when: float = 0.0


NONE = Approval(approved=False)


class _ApprovalsFile(msgspec.Struct, frozen=True):
    version: Literal[1] = 1
    words: dict[str, Approval] = {}


class Approvals:
    """``mcp-approved.json``: what a person has decided on servers, by the digest of the entry."""

    def __init__(self, folder: Path) -> None:
        path = folder / "mcp-approved.json"
        self._file = PrivateFile(path, _ApprovalsFile(), "the list of approved servers")

    def of(self, digest: str) -> Approval:
        """Raises CommandError ``not_kept``."""
        return self._file.content.words.get(digest, NONE)

    def set(self, digest: str, change: Callable[[Approval], Approval]) -> None:
        """Raises CommandError ``not_kept``."""

        def changed(content: _ApprovalsFile) -> _ApprovalsFile:
            approval = change(content.words.get(digest, NONE))
            approval = msgspec.structs.replace(approval, when=time.time())
            every = {**content.words, digest: approval}
            kept = sorted(every, key=lambda one: every[one].when)[-MOST:]
            return _ApprovalsFile(words={one: every[one] for one in kept})

        self._file.change(changed)


WAITS = 10.0
"""Seconds that the first turn of a conversation waits for servers."""
MOST_TOOLS = 64
"""Tools of all servers in one conversation."""
MOST_CONVERSATIONS = 1_000
"""Conversations whose tools are kept; the oldest are dropped."""
ASKS = Sentence(
    "The MCP server “{name}” ({place}) waits for your approval. Open the gear, Tool servers."
)
STARTING = Sentence(
    "The MCP server “{name}” is still starting. Its tools will be there in a new conversation."
)
FAILED = Sentence("The MCP server “{name}” is not available: {why}")
NOT_READ = Sentence("The agent has no tools of MCP servers: {why}")
LEFT_OUT = Sentence("{count} tools of MCP servers are left out. See the gear, Tool servers.")
UNKNOWN = "The entry of this server was changed or removed. Reload the list."
log = logging.getLogger(__name__)

State = Literal["asks", "off", "refused", "stopped", "running", "failed"]


class ShownServer(msgspec.Struct, frozen=True):
    """A server for people. ``id``: the digest to approve. ``lines``: exactly what would start,
    without secrets for an admin's server. ``why``: why it cannot be used."""

    id: str
    name: str
    place: str
    state: State
    lines: tuple[str, ...]
    why: str = ""
    tools: tuple[Listed, ...] = ()


class ToolServers:
    def __init__(
        self,
        settings: CodeInterpSettings,
        contents: Any,
        secrets: Secrets,
        scrub: Callable[[str], str],
    ) -> None:
        """``secrets`` learns those of servers that are on; ``scrub`` removes them."""
        self.approvals = Approvals(settings.folder)
        self._settings = settings
        self._contents = contents
        self._secrets = secrets
        self._scrub = scrub
        self._live: dict[str, Live] = {}
        self._sessions: dict[str, SessionTools] = {}
        self._background: set[asyncio.Future[Any]] = set()

    async def _found(
        self, notebook: str, contents: Any = None
    ) -> tuple[list[ServerEntry], list[Sentence]]:
        settings = self._settings
        return await entries_for(
            notebook,
            contents or self._contents,
            settings.folder,
            settings.mcp_servers,
            files=settings.mcp_own_servers,
        )

    def _refused(self, one: ServerEntry) -> str:
        return one.fault or missing(one, self._settings.mcp_env, os.environ)

    def _may_start(self, one: ServerEntry) -> bool:
        known = self.approvals.of(one.digest)
        return (known.approved or one.place == "admin") and not known.off and not self._refused(one)

    async def shown(self, notebook: str) -> tuple[list[ShownServer], list[Sentence]]:
        """The notebook's servers and faults of files. Starts nothing. Raises CommandError
        ``not_kept``."""
        found, faults = await self._found(notebook)
        return [self._shown(one) for one in found], faults

    def _shown(self, one: ServerEntry) -> ShownServer:
        approval = self.approvals.of(one.digest)
        live = self.live(one.digest)
        why = self._refused(one)
        state: State = "stopped"
        if why:
            state = "refused"
        elif approval.off:
            state = "off"
        elif not self._may_start(one):
            state = "asks"
        elif live is not None and live.fault:
            state, why = "failed", live.fault
        elif live is not None and live.running:
            state = "running"
        listed = chosen(one.name, one.digest, live.listed, approval.picked)[1] if live else ()
        return ShownServer(
            one.digest,
            self._clean(one.name),
            one.place,
            state,
            self._lines(one),
            self._scrub(why),
            tuple(
                Listed(self._clean(tool.name), self._clean(tool.description), tool.why)
                for tool in listed
            ),
        )

    def _lines(self, one: ServerEntry) -> tuple[str, ...]:
        if one.place != "admin":
            return tuple(described(one, whole=True))
        return tuple(map(self._scrub, described(one, whole=False)))

    def _clean(self, text: str) -> str:
        return without_secrets(self._scrub(visible_line(text)))

    # --- approvals -------------------------------------------------------------------

    async def approve(self, notebook: str, digest: str) -> None:
        """Allow exactly this entry, and start it. Raises CommandError ``unknown_server``,
        ``files_slow``, ``server_refused``, ``not_kept`` or ``server_failed``."""
        one = await self._one(notebook, digest)
        why = self._refused(one)
        if why:
            raise CommandError("server_refused", "This server cannot be used: {why}.", why=why)
        self.approvals.set(digest, lambda old: Approval(True, picked=old.picked))
        try:
            await self._alive(one).start_again()
        except ToolServerError as error:
            raise CommandError("server_failed", "{why}", why=error.message) from None

    async def turn_off(self, notebook: str, digest: str) -> None:
        """Stop it, and keep it off. Raises CommandError as ``approve``."""
        await self._one(notebook, digest)
        self.approvals.set(digest, lambda old: msgspec.structs.replace(old, off=True))
        live = self._live.pop(digest, None)
        if live is not None:
            await self._end(live)

    async def _end(self, live: Live) -> None:
        await live.close()
        for secret in live.secrets:
            self._secrets.forget(secret)

    async def pick(self, notebook: str, digest: str, names: tuple[str, ...] | None) -> None:
        """Set the tools that new conversations get. Raises CommandError as ``approve``."""
        await self._one(notebook, digest)
        self.approvals.set(digest, lambda old: msgspec.structs.replace(old, picked=names))

    async def _one(self, notebook: str, digest: str) -> ServerEntry:
        found, faults = await self._found(notebook)
        for one in found:
            if one.digest == digest:
                return one
        if SLOW in faults:
            raise CommandError("files_slow", "{why} Try again.", why=SLOW)
        raise CommandError("unknown_server", UNKNOWN)

    # --- for conversations -----------------------------------------------------------

    def _alive(self, entry: ServerEntry) -> Live:
        if entry.digest not in self._live:
            timeout = self._settings.mcp_call_timeout
            self._live[entry.digest] = Live(entry, os.environ, self._scrub, timeout)
            for secret in self._live[entry.digest].secrets:
                self._secrets.add(secret)
        return self._live[entry.digest]

    def live(self, digest: str) -> Live | None:
        """The server with this entry; None if it was turned off, also by the command line."""
        if self.approvals.of(digest).off and digest in self._live:
            self._in_background(self._end(self._live.pop(digest)))
        return self._live.get(digest)

    async def for_session(
        self, session_id: str, notebook: str, contents: Any = None
    ) -> tuple[SessionTools, list[Sentence]]:
        """The tools of a conversation, and notes for the person. If they are ``complete``,
        they stay the same until the server's end. Waits for servers that start. Raises nothing: a
        turn goes on without tools."""
        if session_id in self._sessions:
            return self._sessions[session_id], []
        found, notes = await self._found(notebook, contents)
        made = SessionTools(self, SLOW not in notes)
        try:
            looks: list[tuple[ServerEntry, asyncio.Future[Any]]] = []
            for one in found:
                if self._may_start(one):
                    looks.append((one, self._in_background(self._alive(one).look())))
                elif not self._refused(one) and not self.approvals.of(one.digest).off:
                    notes.append(Sentence(ASKS, name=self._clean(one.name), place=one.place))
            if looks:
                await asyncio.wait([look for _, look in looks], timeout=WAITS)
            made.tools = self._offered(looks, notes)
        except CommandError as error:
            notes.append(Sentence(NOT_READ, why=error.message))
            made.complete = False
        if made.complete:
            self._sessions[session_id] = made
        while len(self._sessions) > MOST_CONVERSATIONS:
            self._sessions.pop(next(iter(self._sessions)))
        return made, notes

    def _offered(
        self, looks: Sequence[tuple[ServerEntry, asyncio.Future[Any]]], notes: list[Sentence]
    ) -> tuple[OutsideTool, ...]:
        """The tools that are there. Raises CommandError ``not_kept``."""
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
                picked = self.approvals.of(entry.digest).picked
                offered, listed = chosen(entry.name, entry.digest, look.result(), picked)
                left_out += sum(tool.why not in ("", NOT_PICKED) for tool in listed)
                for tool in offered:
                    if tool.name in tools or len(tools) == MOST_TOOLS:
                        left_out += 1
                    else:
                        tools[tool.name] = tool
        if left_out:
            notes.append(Sentence(LEFT_OUT, count=left_out))
        return tuple(tools.values())

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


class SessionTools:
    """The tools of one conversation. ``complete``: whether all files were read."""

    def __init__(self, servers: ToolServers, complete: bool) -> None:
        self.tools: tuple[OutsideTool, ...] = ()
        self.complete = complete
        self._servers = servers

    async def pinned(self, tool: OutsideTool) -> str:
        """The tool's digest as its server describes it now; "" if the server no longer has it.
        Starts the server if it has ended. Raises ToolServerError."""
        listed = await self._live(tool).look()
        now, _ = chosen(tool.server, tool.entry, listed, (tool.tool,))
        return now[0].pinned if now else ""

    async def call(self, tool: OutsideTool, arguments: dict[str, Any]) -> OutsideAnswer:
        """Cancelling this cancels the call. Raises ToolServerError."""
        return await self._live(tool).call(tool.tool, arguments)

    def _live(self, tool: OutsideTool) -> Live:
        """Raises ToolServerError."""
        try:
            live = self._servers.live(tool.entry)
        except CommandError as error:
            raise ToolServerError("not_started", as_it_is(error.message)) from None
        if live is None:
            raise ToolServerError("not_started", OFF)
        return live
