"""Decisions under attack, from a raw client: what does not fit lets nothing reach the kernel.

What the kernel was asked is counted by a second client that sees all of its iopub, and
each test ends with an allowed run that this client does see.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.ops import SetSource
from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import ReferenceWindow
from tests.site import Site, Watch

CODE = "print('effect')"


class Case:
    """A draft that waits, the window that shows it, and who watches the kernel."""

    def __init__(self, site: Site, window: ReferenceWindow, watch: Watch, kernel_id: str) -> None:
        self.site = site
        self.window = window
        self.watch = watch
        self.kernel_id = kernel_id

    async def nothing_ran(self) -> None:
        assert await self.watch.reached() == []

    async def ran_once(self, source: str = CODE) -> None:
        """The turn ends, and what was decided has run, once."""
        ended = await self.window.ended()
        assert ended.stop_reason == "end_turn", ended
        assert await self.watch.sources() == [source]
        assert len(await self.watch.reached()) == 1


@pytest.fixture
def waiting(site: Site, api: FakeAnthropic) -> Callable[[], Awaitable[Case]]:
    async def begin() -> Case:
        api.play(in_order([answer(run_cell(CODE)), answer(text("Done."))]))
        kernel_id = await site.kernel()
        window = await site.window(kernel_id=kernel_id)
        assert (await window.ask("Go")).error is None
        await window.draft()
        await site.guarded(kernel_id)
        return Case(site, window, await site.watch(kernel_id), kernel_id)

    return begin


Waiting = Callable[[], Awaitable[Case]]


async def test_forged_decisions(waiting: Waiting) -> None:
    case = await waiting()
    w = case.window
    draft = await w.draft()
    good = c.Decide(w.session_id, draft.draft_id, draft.nonce, "run", draft.source)
    forged: dict[str, tuple[dict[str, Any], str]] = {
        "a nonce of nobody's": ({"nonce": "A" * len(draft.nonce)}, "stale_decision"),
        "no nonce": ({"nonce": ""}, "stale_decision"),
        "half a nonce": ({"nonce": draft.nonce[:-1]}, "stale_decision"),
        "a nonce and more": ({"nonce": draft.nonce + "x"}, "stale_decision"),
        "the draft's id as nonce": ({"nonce": draft.draft_id}, "stale_decision"),
        "another draft": ({"draft_id": "0" * 16}, "unknown_draft"),
        "no draft": ({"draft_id": ""}, "unknown_draft"),
        "the cell's id": ({"draft_id": draft.cell_id}, "unknown_draft"),
        "no such session": ({"session_id": "0" * 32}, "unknown_session"),
        "code of its own": ({"nonce": "x", "source": "print('forged')"}, "stale_decision"),
        "all in this turn": ({"nonce": "x", "run_all": True}, "stale_decision"),
    }
    for name, (changes, error) in forged.items():
        assert (await w.send(msgspec.structs.replace(good, **changes))).error == error, name
    await case.nothing_ran()
    assert w.of(e.DraftDecided) == []

    assert (await w.decide(draft)).error is None
    await case.ran_once()


async def test_a_decision_is_good_once(waiting: Waiting) -> None:
    case = await waiting()
    w = case.window
    draft = await w.draft()
    other = await case.site.bare_window()
    other.session_id = w.session_id
    replies = await asyncio.gather(
        *(w.decide(draft) for _ in range(5)), *(other.decide(draft) for _ in range(5))
    )
    errors = [reply.error for reply in replies]
    assert errors.count(None) == 1 and errors.count("already_decided") == 9
    await case.ran_once()
    assert (await w.decide(draft)).error == "already_decided"
    assert (await other.decide(draft)).error == "already_decided"
    await case.ran_once()


async def test_the_word_of_the_second_window_comes_too_late(waiting: Waiting) -> None:
    case = await waiting()
    draft = await case.window.draft()
    other = await case.site.window()
    other.session_id = case.window.session_id
    assert not other.leases[-1].held
    assert (await case.window.decide(draft, "reject")).error is None
    assert (await other.decide(draft, source="print('too late')")).error == "already_decided"
    assert (await case.window.ended()).stop_reason == "end_turn"
    await case.nothing_ran()
    # What the watcher would have seen:
    assert await case.watch.run("print('seen')") == "seen\n"
    assert case.watch.person.sources()[-1] == "print('seen')"


async def test_another_sessions_decision(waiting: Waiting, api: FakeAnthropic) -> None:
    """Two conversations on one notebook: the words of one do not decide in the other."""
    case = await waiting()
    draft = await case.window.draft()
    api.play(lambda request: answer(run_cell("print('other')")) if request.step == 0 else DONE)
    other = await case.site.window(kernel_id=case.kernel_id)
    await other.ask("Me too")
    theirs = await other.draft()
    assert theirs.draft_id != draft.draft_id
    send = case.window.send
    for session, draft_id, nonce in (
        (other.session_id, draft.draft_id, draft.nonce),
        (case.window.session_id, theirs.draft_id, theirs.nonce),
    ):
        reply = await send(c.Decide(session, draft_id, nonce, "run", CODE))
        assert reply.error == "unknown_draft"
    reply = await send(c.Decide(case.window.session_id, draft.draft_id, theirs.nonce, "run", CODE))
    assert reply.error == "stale_decision"
    await asyncio.sleep(0)
    # The second message looked at the kernel's variables, which is no code of the model's.
    assert await case.watch.sources() == []
    await other.send(c.Cancel(other.session_id))
    await other.ended()
    await case.window.decide(draft)
    await case.window.ended()
    assert await case.watch.sources() == [CODE]


DONE = answer(text("Done."))


async def test_edited_after_the_decision(waiting: Waiting) -> None:
    """The cell changes after the person's word and before the run: nothing runs, and the
    person is asked again, about what stands there now."""
    case = await waiting()
    w = case.window
    draft = await w.draft()
    cell = w.cell(draft.cell_id)
    assert cell is not None
    w.notebook, _ = apply(w.notebook, SetSource(draft.cell_id, "print('edited')", CODE))
    assert (await w.decide(draft)).error is None
    again = await w.draft(2)
    assert again.source == "print('edited')"
    assert again.nonce != draft.nonce
    await case.nothing_ran()
    assert (await w.decide(draft)).error == "stale_decision", "the old word is used up"
    assert (await w.decide(again, nonce=draft.nonce)).error == "stale_decision"
    await case.nothing_ran()

    assert (await w.decide(again)).error is None
    await case.ran_once("print('edited')")


async def test_another_kernel(waiting: Waiting) -> None:
    """The notebook got another kernel after the draft was shown: neither runs anything."""
    case = await waiting()
    w = case.window
    draft = await w.draft()
    second = await case.site.kernel()
    other = await case.site.watch(second)
    assert (await w.send(c.KernelOf("a.ipynb", second))).error is None
    assert (await w.decide(draft)).error is None
    again = await w.draft(2)
    assert "changed" in again.notices[0]
    await case.nothing_ran()
    assert await other.sources() == []

    assert (await w.decide(again)).error is None
    assert (await w.ended()).stop_reason == "end_turn"
    assert await other.sources() == [CODE]
    await case.nothing_ran()


async def test_a_window_without_the_lease_names_no_kernel(waiting: Waiting) -> None:
    """Nor does one that has not opened the notebook, and a receipt or a read that it sends
    counts for nothing."""
    case = await waiting()
    w = case.window
    draft = await w.draft()
    second = await case.site.kernel()
    other = await case.site.watch(second)
    stale = await case.site.window(kernel_id=second)
    stranger = await case.site.bare_window()
    for window in (stale, stranger):
        for _ in range(2):
            assert (await window.send(c.KernelOf("a.ipynb", second))).error is None
    await stale.open(second)
    assert (await stranger.send(c.DraftGone("a.ipynb", draft.cell_id))).error is None
    assert (await stale.send(c.DraftGone("a.ipynb", draft.cell_id))).error is None
    assert (await w.decide(draft)).error is None
    await case.ran_once()
    assert await other.sources() == []


async def test_a_kernel_that_is_not_the_servers(waiting: Waiting) -> None:
    case = await waiting()
    w = case.window
    draft = await w.draft()
    assert (await w.send(c.KernelOf("a.ipynb", "no-such-kernel"))).error is None
    assert (await w.decide(draft)).error is None
    done: e.ToolDone = await w.event(e.ToolDone)
    assert done.status == "not_started"
    await w.ended()
    await case.nothing_ran()
