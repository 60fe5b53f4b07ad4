"""The key of a provider of another package, before anybody has asked for that provider."""

from __future__ import annotations

import msgspec
import pytest

from jupyter_codeinterp.base.sentences import to_journal
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.rest_client import rest_client
from tests.site import Site
from tests.test_added_providers import ACME_KEY
from tests.test_added_providers import codeinterp_config as codeinterp_config
from tests.test_added_providers import package as package


@pytest.fixture(autouse=True)
def no_preload(monkeypatch: pytest.MonkeyPatch) -> None:
    """No thread that a window starts is quicker than what is tried."""
    preload = "jupyter_codeinterp.app.workbench.preload"
    monkeypatch.setattr(preload, lambda *others: None)


async def test_it_is_in_the_very_first_message(site: Site, api: FakeAnthropic) -> None:
    api.play([answer(text("Hello."))])
    w = await site.window()
    await w.ask(f"My key is {ACME_KEY}", model="claude-sonnet-5-5")
    await w.ended()
    assert "My key is" in str(api.requests[0].body) and ACME_KEY not in str(api.requests[0].body)
    store = site.extension.workbench.store
    kept = store.events(w.session_id), store.messages(w.session_id), store.get(w.session_id)
    assert ACME_KEY.encode() not in msgspec.json.encode(kept, enc_hook=to_journal)


async def test_it_is_in_code_that_is_completed(site: Site, api: FakeAnthropic) -> None:
    """No conversation is there, nor will be."""
    api.play([answer(text("pass"))])
    client = await rest_client(site)
    await client.post("complete", before="use(key)", above=[f"key = '{ACME_KEY}'"])
    sent = str(api.requests[0].body)
    assert "key = " in sent and ACME_KEY not in sent
