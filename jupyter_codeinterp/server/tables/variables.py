"""Tables that are variables of a notebook's kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from ...core.ports import KernelInfo
from .shapes import TableAnswer, TableAsked, answer_from, refusal


class TableKernel(Protocol):
    async def info(self) -> KernelInfo: ...

    async def table(self, asked: dict[str, Any]) -> dict[str, Any]: ...


class VariableTables:
    def __init__(self, kernel: Callable[[str], TableKernel]) -> None:
        """``kernel`` takes the notebook's path."""
        self._kernel = kernel

    async def of(self, notebook: str, asked: TableAsked) -> TableAnswer:
        """Starts no kernel and waits for no busy one. Raises CommandError ``table_…`` or
        KernelError."""
        if not asked.name.isidentifier():
            raise refusal({"refused": "gone", "detail": asked.name})
        kernel = self._kernel(notebook)
        sent = msgspec.to_builtins(asked)
        del sent["notebook"], sent["file"], sent["kernel"]
        reported = await kernel.table(sent)
        info = await kernel.info()
        now = f"{info.kernel_id} {info.start}"
        if reported.get("refused") == "gone" and asked.kernel not in ("", now):
            reported = {**reported, "refused": "restarted"}
        return answer_from(reported, now)
