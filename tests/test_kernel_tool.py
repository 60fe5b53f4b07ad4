"""The tool ``kernel``: it asks in every mode but Plan, and says what a restart has taken."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, Request, answer, call, in_order, run_cell, text
from tests.reference_window import ReferenceWindow
from tests.site import Site

DONE = answer(text("Done."))


def kernel(action: str, **more: str) -> Any:
    return answer(call("kernel", {"action": action, **more}))


async def opened(site: Site) -> tuple[ReferenceWindow, str]:
    kernel_id = await site.kernel_of("a.ipynb")
    return await site.window(kernel_id=kernel_id), kernel_id


def result(api: FakeAnthropic) -> str:
    """The last tool result that the model got."""
    return Request(api.requests[-1].body).results[-1]


@pytest.mark.parametrize("mode", ["review", "auto"])
async def test_a_restart_asks_and_says_what_is_gone(
    site: Site, api: FakeAnthropic, mode: str
) -> None:
    api.play(in_order([answer(run_cell("alpha = 1\nbeta = 2")), kernel("restart"), DONE]))
    w, kernel_id = await opened(site)
    watch = await site.watch(kernel_id)
    await w.ask("Go", mode)
    if mode == "review":
        await w.decide(await w.draft())
    draft = await w.draft(2 if mode == "review" else 1)
    assert (draft.kind, draft.cell_id, draft.runs, draft.can_run_all) == (
        "kernel",
        "",
        False,
        False,
    )
    assert "All variables will be gone." in draft.source
    assert await watch.run("print(alpha)") == "1\n", "nothing happens before the decision"
    await w.decide(draft)
    await w.ended()
    done = w.of(e.ToolDone)[-1]
    assert (done.name, done.status, done.summary) == ("kernel", "ok", "All variables are gone.")
    assert "run its cell with run_cells" in result(api)
    watch = await site.watch(kernel_id)
    assert "NameError" in await watch.run(
        "try: alpha\nexcept NameError as error: print(type(error).__name__)"
    )


async def test_plan_refuses(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([kernel("restart"), DONE]))
    w, _ = await opened(site)
    await w.ask("Go", "plan")
    await w.ended()
    assert w.of(e.DraftWaiting) == []
    assert w.of(e.ToolDone)[-1].status == "not_run"
    assert "the kernel is not touched" in result(api)


async def test_a_rejected_restart_changes_nothing(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([kernel("restart"), DONE]))
    w, kernel_id = await opened(site)
    watch = await site.watch(kernel_id)
    await watch.run("x = 20")
    await w.ask("Go", "auto")
    await w.decide(await w.draft(), "reject")
    await w.ended()
    assert w.of(e.ToolDone)[-1].status == "rejected"
    assert await watch.run("print(x)") == "20\n"


async def test_a_decision_holds_for_one_start_of_the_kernel(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([kernel("restart"), DONE]))
    w, kernel_id = await opened(site)
    await w.ask("Go")
    draft = await w.draft()
    await site.restart(kernel_id)
    watch = await site.watch(kernel_id)
    await watch.run("x = 20")
    await w.decide(draft)
    again = await w.draft(2)
    assert again.nonce != draft.nonce and "restarted" in again.notices[0]
    assert await watch.run("print(x)") == "20\n", "the first decision is void"
    await w.decide(again)
    await w.ended()
    assert w.of(e.ToolDone)[-1].status == "ok"


async def test_a_decision_on_other_words_asks_again(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([kernel("restart"), DONE]))
    w, _ = await opened(site)
    await w.ask("Go")
    await w.decide(await w.draft(), source="print(1)")
    again = await w.draft(2)
    await w.decide(again, "reject")
    await w.ended()


async def test_an_interrupt_ends_what_the_person_runs(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([kernel("interrupt"), DONE]))
    w, kernel_id = await opened(site)
    watch = await site.watch(kernel_id)
    msg_id = watch.person.run("import time\nwhile True: time.sleep(0.01)")
    await w.ask("Go", "auto")
    draft = await w.draft()
    assert not watch.person.has(msg_id, "status", "idle")
    await w.decide(draft)
    await w.ended()
    await watch.person.finished(msg_id)
    assert "the kernel is idle" in result(api)
    assert "gone" not in result(api)


async def test_another_kernel_takes_the_place_of_the_notebooks(
    site: Site, api: FakeAnthropic
) -> None:
    steps = [kernel("change", kernelspec="python3"), answer(run_cell("print('new')")), DONE]
    api.play(in_order(steps))
    w, kernel_id = await opened(site)
    await w.ask("Go", "auto")
    draft = await w.draft()
    assert draft.title == "Change the kernel to Python 3 (ipykernel)"
    await w.decide(draft)
    await w.ended()
    assert "new" in w.of(e.ToolDone)[-1].detail, "also while the window reports the old one"
    now = await site.kernel_of("a.ipynb")
    assert now != kernel_id
    assert w.of(e.RunStarted)[-1].kernel_id == now
    assert kernel_id not in site.app.kernel_manager


async def test_an_unknown_kernelspec_is_named_before_anybody_is_asked(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(in_order([kernel("change", kernelspec="cobol"), DONE]))
    w, _ = await opened(site)
    await w.ask("Go")
    await w.ended()
    assert w.of(e.DraftWaiting) == []
    assert "There is no kernelspec 'cobol'. Installed:" in result(api)
    assert "python3" in result(api)


async def test_stop_while_it_waits(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([kernel("restart"), DONE]))
    w, kernel_id = await opened(site)
    watch = await site.watch(kernel_id)
    await watch.run("x = 20")
    await w.ask("Go")
    draft = await w.draft()
    await w.send(c.Cancel(w.session_id))
    await w.ended()
    assert (await w.decide(draft)).error == "unknown_draft"
    assert w.of(e.ToolDone)[-1].status == "not_started"
    assert await watch.run("print(x)") == "20\n"


@pytest.mark.parametrize("mode", ["plan", "review"])
async def test_a_look_at_the_kernel_asks_nobody(site: Site, api: FakeAnthropic, mode: str) -> None:
    api.play(in_order([kernel("status"), DONE]))
    w, _ = await opened(site)
    await w.ask("Go", mode)
    await w.ended()
    words = result(api)
    assert words.startswith("status=ok") and "idle, 0 cells have run in it" in words
    assert "kernelspec python3: Python 3" in words
    assert "pandas " in words and "statsmodels is not installed" in words
