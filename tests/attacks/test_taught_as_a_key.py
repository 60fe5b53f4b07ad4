"""What redaction takes for a key: what works as one, for as long as it is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from jupyter_codeinterp.base.sentences import to_journal
from jupyter_codeinterp.models.offered import Models
from jupyter_codeinterp.run.approval.code_warnings import SAVED_KEY
from jupyter_codeinterp.view.redaction.secrets import REMOVED, Secrets
from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, call, run_cell, text
from tests.site import Site

CODE = "os.system('touch x')"


async def test_code_is_taught_as_a_key(site: Site, api: FakeAnthropic) -> None:
    """A key that its server refuses is none, and stays in code that people are asked about."""
    secrets = site.extension.workbench.secrets
    for key in (CODE, "password", "x" * 15_000):
        refused = await site.set_key(key=key, base_url="http://127.0.0.1:9")
        assert refused.code >= 400
        assert secrets.scrub(f"a {key} b") == f"a {key} b"


async def test_a_key_that_is_deleted_is_a_word_again(tmp_path: Path, api: FakeAnthropic) -> None:
    known = Secrets()
    made = Models(tmp_path, known, default_model="sonnet", base_url=None)
    await made.connect("anthropic", "a-dummy-password", api.url)
    assert known.scrub("a-dummy-password") == REMOVED
    await made.connect("anthropic", "another-password", api.url)
    assert known.scrub("a-dummy-password another-password") == f"a-dummy-password {REMOVED}"
    made.forget("anthropic")
    assert known.scrub("another-password") == "another-password"
    await made.close()


async def test_the_tokens_of_dead_kernels_are_forgotten(site: Site) -> None:
    secrets = site.extension.workbench.secrets
    kernels: Any = site.app.kernel_manager
    first = await site.kernel()
    known = len(secrets._values)
    for _ in range(3):
        await kernels.shutdown_kernel(first, now=True)
        first = await site.kernel()
    assert len(secrets._values) == known


async def test_a_dummy_key_is_an_ordinary_word(tmp_path: Path, api: FakeAnthropic) -> None:
    """A server that takes any key is told one that stands in everybody's code."""
    known = Secrets()
    made = Models(tmp_path, known, default_model="sonnet", base_url=None)
    for key in ("password", "not-needed", "sk-no-key-required", "xxxxxxxxxxxx", "12345678"):
        await made.connect("anthropic", key, api.url)
        assert known.scrub(f"the {key} column") == f"the {key} column"
    await made.close()


WORKS = "a-key-that-works-1"
DRAFTS = {
    "code": (run_cell(f"x = {WORKS!r}"), f"x = {WORKS!r}"),
    "text": (call("add_markdown", {"source": f"Use {WORKS}."}), f"Use {WORKS}."),
}


@pytest.mark.parametrize("kind", DRAFTS)
@pytest.mark.parametrize("mode", ["auto", "review"])
async def test_a_person_approves_another_text_than_runs(
    site: Site, api: FakeAnthropic, kind: str, mode: str
) -> None:
    """What was learnt as a key stands in a draft. All see all of it, and are asked."""
    block, source = DRAFTS[kind]
    api.play([answer(block), answer(text("Done."))])
    site.extension.workbench.secrets.add(WORKS)
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Hi", mode=mode)
    draft = await w.draft()
    assert draft.source == source and SAVED_KEY in draft.notices
    told = await site.get("sessions", w.session_id, "events")
    assert source in told["events"][-1]["event"]["draft"]["source"]
    assert (await w.decide(draft, "run")).error is None
    await w.ended()
    assert w.cells[-1]["source"] == source
    kept = msgspec.json.encode(
        site.extension.workbench.store.events(w.session_id), enc_hook=to_journal
    )
    assert WORKS.encode() not in kept


async def test_a_page_that_reads_late_sees_another_text_than_runs(
    site: Site, api: FakeAnthropic
) -> None:
    """It gets from the journal what is no longer in memory."""
    block, source = DRAFTS["code"]
    api.play([answer(block), answer(text("Done."))])
    site.extension.workbench.secrets.add(WORKS)
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Hi")
    await w.draft()
    log = site.extension.manager.session(w.session_id).event_log
    while b"draft_waiting" not in log._recent[0][1]:
        log._recent.popleft()
    told = [e.read_event(data) for _, data in log.journaled(0)]
    (waiting,) = (event for event in told if isinstance(event, e.DraftWaiting))
    assert len(told) > 3 and waiting.draft.source == source
