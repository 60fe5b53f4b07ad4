"""A check that another package adds: it sees a run on a real server, and its findings are shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.installed import installed
from tests.site import Site
from tests.test_added_hooks import result_of

PACKAGE = """
from collections.abc import Iterator

from jupyter_codeinterp.api import CellCode, CellOutputs, Finding, Hook


def before(cell: CellCode) -> Iterator[Finding]:
    if "todo" in cell.source:
        yield Finding("Notes", "The code has a todo.")


async def after(cell: CellCode, outputs: CellOutputs) -> list[Finding]:
    names = [change.name for change in outputs.changes if change.how == "added"]
    return [Finding("x", f"New here: {', '.join(names)}.", audience="model")] if names else []


LOOKS = Hook("looks", before_run=before, after_run=after)
NO_CHECK = "something else"
"""
POINTS = """
[jupyter_codeinterp.hooks]
looks = look_check:LOOKS
broken = look_check:MISSING
nothing = look_check:NO_CHECK
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with installed(tmp_path, monkeypatch, "look_check", PACKAGE, POINTS):
        yield


async def test_what_it_finds_is_told(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([answer(run_cell("amount = 6 * 7  # todo")), answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Multiply")
    draft = await w.draft()
    assert draft.notices == ("looks: The code has a todo.",)
    await w.decide(draft)
    assert (await w.ended()).stop_reason == "end_turn"
    (done,) = w.of(e.ToolDone)
    assert [(one.check, one.sentence) for one in done.findings] == [
        ("looks", "The code has a todo.")
    ]
    result = result_of(api.requests[1].body)
    assert "The code has a todo." in result and "New here: amount." in result
