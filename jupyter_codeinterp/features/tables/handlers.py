"""``POST tables``: a page of a table, for the person. No data goes to a model."""

from __future__ import annotations

import msgspec

from ...extensions import Route
from ...server.rest.base import Handler
from ...server.rest.notebooks import path_of
from ...wire.commands import EXECUTE, LOOK
from .shapes import TableAnswer, TableAsked, answer_from, refusal


async def tables(handler: Handler) -> TableAnswer:
    """Starts no kernel and waits for no busy one. Raises CommandError ``table_…`` or
    KernelError."""
    asked = handler.given(TableAsked)
    notebook = path_of(asked.notebook)
    if not asked.name.isidentifier():
        raise refusal({"refused": "gone", "detail": asked.name})
    kernel = handler.bench.kernel_at(notebook)
    sent = msgspec.to_builtins(asked)
    del sent["notebook"], sent["kernel"]
    reported = await kernel.table(sent)
    info = await kernel.info()
    now = f"{info.kernel_id} {info.start}"
    if reported.get("refused") == "gone" and asked.kernel not in ("", now):
        reported = {**reported, "refused": "restarted"}
    return answer_from(reported, now)


ROUTES = (Route("POST", r"tables", (EXECUTE, LOOK), tables),)
