"""Makes tools of the registry from tools of MCP servers. Each call asks the person."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...agent.tools.shared.base import Tool
from ...agent.tools.shared.step import CUT_OFF, DIFFERS, Step, confirm, draft_of, is_refused
from ...agent.tools.shared.titles import title_of
from ...base.errors import ToolServerError
from ...base.sentences import Sentence
from ...base.visible import visible_line
from ...run.approval.code_warnings import hidden_characters
from ...run.approval.policy import SPOKEN_TO
from ...run.turn.results import NONE
from ...view.outputs import BUDGET
from ...view.plain_text import READ, clean, cut
from ...view.untrusted import Untrusted
from ...wire.events import Status
from ...wire.messages import ToolUse
from ...wire.ops import Output
from .server import OutsideAnswer, OutsideTool

if TYPE_CHECKING:
    from .servers import ToolServers

MOST = BUDGET - 500
"""Characters of a result. Stays below the cut that refers to ``read_output``, which cannot read
it."""
LONGEST = 20_000
"""Characters of a call's arguments. A person cannot review more."""
DESCRIPTION = "From the MCP server {server}, another program. Its own description:"
HAS_KEY = Sentence("The arguments contain a key, so nothing was sent. Leave it out.")
NOT_PLAIN = Sentence(
    "The arguments are no plain JSON of at most {limit:,} characters.", limit=LONGEST
)

_STATUS: dict[str, Status] = {"ended": "error", "too_slow": "timeout", "refused": "error"}
"""The status of a failed call that had begun, by the error's code."""


def tool_for(source: ToolServers, name: str, tool: OutsideTool, untrusted: Untrusted) -> Tool:
    """The tool for a conversation; ``name`` is the model's."""
    title = title_of(visible_line(f"{tool.tool} ({tool.server})"), "")
    server = untrusted.inert(visible_line(tool.server))
    quoted = untrusted.quoted(untrusted.inert(tool.told))

    async def work(step: Step, call: ToolUse, given: dict[str, Any]) -> None:
        turn = step.turn

        def end(
            status: Status, words: Sentence = NONE, theirs: str = "", is_error: bool | None = None
        ) -> None:
            """``theirs``: the server's text, which is data. ``words`` may quote it for a person."""
            step.results[call.id] = turn.results.make(
                call,
                status,
                words.changed(lambda _: "") if theirs else words,
                title=title,
                summary=words,
                is_error=is_error,
                quoted=turn.untrusted.quoted(theirs) if theirs else "",
            )

        if is_refused(step, call):
            return
        try:
            if not await _confirmed(step, call, title, words_of(tool.server, tool.tool, given)):
                return
            # The result in case Stop comes meanwhile.
            end("interrupted", CUT_OFF)
            answer = await source.call(tool, given)
        except ToolServerError as error:
            theirs = turn.untrusted.inert(error.message.arguments.get("words", ""))
            end(_STATUS.get(error.code, "not_started"), error.message, theirs, is_error=True)
            return
        outputs = await asyncio.to_thread(outputs_of, answer, turn.untrusted.scrub)
        seen = await turn.results.see(outputs)
        end("error" if answer.is_error else "ok", theirs=seen.text)

    return Tool(
        name,
        title,
        f"{DESCRIPTION.format(server=server)}\n{quoted}",
        dict,
        effect="changes",
        work=work,
        action="outside",
        whole_schema=tool.parameters,
    )


async def _confirmed(step: Step, call: ToolUse, title: Sentence, words: str) -> bool:
    """Ask the person. If they reject it, the call has its result. Raises ToolServerError if it
    must not be sent."""
    turn = step.turn
    if turn.untrusted.known(words) != words:
        raise ToolServerError("not_started", HAS_KEY)
    sign = turn.cautions.sign
    spoken = Sentence(SPOKEN_TO, sign=sign) if sign else NONE
    draft = draft_of(call, "tool", title, words, *hidden_characters(words), spoken)
    decision = await confirm(step, call, draft)
    if decision is not None and decision.source != words:
        raise ToolServerError("not_started", DIFFERS)
    return decision is not None


def words_of(server: str, tool: str, arguments: dict[str, Any]) -> str:
    """The text of a call that a person reads before they decide: nothing cut, nothing hidden.
    Raises ToolServerError if a person could not review it."""
    try:
        plain = json.dumps(arguments, indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        plain = ""
    if not 0 < len(plain) <= LONGEST:
        raise ToolServerError("not_started", NOT_PLAIN)
    # The same JSON with escapes for characters that cannot be seen.
    seen = "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in plain)
    return f"Server: {visible_line(server)}\nTool: {visible_line(tool)}\nArguments: {seen}"


def outputs_of(answer: OutsideAnswer, scrub: Callable[[str], str]) -> list[Output]:
    """The answer within the limits of a result, and without keys."""
    text = cut(clean(scrub(cut(answer.text, READ))), MOST)
    return [{"output_type": "display_data", "data": {"text/plain": text}, "metadata": {}}]
