"""Tools of MCP servers, as tools of the registry. Each call asks the person.

All that a server lists is untrusted. A model's API refuses a whole request for one odd schema. So
it gets a schema with the names and simple types of the parameters only, and the model reads the
server's own schema as a part of the description.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, cast

import msgspec

from ...agent.tools.shared.base import Tool
from ...agent.tools.shared.step import CUT_OFF, DIFFERS, Step, confirm, draft_of, is_refused
from ...base.errors import ToolServerError
from ...base.sentences import Sentence, as_it_is
from ...base.visible import visible_line
from ...run.approval.code_warnings import hidden_characters
from ...run.approval.policy import SPOKEN_TO
from ...view.injection.signs import signs
from ...view.outputs import BUDGET
from ...view.plain_text import READ, clean, cut
from ...view.untrusted import Untrusted
from ...wire.events import Status
from ...wire.messages import ToolUse
from ...wire.ops import Output
from .entries import ServerEntry

LONGEST_DESCRIPTION = 1_000
"""Characters of a description in a request."""
LONGEST_SCHEMA = 8_000
"""Characters of a schema."""
LONGEST_MODEL_NAME = 60
"""Characters of the model's name for a tool. The Messages API allows 64; a number may follow."""
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""A parameter's name, as the Messages API allows."""
_TYPES = ("object", "array", "string", "number", "integer", "boolean")
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


class OutsideTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it. ``server``, ``tool`` and ``description`` are untrusted."""

    server: str
    """The server's name in the configuration."""
    tool: str
    """The server's own name for it."""
    name: str
    """The model's name for it."""
    description: str
    """With the server's schema."""
    schema: dict[str, Any]
    """For the model's API."""
    pinned: str
    """Digest of its name, description and schema."""
    entry: str = ""
    """Digest of the server's entry."""


class OutsideAnswer(NamedTuple):
    """What a call returned."""

    text: str
    is_error: bool = False


Ask = Callable[[OutsideTool, dict[str, Any]], Awaitable[OutsideAnswer]]


class RawTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it, unchecked."""

    name: str
    description: str = ""
    schema: Any = msgspec.field(name="inputSchema", default=None)

    @property
    def digest(self) -> str:
        return hashlib.sha256(msgspec.json.encode(self, order="sorted")).hexdigest()


def outside_tool(entry: ServerEntry, raw: RawTool) -> OutsideTool | None:
    """A tool for a conversation; None if its schema is too long, or its description or schema gives
    the model orders."""
    whole = msgspec.json.encode(raw.schema).decode()
    told = f"{cut(clean(raw.description), LONGEST_DESCRIPTION)}\nInput schema: {clean(whole)}"
    if len(whole) > LONGEST_SCHEMA or signs(told, 1):
        return None
    name = _OTHERS.sub("_", f"mcp__{entry.name}__{raw.name}")[:LONGEST_MODEL_NAME]
    schema = plain_schema(raw.schema)
    return OutsideTool(entry.name, raw.name, name, told, schema, raw.digest, entry.digest)


def plain_schema(given: Any) -> dict[str, Any]:
    """The names of the parameters, and their types if these are simple."""
    parts = given.get("properties") if isinstance(given, dict) else None
    types = {
        name: part.get("type") if isinstance(part, dict) else None
        for name, part in (parts.items() if isinstance(parts, dict) else ())
        if _PARAMETER.fullmatch(name)
    }
    properties = {name: {"type": of} if of in _TYPES else {} for name, of in types.items()}
    return {"type": "object", "properties": properties}


MOST = BUDGET - 500
"""Characters of a result. Stays below the cut that refers to ``read_output``, which cannot read
it."""
LONGEST = 20_000
"""Characters of a call's arguments. A person cannot review more."""
LONGEST_NAME = 30
"""Characters of a name in a title."""
DESCRIPTION = "From the MCP server {server}, another program. Its own description:"
HAS_KEY = Sentence("The arguments contain a key, so nothing was sent. Leave it out.")
NOT_PLAIN = Sentence(
    "The arguments are no plain JSON of at most {limit:,} characters.", limit=LONGEST
)


def tool_for(ask: Ask, tool: OutsideTool, untrusted: Untrusted) -> Tool:
    """The tool for a conversation."""
    server = untrusted.inert(visible_line(tool.server))
    quoted = untrusted.quoted(untrusted.inert(tool.description))

    async def work(step: Step, call: ToolUse, given: dict[str, Any]) -> None:
        if is_refused(step, call):
            return
        try:
            await _ask_and_call(step, call, given, ask, tool)
        except ToolServerError as error:
            status, words = cast("Status", error.code), error.message
            step.results[call.id] = step.turn.results.make(
                call, status, words, title=_title(tool), summary=words, is_error=True
            )

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
    return as_it_is(visible_line(f"{tool.tool[:LONGEST_NAME]} ({tool.server[:LONGEST_NAME]})"))


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


async def _ask_and_call(
    step: Step, call: ToolUse, given: dict[str, Any], ask: Ask, tool: OutsideTool
) -> None:
    """Ask the person, and call the tool. Raises ToolServerError."""
    turn = step.turn
    words = words_of(tool.server, tool.tool, given)
    if turn.untrusted.known(words) != words:
        raise ToolServerError("not_started", HAS_KEY)
    notices = list(hidden_characters(words))
    if turn.cautions.sign:
        notices.append(Sentence(SPOKEN_TO, sign=turn.cautions.sign))
    decision = await confirm(step, call, draft_of(call, "tool", _title(tool), words, *notices))
    if decision is None:
        return
    if decision.source != words:
        raise ToolServerError("not_started", DIFFERS)
    # The result in case Stop comes meanwhile.
    step.results[call.id] = turn.results.make(
        call, "interrupted", CUT_OFF, title=_title(tool), summary=CUT_OFF
    )
    answer = await ask(tool, given)
    outputs = await asyncio.to_thread(outputs_of, answer, turn.untrusted.scrub)
    seen = await turn.results.see(outputs)
    step.results[call.id] = turn.results.make(
        call,
        "error" if answer.is_error else "ok",
        title=_title(tool),
        quoted=turn.untrusted.quoted(seen.text) if seen.text else "",
    )
