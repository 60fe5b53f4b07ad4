"""Which MCP servers a notebook has, and their tools for a conversation.

Names come from the admin's settings, from the person's file in the data folder, and from
``.codeinterp/mcp.json`` in the notebook's folder and those above. Only the admin's start without a
person's word: an entry starts a program, and files may come with a notebook.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Union

import msgspec

from ...adapters.tool_servers import entries as files
from ...adapters.tool_servers.entries import BadFile, Entry
from ...adapters.tool_servers.listing import Listed, chosen
from ...core.errors import CommandError, ToolServerError
from ...core.redaction.found_secrets import without_secrets
from ...core.tools.outside.port import Answer, OutsideTool
from ...core.visible import visible_line
from ..files.on_disk import root_of
from ..files.rule_files import folders_of, read_instructions
from .approvals import Approvals, Word
from .live import Live

PROJECT = ".codeinterp/mcp.json"
PERSONAL = "mcp-servers.json"
WAITS = 10.0
"""Seconds that the first turn of a conversation waits for servers."""
TIMEOUT = 1.0
"""Seconds for all files, because a drive may be slow."""
LARGEST = 64_000
"""Bytes of the person's file."""
MOST_TOOLS = 64
"""Of all servers in one conversation."""
MOST_CONVERSATIONS = 1_000
"""Whose tools are remembered; the oldest are forgotten."""
ASKS = "The MCP server “{name}” ({place}) waits for your approval. See the gear, Tool servers."
STARTING = (
    "The MCP server “{name}” is still starting. Its tools will be there in a new conversation."
)
FAILED = "The MCP server “{name}” is not available: {why}"
LEFT_OUT = "{count} tools of MCP servers are left out. See the gear, Tool servers."
OFF = "The person has turned this server off."
UNKNOWN = "This server is no longer named like that. Look at the list again."
State = Literal["asks", "off", "refused", "stopped", "running", "failed"]


class Found(msgspec.Struct, frozen=True):
    """An entry and where it comes from: ``admin``, ``person``, or the path of a file."""

    entry: Entry
    place: str


