"""Silencing a finding, and protecting a variable, from a window of a real server."""

from __future__ import annotations

from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, run_cell, text
from tests.reference_window import notebook
from tests.site import Site

FEWER = answer(call("run_cell", {"expects": {"rows": 3}, "source": "[1, 2]"}))
DONE = answer(text("Done."))


async def test_a_window_silences_a_finding(site: Site, api: FakeAnthropic) -> None:
    api.play(in_order([FEWER, DONE, FEWER, DONE]))
    w = await site.window("a.ipynb", kernel_id=await site.kernel_of("a.ipynb"))
    await w.ask("Go", mode="auto")
    await w.ended()
    (finding,) = w.of(e.ToolDone)[0].findings
    for key in ("", "0" * 16, finding.key.upper()):
        reply = await w.send(c.SilenceFinding(w.session_id, key))
        assert reply.error == "unknown_finding", key
    assert (await w.send(c.SilenceFinding(w.session_id, finding.key))).error is None
    (you,) = (frame for frame in w.frames if isinstance(frame, c.YouAre))
    silenced = await w.event(e.FindingSilenced)
    assert silenced == e.FindingSilenced(finding.key, True, you.window)

    # Another conversation about the notebook does not report it; the same code elsewhere does.
    w.session_id = ""
    await w.ask("Again", mode="auto")
    await w.ended(2)
    last = w.of(e.ToolDone)[-1]
    assert last.findings == ()
    assert site.extension.store.silenced("b.ipynb") == frozenset()


async def test_a_variable_protected_while_the_agent_works_counts_at_once(
    site: Site, api: FakeAnthropic
) -> None:
    one, two = answer(run_cell("a = 1")), answer(run_cell("a = 2"))
    api.play(in_order([one, two, two, DONE]))
    w = await site.window("a.ipynb", notebook("1"))
    await w.ask("Go")
    draft = await w.draft()
    await w.send(c.SetMode(w.session_id, "auto"))
    w.notebook["metadata"]["codeinterp_protect"] = ["a", 7, "no name"]
    await w.post(c.PersonActed("a.ipynb", protected=("a", "no name")))
    await w.decide(draft)
    second = await w.draft(2)
    assert second.notices == ("Changes the protected `a`.",)
    assert site.extension.manager.notebooks.at("a.ipynb").protected == ("a",)
    await w.post(c.PersonActed("a.ipynb", protected=()))
    await w.decide(second)
    assert (await w.ended()).stop_reason == "end_turn"
    assert len(w.of(e.DraftWaiting)) == 2
