"""A run without a cell: the same decision and kernel, and nothing of it in the notebook."""

from __future__ import annotations

import asyncio

from ..document.ops import Receipt
from ..ports import ExecutionDone, OutputsChanged, Slot
from .execution import RESTARTED, Execution


class Scratch(Execution):
    """Its outputs are on the card and go to the model."""

    async def _begin(self) -> bool:
        self.turn.notebook.worked = True
        return True

    def _show_outputs(self, event: OutputsChanged) -> None:
        """The card has them at the end."""

    async def _noted(self, slot: Slot, done: ExecutionDone) -> tuple[str, ...]:
        return ()

    async def _shown(self, done: ExecutionDone) -> tuple[str, ...]:
        self._ended = True
        return ()

    def _post_end(
        self, done: ExecutionDone | None, trusted: bool | None = None, kept: str = ""
    ) -> asyncio.Future[Receipt]:
        self._ended = True
        receipt: asyncio.Future[Receipt] = asyncio.get_running_loop().create_future()
        receipt.set_result(Receipt("done"))
        return receipt

    def _back_to_draft(self) -> None:
        self.ask_again = RESTARTED

    def _ran(self) -> None:
        """The notebook has nothing of it."""
