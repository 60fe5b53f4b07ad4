"""Makes tools of the registry from tools of MCP servers. Each call asks the person."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from ...approval import policy
from ...approval.code_warnings import hidden_characters
from ...errors import ToolServerError
from ...events import DraftWaiting, Event, Status
from ...injection.signs import signs
from ...messages import ToolUse
from ...model_view.plain_text import clean, cut
from ...model_view.untrusted import Untrusted
from ...turn.results import Result
from ...turn.turn import Turn
from ...visible import visible_line
from ..shared.base import Tool
from ..shared.drafting import Drafting
from ..shared.without_cell import CUT_OFF, DIFFERS, decided, draft_of
from . import schemas, shown_call
from .port import OutsideTool, OutsideTools
from .result import bounded
from .schemas import BadSchema

LONGEST_DESCRIPTION = 1_000
"""Characters."""
LONGEST_NAME = 60
DESCRIPTION = "From the MCP server {server}, another program. Its own description:"
SPEAKS = "its description or its schema gives the model orders"
GONE = "The server no longer has this tool."
HAS_KEY = "The arguments contain a key, so nothing was sent. Leave it out."
CHANGED = (
    "The server has changed the tool's description since the conversation began. The model knows "
    "the old one."
)

_STATUS: dict[str, Status] = {"ended": "error", "too_slow": "timeout", "refused": "error"}
"""Of calls that had begun, by the error's code."""


def tools_of(source: OutsideTools, untrusted: Untrusted) -> tuple[list[Tool], list[str]]:
    """The tools for one conversation, and why others are left out."""
    made: list[Tool] = []
    faults: list[str] = []
    for tool in source.tools:
        try:
            made.append(_tool(source, tool, untrusted))
        except BadSchema as error:
            faults.append(f"{shown_call.title(tool.server, tool.tool)}: {error}.")
    return made, faults


def _tool(source: OutsideTools, tool: OutsideTool, untrusted: Untrusted) -> Tool:
    """Raises BadSchema."""
    told = clean(tool.description)
    if any(signs(text, 1) for text in (told, *schemas.texts(tool.schema))):
        raise BadSchema(SPEAKS)
    server = untrusted.inert(visible_line(tool.server)[:LONGEST_NAME])
    quoted = untrusted.quoted(untrusted.inert(cut(told, LONGEST_DESCRIPTION)))

    def work(drafting: Drafting, call: ToolUse, given: dict[str, Any]) -> AsyncIterator[Event]:
        return _Call(drafting, call, given, source, tool).events()

    return Tool(
        tool.name,
        shown_call.title(tool.server, tool.tool),
        f"{DESCRIPTION.format(server=server)}\n{quoted}",
        dict,
        effect="changes",
        work=work,
        whole_schema=schemas.for_model(tool.schema, untrusted.inert),
    )


class _NotCalled(Exception):
    """Its text says why nothing was sent."""


class _Call:
    def __init__(
        self,
        drafting: Drafting,
        call: ToolUse,
        given: dict[str, Any],
        source: OutsideTools,
        tool: OutsideTool,
    ) -> None:
        self._turn: Turn = drafting.turn
        self._results = drafting.step.results
        self._call = call
        self._given = given
        self._source = source
        self._tool = tool
        self._title = shown_call.title(tool.server, tool.tool)

    async def events(self) -> AsyncIterator[Event]:
        turn = self._turn
        if not turn.allowed.changes:
            self._reject(policy.refusal("outside", turn.mode), policy.refused(turn.mode))
            return
        try:
            words = shown_call.call(self._tool.server, self._tool.tool, self._given)
        except ValueError as error:
            self._end("not_started", str(error))
            return
        try:
            if turn.untrusted.known(words) != words:
                raise _NotCalled(HAS_KEY)
            async for event in self._decided(words):
                yield event
        except _NotCalled as error:
            self._end("not_started", str(error))
        except ToolServerError as error:
            self._end(_STATUS.get(error.code, "not_started"), error.message, is_error=True)

    async def _decided(self, words: str) -> AsyncIterator[Event]:
        turn, why = self._turn, ""
        while True:
            now = await self._source.pinned(self._tool)
            if not now:
                raise _NotCalled(GONE)
            notices = self._notices(now, words)
            draft = draft_of(self._call, "tool", self._title, words, why)
            draft = msgspec.structs.replace(draft, notices=(*draft.notices, *notices))
            yield DraftWaiting(draft)
            decision = await turn.clock.attend(turn.decisions.ask(draft))
            yield decided(draft, decision)
            if decision.action == "reject":
                self._reject(decision.reason, by=decision.by)
                return
            why = "" if decision.source == words else DIFFERS
            if not why and await self._source.pinned(self._tool) == now:
                break
            why = why or CHANGED
        # If Stop comes meanwhile, the result is there.
        self._end("interrupted", CUT_OFF)
        answer = await self._source.call(self._tool, self._given)
        scrub = turn.untrusted.scrub
        fit = await asyncio.to_thread(lambda: tuple(bounded(answer.outputs, scrub)))
        seen = await turn.results.see(fit)
        self._results[self._call.id] = turn.results.make(
            self._call,
            "error" if answer.is_error else "ok",
            title=self._title,
            images=seen.images,
            quoted=turn.untrusted.quoted(seen.text) if seen.text else "",
        )

    def _notices(self, now: str, words: str) -> tuple[str, ...]:
        """What the person should know before deciding."""
        found = list(hidden_characters(words))
        if now != self._tool.pinned:
            found.append(CHANGED)
        if self._turn.cautions.sign:
            found.append(policy.SPOKEN_TO.format(sign=self._turn.cautions.sign))
        return tuple(found)

    def _reject(self, words: str, summary: str = "", by: str = "policy") -> None:
        results = self._turn.results
        self._set(results.not_run(self._call, words, self._title, "", summary, by=by))

    def _end(self, status: Status, words: str, is_error: bool | None = None) -> None:
        results = self._turn.results
        self._set(
            results.make(
                self._call,
                status,
                words,
                title=self._title,
                summary=words,
                is_error=is_error,
            )
        )

    def _set(self, result: Result) -> None:
        self._results[self._call.id] = result
