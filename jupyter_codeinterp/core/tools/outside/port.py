"""What the core needs of MCP servers. The adapter is ``adapters/tool_servers/``."""

from __future__ import annotations

from typing import Any, Protocol

import msgspec

from ...document.ops import Output


class OutsideTool(msgspec.Struct, frozen=True):
    """A tool as its server describes it. Everything but ``name`` is untrusted text."""

    server: str
    """The server's name in the configuration."""
    tool: str
    """The server's own name for it."""
    name: str
    """The model's name for it."""
    description: str
    schema: dict[str, Any]
    """Already checked (``schemas.py``)."""
    pinned: str
    """Digest of the server's entry, and of the tool's name, description and schema."""


class Answer(msgspec.Struct, frozen=True):
    """What a call returned, as outputs of a cell."""

    outputs: tuple[Output, ...]
    is_error: bool = False


class OutsideTools(Protocol):
    """The tools of one conversation."""

    @property
    def tools(self) -> tuple[OutsideTool, ...]: ...

    @property
    def complete(self) -> bool:
        """Whether these are all. If not, because of a fault that may pass, the next turn asks
        again."""

    async def pinned(self, tool: OutsideTool) -> str:
        """The tool's digest as its server describes it now; "" if the server no longer has it.
        Starts the server if it has ended. Raises ToolServerError."""

    async def call(self, tool: OutsideTool, arguments: dict[str, Any]) -> Answer:
        """Raises ToolServerError. Cancelling it cancels the call."""
