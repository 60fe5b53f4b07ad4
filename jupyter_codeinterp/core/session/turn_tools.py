"""The tools of a conversation's turns: the agent's own, and those of MCP servers."""

from __future__ import annotations

from ..model_view.untrusted import Untrusted
from ..tools.outside.tool import tools_of
from ..tools.registry import ToolRegistry
from .persistence import Workplace


class TurnTools:
    def __init__(self, own: ToolRegistry, workplace: Workplace) -> None:
        self._own = self.registry = own
        self._workplace = workplace
        self._complete = False
        """Whether ``registry`` has the tools of MCP servers, too: from the first turn on, unless
        a fault hides some."""
        self._said: set[str] = set()

    async def find(self, untrusted: Untrusted) -> list[str]:
        """Add the tools of MCP servers. Returns what a person should know and has not read yet.

        Once they are complete, tools stay the same within a conversation, because models cache
        them."""
        if self._complete:
            return []
        found = await self._workplace.outside_tools()
        self._complete = found is None or found[0].complete
        if found is None:
            return []
        tools, faults = tools_of(found[0], untrusted)
        self.registry = self._own.with_outside(tools)
        new = [words for words in dict.fromkeys((*found[1], *faults)) if words not in self._said]
        self._said.update(new)
        return new
