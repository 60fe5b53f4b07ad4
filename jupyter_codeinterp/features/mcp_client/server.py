"""One approved MCP server, in a process of its own (``helper.py``), and its tools.

All texts of a server are untrusted. A model's API refuses a whole request for one odd schema. So it
gets a schema with the names and simple types of the parameters only, and the model reads the
server's own schema as a part of the description.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

from ..._version import __version__
from ...base.errors import ToolServerError
from ...base.sentences import Sentence
from ...base.visible import visible_line
from ...view.injection.signs import signs
from ...view.plain_text import clean, cut
from .entries import ServerEntry, filled, secrets_of

HELPER = "jupyter_codeinterp.features.mcp_client.helper"
STARTS_WITHIN = 30.0
"""Seconds. ``npx`` and ``uvx`` may download the program first."""
LISTS_WITHIN = 10.0
CALLS_WITHIN = 300.0
ENDS_WITHIN = 6.0
LONGEST = 5_000_000
"""Bytes of the helper's answer."""
NOT_INSTALLED = Sentence(
    "MCP servers need a package. Install it and restart the server: "
    "pip install 'jupyter_codeinterp[mcp]'"
)
FAULTS = {
    "not_started": Sentence("It did not start. {words}"),
    "ended": Sentence("The server ended during this. It may have done something. {words}"),
    "refused": Sentence("The server refused it: {words}"),
}
"""By the code of the error."""
OFF = Sentence("This server is turned off.")
TOO_SLOW = Sentence("The server did not answer within {limit:g} s. It may have done something.")

LONGEST_DESCRIPTION = 1_000
"""Characters of a description in a request."""
LONGEST_SCHEMA = 8_000
"""Characters of a schema."""
LONGEST_NAME = 300
"""Characters of a tool's own name. A card shows it whole, above the arguments."""
MOST_PARAMETERS = 50
LONGEST_MODEL_NAME = 60
"""Characters of the model's name for a tool. The Messages API allows 64; a number may follow."""
SPEAKS = Sentence("its description or its schema gives the model orders")
TOO_LONG = Sentence("its schema has more than {limit:,} characters", limit=LONGEST_SCHEMA)
NAME_TOO_LONG = Sentence("its name has more than {limit:,} characters", limit=LONGEST_NAME)
_PARAMETER = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
"""A parameter's name, as the Messages API allows."""
_TYPES = ("object", "array", "string", "number", "integer", "boolean")
_OTHERS = re.compile(r"[^a-zA-Z0-9_-]")


class OutsideTool(NamedTuple):
    """A tool as its server describes it. All but ``entry`` is untrusted."""

    entry: str
    """Digest of the server's entry."""
    server: str
    """The server's name in the configuration."""
    tool: str
    """The server's own name for it."""
    description: str
    schema: str
    """JSON with sorted keys."""

    @property
    def name(self) -> str:
        """The model's name for it. Tools of two servers may share it."""
        return _OTHERS.sub("_", f"mcp__{self.server}__{self.tool}")[:LONGEST_MODEL_NAME]

    @property
    def told(self) -> str:
        """The description for the model."""
        described = cut(clean(self.description), LONGEST_DESCRIPTION)
        return f"{described}\nInput schema: {clean(self.schema)}"

    @property
    def fault(self) -> Sentence:
        """Why conversations do not get it; "" if they do."""
        if len(self.tool) > LONGEST_NAME:
            return NAME_TOO_LONG
        if len(self.schema) > LONGEST_SCHEMA:
            return TOO_LONG
        return SPEAKS if signs(self.told, 1) else Sentence()

    @property
    def parameters(self) -> dict[str, Any]:
        """The schema for the model's API: names of parameters, and their types if simple."""
        given = json.loads(self.schema)
        parts = given.get("properties") if isinstance(given, dict) else None
        named = list(parts.items())[:MOST_PARAMETERS] if isinstance(parts, dict) else []
        properties: dict[str, Any] = {}
        for name, part in named:
            if _PARAMETER.fullmatch(name):
                kind = part.get("type") if isinstance(part, dict) else None
                properties[name] = {"type": kind} if kind in _TYPES else {}
        return {"type": "object", "properties": properties}


class OutsideAnswer(NamedTuple):
    """What a call returned."""

    text: str
    is_error: bool = False


class Server:
    """It starts on demand, also again after its end."""

    def __init__(self, entry: ServerEntry, scrub: Callable[[str], str]) -> None:
        """``scrub`` removes keys."""
        self.entry = entry
        self.secrets = secrets_of(entry)
        """Texts that are redacted while it is on."""
        self._scrub = scrub
        self._one = asyncio.Lock()
        self._process: asyncio.subprocess.Process | None = None
        self._closed = False
        self._endings: list[asyncio.Future[None]] = []

    async def list_tools(self) -> list[OutsideTool]:
        """The server's current tools. Raises ToolServerError."""
        one, answer = self.entry, await self._asked({}, LISTS_WITHIN)
        return [OutsideTool(one.digest, one.name, *tool) for tool in answer["tools"]]

    async def call(self, tool: str, arguments: dict[str, Any]) -> OutsideAnswer:
        """Cancelling it ends the server. Raises ToolServerError. No call is repeated, because it
        may have done something."""
        request = {"tool": tool, "arguments": arguments}
        return OutsideAnswer(**await self._asked(request, CALLS_WITHIN))

    async def _asked(self, request: dict[str, Any], within: float) -> dict[str, Any]:
        async with self._one:
            if self._process is None:
                await self._start()
            return await self._answer(request, within)

    async def _start(self) -> None:
        if find_spec("mcp") is None:
            raise ToolServerError("not_started", NOT_INSTALLED)
        if not self._closed:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", HELPER),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                cwd="/",
                limit=LONGEST,
                start_new_session=True,
            )
        if self._closed:
            # Somebody may have closed it meanwhile. The helper has no entry yet.
            await self.close()
            raise ToolServerError("not_started", OFF)
        one = self.entry
        entry = {"url": one.url, "command": one.command, "args": one.args, "values": filled(one)}
        await self._answer({**entry, "version": __version__}, STARTS_WITHIN, "not_started")

    async def _answer(
        self, request: dict[str, Any], within: float, fault: str = "ended"
    ) -> dict[str, Any]:
        """The helper's answer. Ends the helper if there is none, also if this is cancelled."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        answer: dict[str, Any] = {"ended": ""}
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            line = await asyncio.wait_for(process.stdout.readline(), within)
            answer = json.loads(line) if line else answer
        except asyncio.TimeoutError:
            raise ToolServerError("too_slow", Sentence(TOO_SLOW, limit=within)) from None
        except (ValueError, RecursionError) as error:
            answer = {"ended": str(error)}
        finally:
            if "ended" in answer:
                self._end()
        for key, code in (("refused", "refused"), ("ended", fault)):
            if key in answer:
                words = self._scrub(visible_line(answer[key]))
                raise ToolServerError(code, Sentence(FAULTS[code], words=words))
        return answer

    def _end(self) -> None:
        """End the helper, and so the server, in the background."""
        process, self._process = self._process, None
        if process is not None:
            self._endings.append(asyncio.ensure_future(_ended(process)))

    async def close(self) -> None:
        """End it for good, also for calls that wait."""
        self._closed = True
        self._end()
        await asyncio.gather(*self._endings)


async def _ended(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        await asyncio.wait_for(process.wait(), ENDS_WITHIN)
    except asyncio.TimeoutError:
        process.kill()
        await process.wait()