class Shown(msgspec.Struct, frozen=True):
    """A server for people. ``id`` is what an approval is for. ``lines`` say what would start, and
    have no secrets. ``why``: why it cannot be used."""

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
        contents: Any,
        folder: Path,
        *,
        admins: Mapping[str, Any],
        others: bool,
        env: Sequence[str],
        call_timeout: float,
        learn: Callable[[str], None],
        scrub: Callable[[str], str],
    ) -> None:
        """``admins``: the admin's servers. ``others``: whether files may name more. ``env``: names
        of variables that entries may use. ``learn`` gets secrets, which ``scrub`` removes."""
        self._contents = contents
        self._folder = folder
        self._admins = admins
        self._others = others
        self._env = frozenset(env)
        self._call_timeout = call_timeout
        self._learn = learn
        self._scrub = scrub
        self.approvals = Approvals(folder)
        self._live: dict[str, Live] = {}
        self._sessions: dict[str, SessionTools] = {}
        self._background: set[asyncio.Future[Any]] = set()

    # --- what there is ---------------------------------------------------------------

    async def found(self, notebook: str, contents: Any = None) -> tuple[list[Found], list[str]]:
        """The servers of a notebook, and what is wrong with files. A name of the admin's wins, then
        the nearest file's, then the person's."""
        home = str(Path.home())
        found: dict[str, Found] = {}
        faults: list[str] = []

        def add(place: str, make: Callable[[], list[Entry]]) -> None:
            try:
                for entry in make():
                    found.setdefault(entry.name, Found(entry, place))
            except BadFile as error:
                faults.append(f"{visible_line(place)}: {error}.")

        if self._admins:
            add("admin", lambda: files.entries(self._admins, home))
        if self._others:
            for path, text, folder in await self._projects(notebook, contents or self._contents):
                add(path, lambda text=text, folder=folder: files.parsed(text, folder))  # type: ignore[misc]
            own = await asyncio.to_thread(_read, self._folder / PERSONAL)
            if own is not None:
                add("person", lambda: files.parsed(own, home))
        return list(found.values()), faults

    async def _projects(self, notebook: str, contents: Any) -> list[tuple[str, str, str]]:
        """Path, text and folder on the disk of each file, nearest first."""
        found: list[tuple[str, str, str]] = []
        root = root_of(contents)

        async def look() -> None:
            for folder in folders_of(notebook):
                path = f"{folder}/{PROJECT}" if folder else PROJECT
                text = await read_instructions(contents, path, hidden=True)
                if text is not None:
                    found.append((path, text, _whole(root, folder)))

        # Those that were read in time count.
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(look(), TIMEOUT)
        return found

    def _refused(self, one: Found) -> str:
        return one.entry.fault or files.missing(one.entry, self._env, os.environ)

    def _may_start(self, one: Found) -> bool:
        word = self.approvals.of(one.entry.digest)
        return (word.approved or one.place == "admin") and not word.off and not self._refused(one)

    async def shown(self, notebook: str) -> tuple[list[Shown], list[str]]:
        """For people. Starts nothing. Raises CommandError ``not_kept``."""
        found, faults = await self.found(notebook)
        return [self._shown(one) for one in found], faults

    def _shown(self, one: Found) -> Shown:
        entry, word = one.entry, self.approvals.of(one.entry.digest)
        live = self.live(entry.digest)
        why = self._refused(one)
        state: State = "stopped"
        if why:
            state = "refused"
        elif word.off:
            state = "off"
        elif not self._may_start(one):
            state = "asks"
        elif live is not None and live.fault:
            state, why = "failed", live.fault
        elif live is not None and live.running:
            state = "running"
        listed = chosen(entry.name, entry.digest, live.told, word.picked)[1] if live else ()
        return Shown(
            entry.digest,
            self._clean(entry.name),
            one.place,
            state,
            tuple(map(self._scrub, files.described(entry))),
            self._scrub(why),
            tuple(
                Listed(self._clean(tool.name), self._clean(tool.description), tool.why)
                for tool in listed
            ),
        )

    def _clean(self, text: str) -> str:
        return without_secrets(self._scrub(visible_line(text)))

    # --- a person's word -------------------------------------------------------------

    async def allow(self, notebook: str, digest: str) -> Entry:
        """Allow exactly this entry. Raises CommandError ``unknown_server``, ``server_refused`` or
        ``not_kept``."""
        one = await self._one(notebook, digest)
        why = self._refused(one)
        if why:
            raise CommandError("server_refused", f"This server cannot be used: {why}.")
        self.approvals.set(digest, Word(True, picked=self.approvals.of(digest).picked))
        return one.entry

    async def approve(self, notebook: str, digest: str) -> None:
        """The same, and start it. Raises CommandError ``server_failed``, too."""
        entry = await self.allow(notebook, digest)
        try:
            await self._alive(entry).start_again()
        except ToolServerError as error:
            raise CommandError("server_failed", error.message) from None

    async def turn_off(self, notebook: str, digest: str) -> None:
        """End it now, and start it no more. Raises CommandError as ``approve``."""
        await self._one(notebook, digest)
        word = self.approvals.of(digest)
        self.approvals.set(digest, msgspec.structs.replace(word, off=True))
        live = self._live.pop(digest, None)
        if live is not None:
            await live.close()

    async def pick(self, notebook: str, digest: str, names: Union[tuple[str, ...], None]) -> None:
        """Which tools new conversations get. Raises CommandError as ``approve``."""
        await self._one(notebook, digest)
        word = self.approvals.of(digest)
        self.approvals.set(digest, msgspec.structs.replace(word, picked=names))

    async def _one(self, notebook: str, digest: str) -> Found:
        found, _ = await self.found(notebook)
        for one in found:
            if one.entry.digest == digest:
                return one
        raise CommandError("unknown_server", UNKNOWN)

    # --- for conversations -----------------------------------------------------------

    def _alive(self, entry: Entry) -> Live:
        if entry.digest not in self._live:
            self._live[entry.digest] = Live(entry, os.environ, self._scrub, self._call_timeout)
            for name, value in files.filled({**entry.env, **entry.headers}, os.environ).items():
                given = entry.env.get(name, entry.headers.get(name, ""))
                is_secret = name in entry.headers or "${" in given
                if is_secret or without_secrets(f"{name}={value}") != f"{name}={value}":
                    for part in (value, *value.split()):
                        self._learn(part)
        return self._live[entry.digest]

    def live(self, digest: str) -> Union[Live, None]:
        """The server with this entry; None if it was turned off, also by the command line."""
        if self.approvals.of(digest).off and digest in self._live:
            self._in_background(self._live.pop(digest).close())
        return self._live.get(digest)

    async def for_session(
        self, session_id: str, notebook: str, contents: Any = None
    ) -> tuple[SessionTools, list[str]]:
        """The tools of a conversation, the same until the server's end, and what a person should
        know. Waits for servers that start."""
        if session_id in self._sessions:
            return self._sessions[session_id], []
        found, said = await self.found(notebook, contents)
        starting: dict[str, asyncio.Future[Any]] = {}
        for one in found:
            if self._may_start(one):
                live = self._alive(one.entry)
                starting[one.entry.digest] = self._in_background(live.look())
            elif not self._refused(one) and not self.approvals.of(one.entry.digest).off:
                said.append(ASKS.format(name=self._clean(one.entry.name), place=one.place))
        if starting:
            await asyncio.wait(starting.values(), timeout=WAITS)
        tools: list[tuple[OutsideTool, str]] = []
        left_out = 0
        for one in found:
            look = starting.get(one.entry.digest)
            name = self._clean(one.entry.name)
            if look is None:
                continue
            if not look.done():
                said.append(STARTING.format(name=name))
            elif (error := look.exception()) is not None:
                said.append(FAILED.format(name=name, why=str(error)))
            else:
                picked = self.approvals.of(one.entry.digest).picked
                entry = one.entry
                offered, listed = chosen(entry.name, entry.digest, look.result(), picked)
                room = MOST_TOOLS - len(tools)
                tools += [(tool, entry.digest) for tool in offered[:room]]
                left_out += sum(bool(tool.why) for tool in listed) + len(offered[room:])
                left_out -= sum(tool.why == "not picked" for tool in listed)
        if left_out:
            said.append(LEFT_OUT.format(count=left_out))
        made = self._sessions[session_id] = SessionTools(self, tools)
        while len(self._sessions) > MOST_CONVERSATIONS:
            self._sessions.pop(next(iter(self._sessions)))
        return made, said

    def _in_background(self, work: Any) -> asyncio.Future[Any]:
        """It goes on if a turn ends."""
        task: asyncio.Future[Any] = asyncio.ensure_future(work)
        self._background.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Future[Any]) -> None:
        self._background.discard(task)
        if not task.cancelled():
            task.exception()  # Its words are kept with the server.

    async def close(self) -> None:
        for task in self._background:
            task.cancel()
        await asyncio.gather(*(live.close() for live in self._live.values()))
        self._live.clear()


