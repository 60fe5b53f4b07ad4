"""Approvals of MCP servers, their tools for conversations, and REST for the panel.

Only the admin's servers start without a person's approval: an entry starts a program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ...base.errors import CommandError, ToolServerError
from ...base.private_file import PrivateFile
from ...base.sentences import Sentence, as_it_is
from ...base.visible import visible_line
from ...extensions import Route
from ...view.redaction.found_secrets import without_secrets
from ...wire.commands import BOTH, LOOK
from .entries import ServerEntry, described, entries_for
from .server import OFF, OutsideAnswer, OutsideTool, Server

if TYPE_CHECKING:
    from ...app.settings import CodeInterpSettings
    from ...server.rest.base import Handler
    from ...view.redaction.secrets import Secrets

MOST_TOOLS = 64
"""Tools of all servers in one conversation."""
ASKS = Sentence("The MCP server “{name}” waits for your approval. Open the gear, Tool servers.")
FAILED = Sentence("The MCP server “{name}” is not available: {why}")
LEFT_OUT = Sentence(
    "The agent does not get {count} tools of the MCP server “{name}”, such as “{tool}”: {why}."
)
NO_ROOM = Sentence("all servers together may have {count} tools", count=MOST_TOOLS)
REFUSED = "This server cannot be used: {why}."
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
    start. ``why``: why it is refused."""

    id: str
    name: str
    state: Literal["asks", "refused", "approved"]
    lines: tuple[Sentence, ...]
    why: Sentence


class ToolServers:
    def __init__(
        self, settings: CodeInterpSettings, secrets: Secrets, scrub: Callable[[str], str]
    ) -> None:
        """``secrets`` learns those of servers that are on; ``scrub`` removes them."""
        path = settings.folder / "mcp-approved.json"
        self.approvals = PrivateFile(path, Approvals(), Sentence("the list of approved servers"))
        self._settings = settings
        self._secrets = secrets
        self._scrub = scrub
        self._on: dict[str, Server] = {}
        """Servers that have started, by the digest of the entry."""

    async def _found(self) -> tuple[list[ServerEntry], list[Sentence]]:
        person = self._settings.folder if self._settings.mcp_own_servers else None
        return await asyncio.to_thread(entries_for, person, self._settings.mcp_servers)

    def _approved(self, one: ServerEntry) -> bool:
        """Raises CommandError ``not_kept``."""
        found = self.approvals.content.words.get(one.digest)
        return one.is_admins or (found is not None and found.approved and not found.off)

    def _clean(self, text: str) -> str:
        return without_secrets(self._scrub(visible_line(text)))

    # --- for people ------------------------------------------------------------------

    async def shown(self) -> tuple[list[ShownServer], list[Sentence]]:
        """The servers of the person's file, and its faults. Starts nothing. Raises CommandError
        ``not_kept``."""
        found, faults = await self._found()
        shown = [
            ShownServer(
                one.digest,
                self._clean(one.name),
                "refused" if one.fault else "approved" if self._approved(one) else "asks",
                tuple(described(one)),
                one.fault.changed(self._scrub),
            )
            for one in found
            if not one.is_admins
        ]
        return shown, faults

    async def decide(self, digest: str, approved: bool) -> None:
        """Allow exactly this entry, or forget the approval and stop the server. Raises CommandError
        ``unknown_server``, ``server_refused`` or ``not_kept``."""
        if approved:
            one = next((one for one in (await self._found())[0] if one.digest == digest), None)
            if one is None:
                raise CommandError("unknown_server", UNKNOWN)
            if one.fault:
                raise CommandError("server_refused", REFUSED, why=one.fault)
        word = {digest: Approval(approved)}
        self.approvals.change(lambda now: Approvals(words={**now.words, **word}))
        if not approved:
            await self._stop(digest)

    # --- servers that are on ---------------------------------------------------------

    async def _look(self, entry: ServerEntry) -> list[OutsideTool] | Sentence:
        """The server's tools, or why it has none."""
        if entry.digest not in self._on:
            server = Server(entry, self._scrub)
            self._on[entry.digest] = server
            for secret in server.secrets:
                self._secrets.add(secret)
        try:
            return await self._on[entry.digest].list_tools()
        except ToolServerError as error:
            return error.message

    async def _stop(self, digest: str) -> None:
        server = self._on.pop(digest, None)
        if server is not None:
            await server.close()
            for secret in server.secrets:
                self._secrets.forget(secret)

    async def close(self) -> None:
        await asyncio.gather(*map(self._stop, list(self._on)))

    # --- for conversations -----------------------------------------------------------

    async def tools(self) -> tuple[dict[str, OutsideTool], list[Sentence]]:
        """The tools for a conversation, by the model's names, and notes for the person. A turn goes
        on without the servers that fail."""
        found, notes = await self._found()
        on: list[ServerEntry] = []
        for one in found:
            try:
                if one.fault:
                    fault = one.fault.changed(self._clean)
                    notes.append(Sentence(FAILED, name=self._clean(one.name), why=fault))
                elif self._approved(one):
                    on.append(one)
                else:
                    notes.append(Sentence(ASKS, name=self._clean(one.name)))
            except CommandError as error:
                return {}, [*notes, as_it_is(error.message)]
        tools: dict[str, OutsideTool] = {}
        for one, look in zip(on, await asyncio.gather(*map(self._look, on)), strict=True):
            name = self._clean(one.name)
            if isinstance(look, Sentence):
                notes.append(Sentence(FAILED, name=name, why=look))
                continue
            left_out: list[tuple[str, Sentence]] = []
            for tool in look:
                why = tool.fault or (NO_ROOM if len(tools) == MOST_TOOLS else Sentence())
                if why:
                    left_out.append((tool.tool[:60], why))
                else:
                    again = f"_{len(tools)}" if tool.name in tools else ""
                    tools.setdefault(f"{tool.name}{again}", tool)
            if left_out:
                first, why = left_out[0]
                words = Sentence(LEFT_OUT, count=len(left_out), name=name, tool=first, why=why)
                notes.append(words.changed(self._clean))
        return tools, notes

    async def call(self, tool: OutsideTool, arguments: dict[str, Any]) -> OutsideAnswer:
        """Call a tool that is still as the conversation knows it. Cancelling this cancels the
        call. Raises ToolServerError."""
        server = self._on.get(tool.entry)
        try:
            # Another Jupyter server, too, may have turned it off.
            if server is None or not self._approved(server.entry):
                raise ToolServerError("not_started", OFF)
        except CommandError as error:
            raise ToolServerError("not_started", as_it_is(error.message)) from None
        if tool not in await server.list_tools():
            raise ToolServerError("not_started", CHANGED)
        return await server.call(tool.tool, arguments)


# --- REST ----------------------------------------------------------------------------


class Wish(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Whether the server may start."""

    approved: bool


async def tool_servers(handler: Handler) -> dict[str, Any]:
    found, faults = await handler.settings["codeinterp_tool_servers"].shown()
    return {"servers": found, "faults": faults}


async def change_tool_server(handler: Handler, digest: str) -> dict[str, Any]:
    """Carry out a person's wish for the server with exactly this entry."""
    await handler.settings["codeinterp_tool_servers"].decide(digest, handler.given(Wish).approved)
    return await tool_servers(handler)


SERVER = r"([0-9a-f]{64})"
ROUTES = (
    Route("GET", r"tool-servers", (LOOK,), tool_servers),
    Route("PATCH", rf"tool-servers/{SERVER}", BOTH, change_tool_server),
)
