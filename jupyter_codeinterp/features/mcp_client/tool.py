"""Makes tools of the registry from tools of MCP servers. Each call asks the person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from ...agent.tools.shared.base import Tool
from ...agent.tools.shared.step import CUT_OFF, DIFFERS, Step, confirm, draft_of, is_refused
from ...base.errors import ToolServerError
from ...base.sentences import Sentence, as_it_is
from ...base.visible import visible_line
from ...run.approval.code_warnings import hidden_characters
from ...run.approval.policy import SPOKEN_TO
from ...view.injection.signs import signs
from ...view.outputs import BUDGET, IMAGES_A_RESULT
from ...view.plain_text import READ, clean, cut
from ...view.untrusted import Untrusted
from ...wire.events import Status
from ...wire.messages import ToolUse
from ...wire.ops import Output
from .tools import LONGEST_DESCRIPTION, BadTool, OutsideAnswer, OutsideTool, texts

if TYPE_CHECKING:
    from .servers import ToolServers

MOST = BUDGET - 500
"""Characters of a result. Stays below the cut that refers to ``read_output``, which cannot read
it."""
LONGEST = 20_000
"""Characters of a call's arguments. A person cannot review more."""
LONGEST_TITLE = 60
LONGEST_NAME = 60
DESCRIPTION = "From the MCP server {server}, another program. Its own description:"
SPEAKS = "its description or its schema gives the model orders"
HAS_OURS = "its input schema contains a key or one of our delimiters"
GONE = Sentence("The server no longer has this tool.")
HAS_KEY = Sentence("The arguments contain a key, so nothing was sent. Leave it out.")
CHANGED = Sentence(
    "The server has changed the tool's description since the conversation began. The model knows "
    "the old one."
)

_STATUS: dict[str, Status] = {"ended": "error", "too_slow": "timeout", "refused": "error"}
"""The status of a failed call that had begun, by the error's code."""


def tools_of(
    source: ToolServers, found: Iterable[OutsideTool], untrusted: Untrusted
) -> tuple[list[Tool], list[Sentence]]:
    """The tools for one conversation, and why others are left out."""
    made: list[Tool] = []
    faults: list[Sentence] = []
    for tool in found:
        try:
            made.append(_tool(source, tool, untrusted))
        except BadTool as error:
            faults.append(Sentence("{tool}: {why}.", tool=_title(tool), why=error))
    return made, faults


def _tool(source: ToolServers, tool: OutsideTool, untrusted: Untrusted) -> Tool:
    """Raises BadTool."""
    told = clean(tool.description)
    inside = list(texts(tool.schema))
    if any(signs(text, 1) for text in (told, *inside)):
        raise BadTool(SPEAKS)
    if any(untrusted.inert(text) != text for text in inside):
        raise BadTool(HAS_OURS)
    server = untrusted.inert(visible_line(tool.server)[:LONGEST_NAME])
    quoted = untrusted.quoted(untrusted.inert(cut(told, LONGEST_DESCRIPTION)))

    async def work(step: Step, call: ToolUse, given: dict[str, Any]) -> None:
        await _Call(step, call, given, source, tool).run()

    return Tool(
        tool.name,
        _title(tool),
        f"{DESCRIPTION.format(server=server)}\n{quoted}",
        dict,
        effect="changes",
        work=work,
        action="outside",
        whole_schema=tool.schema,
    )


def _title(tool: OutsideTool) -> Sentence:
    text = visible_line(f"{tool.tool} ({tool.server})")
    return as_it_is(text if len(text) <= LONGEST_TITLE else text[: LONGEST_TITLE - 1] + "…")


class NotCalled(ValueError):
    """Nothing was sent, and why."""

    def __init__(self, why: Sentence) -> None:
        super().__init__(str(why))
        self.why = why


def words_of(server: str, tool: str, arguments: dict[str, Any]) -> str:
    """The text of a call that a person reads before they decide: nothing cut, nothing hidden.
    Raises NotCalled if a person could not review it."""
    try:
        plain = json.dumps(arguments, indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        raise NotCalled(Sentence("The arguments are no plain JSON.")) from None
    if len(plain) > LONGEST:
        words = "The arguments have {count:,} characters; {limit:,} are allowed."
        raise NotCalled(Sentence(words, count=len(plain), limit=LONGEST))
    # The same JSON with escapes for characters that cannot be seen.
    seen = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in plain)
    return f"Server: {visible_line(server)}\nTool: {visible_line(tool)}\nArguments: {seen}"


def outputs_of(answer: OutsideAnswer, scrub: Callable[[str], str]) -> list[Output]:
    """The answer within the limits of a result, and without keys."""
    text, images = cut(clean(scrub(cut(answer.text, READ))), MOST), answer.images
    if len(images) > IMAGES_A_RESULT:
        text += f"\n[{len(images) - IMAGES_A_RESULT} more images not shown]"
    shown: Output = {"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}
    return [*images[:IMAGES_A_RESULT], *([shown] if text else [])]


class _Call:
    def __init__(
        self,
        step: Step,
        call: ToolUse,
        given: dict[str, Any],
        source: ToolServers,
        tool: OutsideTool,
    ) -> None:
        self._turn = step.turn
        self._step = step
        self._call = call
        self._given = given
        self._source = source
        self._tool = tool
        self._title = _title(tool)

    async def run(self) -> None:
        if is_refused(self._step, self._call):
            return
        try:
            words = words_of(self._tool.server, self._tool.tool, self._given)
            if self._turn.untrusted.known(words) != words:
                raise NotCalled(HAS_KEY)
            await self._ask_and_call(words)
        except NotCalled as error:
            self._end("not_started", error.why)
        except ToolServerError as error:
            self._end(_STATUS.get(error.code, "not_started"), error.message, is_error=True)

    async def _ask_and_call(self, words: str) -> None:
        turn, why = self._turn, Sentence()
        while True:
            now = await self._source.pinned(self._tool)
            if not now:
                raise NotCalled(GONE)
            notices = self._notices(now, words)
            draft = draft_of(self._call, "tool", self._title, words, why, *notices)
            decision = await confirm(self._step, self._call, draft)
            if decision is None:
                return
            why = Sentence() if decision.source == words else DIFFERS
            if not why and await self._source.pinned(self._tool) == now:
                break
            why = why or CHANGED
        # The result in case Stop comes meanwhile.
        self._end("interrupted", CUT_OFF)
        answer = await self._source.call(self._tool, self._given)
        scrub = turn.untrusted.scrub
        seen = await turn.results.see(await asyncio.to_thread(outputs_of, answer, scrub))
        self._step.results[self._call.id] = turn.results.make(
            self._call,
            "error" if answer.is_error else "ok",
            title=self._title,
            images=seen.images,
            quoted=turn.untrusted.quoted(seen.text) if seen.text else "",
        )

    def _notices(self, now: str, words: str) -> tuple[Sentence, ...]:
        """What the person should know before deciding."""
        found = list(hidden_characters(words))
        if now != self._tool.pinned:
            found.append(CHANGED)
        if self._turn.cautions.sign:
            found.append(Sentence(SPOKEN_TO, sign=self._turn.cautions.sign))
        return tuple(found)

    def _end(self, status: Status, words: Sentence, is_error: bool | None = None) -> None:
        self._step.results[self._call.id] = self._turn.results.make(
            self._call, status, words, title=self._title, summary=words, is_error=is_error
        )
