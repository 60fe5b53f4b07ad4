"""Outputs that come after the end of their run: into the cell that they came from, as in Lab."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.session.session import add_late_outputs
from jupyter_codeinterp.view.outputs import full_text
from jupyter_codeinterp.wire.ops import FinishRun
from tests.core.conftest import Room
from tests.kernels import until
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]

TASK = """
import asyncio
go = asyncio.Event()
async def work():
    await go.wait()
    print("from a task")
task = asyncio.ensure_future(work())
print("begun")
"""
THREAD = """
import os, threading, time
def work():
    while not os.path.exists({path!r}):
        time.sleep(0.01)
    print("from a thread")
threading.Thread(target=work).start()
print("begun")
"""
SHOWN = """
shown = display("begun", display_id="d")
print("and more")
"""
GO, UPDATE = "go.set()", "shown.update(5 * 'late')"
LATE = [
    ("a thread", THREAD, "", "from a thread"),
    *((by, TASK, GO, "from a task") for by in ("the agent", "the person")),
    *((by, SHOWN, UPDATE, "latelatelatelatelate") for by in ("the agent", "the person")),
]


def shows(b: Bench, cell_id: str) -> str:
    cell: dict[str, Any] = b.document.cell(cell_id) or {}
    return full_text(cell["outputs"])


@pytest.mark.parametrize(("by", "code", "more", "words"), LATE)
async def test_they_are_in_the_cell(
    bench: Benches, room: Room, tmp_path: Path, by: str, code: str, more: str, words: str
) -> None:
    """After the turn, or in it by a later cell of the agent."""
    go = tmp_path / "go"
    code = code.replace("{path!r}", repr(str(go)))
    waits = run(f"{more}\nimport time; time.sleep(1.5)")
    turn = (run(code), waits) if by == "the agent" else (run(code),)
    b = bench(*turn, say("Done."))
    await b.turn()
    cell_id = b.document.notebook["cells"][1]["id"]
    if by == "the person":
        await room.run(more)
    go.touch()
    await until(lambda: words in shows(b, cell_id))


async def test_nothing_active_comes_late_into_a_trusted_cell(bench: Benches, room: Room) -> None:
    """Code that nobody has reviewed can change what a reviewed cell displays."""
    b = bench(run(SHOWN), say("Done."))
    await b.turn()
    cell = b.document.notebook["cells"][1]
    for value, trusted in (
        ("'plain'", True),
        ("{'text/html': '<script>1</script>'}, raw=True", None),
    ):
        assert cell["metadata"]["trusted"] is True
        await room.run(f"shown.update({value})")
        await until(lambda: b.document.notebook["cells"][1] is not cell)  # noqa: B023
        cell = b.document.notebook["cells"][1]
        assert cell["metadata"].get("trusted") is trusted


class Counted(dict[str, Any]):
    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return super().__eq__(other)

    __hash__ = None


async def test_a_thousand_outputs_after_the_end_are_compared_by_place(
    bench: Benches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each with each takes seconds, in which the whole server stands."""
    b = bench(run("print(1)"), say("Done."))
    await b.turn()
    cell = b.document.notebook["cells"][1]
    run_id = b.session.log.ledger.last_run(cell["id"])
    assert run_id
    first, later = (
        tuple(
            Counted(output_type="display_data", data={"text/plain": f"{n}{words}"}, metadata={})
            for n in range(1_000)
        )
        for words in ("a", "b")
    )
    end = FinishRun(cell["id"], run_id, first, 1, trusted=True)
    monkeypatch.setattr(Counted, "compared", 0)
    await add_late_outputs(b.session.log, 1, end, later)
    assert "999b" in shows(b, cell["id"])
    assert Counted.compared < 10_000
