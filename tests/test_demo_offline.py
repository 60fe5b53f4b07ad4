"""The offline demo from the first click to the last word: a real server and kernel, no key,
no model, no network."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.models.replay.provider import NAME as DEMO_MODEL
from jupyter_codeinterp.wire import events as e
from tests.reference_window import ReferenceWindow
from tests.site import Site
from tests.test_demo import QUESTION


@pytest.fixture
def environment() -> dict[str, str]:
    return {}


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"demo_pace": 0.0}


def load(path: Path) -> dict[str, Any]:
    """A notebook as a window has it: sources are strings."""
    book: dict[str, Any] = json.loads(path.read_text())
    for cell in book["cells"]:
        cell["source"] = "".join(cell["source"])
    return book


async def begin(site: Site) -> ReferenceWindow:
    """Click on "Try the offline demo"."""
    status = await site.get("status")
    assert not status["configured"]
    given = await site.post("demo")
    path = given["notebook"]
    book = load(Path(site.app.root_dir, path))
    return await site.window(path, book, await site.kernel_of(path))


@pytest.mark.parametrize("run_all", [False, True], ids=["cell by cell", "run all"])
async def test_the_demo_to_its_end(site: Site, run_all: bool) -> None:
    w = await begin(site)
    theirs = len(w.cells)
    assert (await w.ask(QUESTION, mode="auto")).error is None
    drafts = 0
    while not w.of(e.TurnEnded):
        await w.until(partial(_another, w, drafts))
        for waiting in w.of(e.DraftWaiting)[drafts:]:
            drafts += 1
            assert waiting.draft.can_run_all, "by a click, in no mode by itself"
            assert (await w.decide(waiting.draft, run_all=run_all)).error is None

    (ended,) = w.of(e.TurnEnded)
    assert ended.stop_reason == "end_turn" and not ended.failed
    assert w.of(e.TurnStarted)[0].model == DEMO_MODEL
    ran = [x for x in w.of(e.ToolDone) if x.name in ("run_cell", "edit_cell")]
    assert [x.status for x in ran].count("error") == 1 and any(x.fixed for x in ran)
    ((wrong, found),) = [(number, x.findings) for number, x in enumerate(ran) if x.findings]
    assert [one.sentence.partition(";")[0] for one in found] == [
        "`clean['revenue'] == 0` matched 0 of 429 rows"
    ]
    assert ran[wrong + 1].cell_id == ran[wrong].cell_id, "the next call repairs it"
    (found,) = (one.figures for one in w.of(e.FiguresFound))
    assert len(found) >= 4 and all(one.origin is not None for one in found)
    assert len(ran) >= 4 and drafts == (1 if run_all else len(ran))
    added = w.cells[theirs:]
    assert all(cell["cell_type"] in ("code", "markdown") for cell in added)
    outputs = [output for cell in added for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output["output_type"] == "error"]
    assert [output for output in outputs if "image/png" in output.get("data", {})]

    # The figures in the answer are those that the kernel has printed.
    said = re.sub(r"\]\(#cell:[^)]*\)", "]", w.of(e.TextDone)[-1].text)
    figures = set(re.findall(r"\d+(?:[.,]\d+)?", said))
    assert len(figures) >= 3
    printed = " ".join(x.detail for x in ran)
    numbers = [float(x.replace(",", "")) for x in re.findall(r"-?\d[\d,]*(?:\.\d+)?", printed)]
    sources = " ".join(cell["source"] for cell in w.cells)
    for figure in figures:
        value = float(figure.replace(",", ""))
        near = any(abs(abs(number) - value) < 0.06 * max(1.0, value) for number in numbers)
        assert near or figure in sources, figure
    asked = {name for name, _ in site.extension.workbench.models._connections}
    assert "anthropic" not in asked, "no model was asked for anything"


async def test_the_demo_that_is_open_is_played_and_one_that_is_gone_is_made_anew(
    site: Site,
) -> None:
    first = (await site.post("demo"))["notebook"]
    assert (await site.post("demo", json_body={"notebook": first}))["notebook"] == first
    again = (await site.post("demo", json_body={"notebook": "codeinterp-demo-7/sales.ipynb"}))[
        "notebook"
    ]
    assert again not in (first, "codeinterp-demo-7/sales.ipynb")
    assert load(Path(site.app.root_dir, again))["cells"]


async def test_a_message_that_the_recording_does_not_know(site: Site) -> None:
    w = await begin(site)
    await w.ask("What is the capital of France?")
    ended = await w.ended()
    assert ended.stop_reason == "end_turn"
    said = w.of(e.TextDone)[-1].text
    assert "key" in said and "demo" in said.lower()
    assert not w.of(e.DraftWaiting)
    # In another notebook there is no model without a key, and that is said.
    other = await site.window("mine.ipynb")
    await other.ask("Which region grew fastest?")
    assert (await other.ended()).code == "no_key"


def _another(w: ReferenceWindow, seen: int) -> bool:
    """A draft more, or the end."""
    return len(w.of(e.DraftWaiting)) > seen or bool(w.of(e.TurnEnded))