class SessionTools:
    """The tools of one conversation (``OutsideTools``)."""

    def __init__(self, servers: ToolServers, tools: Sequence[tuple[OutsideTool, str]]) -> None:
        self._servers = servers
        self._entries = {tool.name: digest for tool, digest in tools}
        self.tools = tuple(tool for tool, _ in tools)

    async def pinned(self, tool: OutsideTool) -> str:
        digest = self._entries[tool.name]
        told = await self._live(tool).look()
        now, _ = chosen(tool.server, digest, told, (tool.tool,))
        return now[0].pinned if now else ""

    async def call(self, tool: OutsideTool, arguments: dict[str, Any]) -> Answer:
        return await self._live(tool).call(tool.tool, arguments)

    def _live(self, tool: OutsideTool) -> Live:
        live = self._servers.live(self._entries[tool.name])
        if live is None:
            raise ToolServerError("not_started", OFF)
        return live


def _whole(root: Union[Path, None], folder: str) -> str:
    """The folder without links: the same for every server and the command line."""
    return str((root / folder).resolve() if root is not None else Path.home())


def _read(file: Path) -> Union[str, None]:
    try:
        data = file.read_bytes()[: LARGEST + 1]
        return data.decode() if len(data) <= LARGEST else ""
    except (OSError, UnicodeDecodeError):
        return None
