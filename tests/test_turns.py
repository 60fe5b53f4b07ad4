"""Turns of a session: a scripted model, a notebook in memory, a real kernel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from jupyter_codeinterp.adapters.sqlite_store import SqliteStore
from jupyter_codeinterp.core import events as e
from jupyter_codeinterp.core.document import Notebook
from jupyter_codeinterp.core.session import Rules

from tests.kernels import kernel_manager, running_kernel
from tests.reference_window import notebook
from tests.scripted import Bench, Turn, mend, run, say


@asynccontextmanager
async def bench(
    folder: Path, script: Sequence[Turn], book: Notebook | None = None, rules: Rules | None = None
) -> AsyncIterator[Bench]:
    store = SqliteStore(folder / "sessions.db")
    async with kernel_manager() as kernels, running_kernel(kernels) as (_, kernel, _):
        yield Bench(store, kernel, script, book or notebook("x = 20"), rules)
    store.close()


async def test_a_reviewed_cell_runs_and_its_result_goes_back(tmp_path: Path) -> None:
    async with bench(tmp_path, [run("21 * 2", title="Double"), say("It is 42.")]) as b:
        b.document.active_cell_id = "c1"
        b.send("What is twice 21?")
        draft = (await b.event(e.DraftWaiting)).draft
        assert b.document.cell(draft.cell_id)["cell_type"] == "raw"
        assert (draft.title, draft.source, draft.kind) == ("Double", "21 * 2", "insert")
        b.decide(draft)
        ended = await b.event(e.TurnEnded)

        assert ended.stop_reason == "end_turn"
        cell = b.document.notebook["cells"][1]
        assert cell["cell_type"] == "code"
        assert cell["outputs"][0]["data"]["text/plain"] == "42"
        result = b.model.requests[1].messages[-1].content[0]
        assert result.content[0].text.startswith("status=ok")
        assert "42" in result.content[0].text
        # Whether a kernel that has just started is idle yet is a matter of chance.
        sequence = [type(x).__name__ for x in b.events if not isinstance(x, e.KernelWaiting)]
        assert sequence == [
            "TitleChanged", "TurnStarted", "StepStarted", "ToolStarted", "DraftOpened", "UsageChanged",
            "DraftWaiting", "DraftDecided", "RunStarted", "ToolDone", "StepStarted",
            "TextDone", "UsageChanged", "TurnEnded",
        ]  # fmt: skip
