"""A tool call at work, in a task of its own.

While its draft waits, the person may write about it. The call is then answered with "not run yet"
and the model is asked again. The call goes on meanwhile, and its outcome follows as a message.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ..events import Event
from ..messages import AnyBlock, Image, Text, ToolResult, ToolUse
from ..tools.tools import Tools
from .conversation import OUTCOME

NOT_YET = (
    "Not run yet: the draft waits for the person's decision. They have written a message about "
    "it, which follows. Answer it in words, and the draft goes on waiting: you will learn its "
    "outcome. Or write other code with run_cell or edit_cell, which replaces the draft."
)
THEIR_VERSION = "They have edited the draft. It now reads:"
REPLACED = "A newer draft replaced this one."

log = logging.getLogger(__name__)


class CallAtWork:
    """``show`` gets its events as they come."""

    def __init__(
        self, tools: Tools, call: ToolUse, invalid: str | None, show: Callable[[Event], None]
    ) -> None:
        self.call = call
        self._tools = tools
        self._decisions = tools.turn.decisions
        self._show = show
        self._task = asyncio.ensure_future(self._carry_out(invalid))

    async def _carry_out(self, invalid: str | None) -> None:
        async for event in self._tools.run(self.call, invalid):
            self._show(event)

    @property
    def ended(self) -> bool:
        return self._task.done()

    @property
    def waits(self) -> bool:
        """Whether its draft waits for a decision. Only one call at a time has a draft."""
        return not self.ended and self._decisions.draft is not None

    @property
    def is_discussed(self) -> bool:
        return self.waits and self._decisions.written_about

    async def news(self) -> None:
        """Wait until it has ended, its draft begins to wait, or the person writes about it."""
        news = self._decisions.news()
        try:
            await asyncio.wait({self._task, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    def check(self) -> None:
        """Raise what ended it, if an exception did."""
        self._task.result()

    def not_yet(self) -> ToolResult:
        """The answer to the call while its draft waits."""
        source = self._decisions.cell_source
        quoted = ""
        if source is not None:
            quoted = f"{THEIR_VERSION}\n{self._tools.turn.untrusted.shown(source)}"
        return self._tools.not_yet(self.call, NOT_YET, quoted)

    def outcome(self) -> tuple[AnyBlock, ...]:
        """What became of it, for the model. One text, so that it is not taken for the person's."""
        content = self._tools.results[self.call.id].block.content
        text = "\n".join(block.text for block in content if isinstance(block, Text))
        images = (block for block in content if isinstance(block, Image))
        return (Text(f"{OUTCOME}{text}"), *images)

    # --- ends ------------------------------------------------------------------------

    async def cancel(self) -> None:
        """Stop it, as Stop does. ``stop`` then settles it."""
        self._task.cancel()
        await asyncio.wait({self._task})
        if not self._task.cancelled() and self._task.exception() is not None:
            log.error("A tool call failed as its turn ended", exc_info=self._task.exception())

    def stop(self, words: str) -> list[Event]:
        return self._tools.stop((self.call,), words)

    async def replace(self) -> list[Event]:
        """Withdraw its draft."""
        await self.cancel()
        return self.stop(REPLACED)
