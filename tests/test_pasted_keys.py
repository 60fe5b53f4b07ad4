"""What looks like a key is not sent: the table of its forms, and every door of the server."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from jupyter_codeinterp.models.offered.registry import Models
from jupyter_codeinterp.view.redaction.found_secrets import KEY_FORMS, looks_like_key, without_keys
from jupyter_codeinterp.view.redaction.secrets import REMOVED, Secrets
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.reference_window import notebook
from tests.rest_client import rest_client
from tests.site import Site

LETTERS = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6kL9nO2qR5tU8wX1zA4cD7fG0iJ3lM6oP9rS2uV5xY8"
KEYS = {
    "anthropic": f"sk-ant-api03-{LETTERS}",
    "openrouter": f"sk-or-v1-{LETTERS[:64].lower()}",
    "openai": f"sk-proj-{LETTERS}",
    "deepseek": f"sk-{LETTERS[:32].lower()}",
    "moonshot": f"sk-{LETTERS[:48]}",
    "xai": f"xai-{LETTERS}",
    "gemini": f"AIza{LETTERS[:35]}",
    "bedrock": f"ABSK{LETTERS}==",
    "zai": "0123456789abcdef0123456789abcdef.aB3dE6gH9jK2mN5p",
    "mistral": LETTERS[:32],
    "azure-openai": "0123456789abcdef0123456789abcdef",
    "foundry": (LETTERS * 2)[:84],
}
"""A key of each provider that issues recognizable ones."""
ALONE = ("mistral", "azure-openai", "foundry")
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmU\n"
ORDINARY = (
    "",
    "Which region grew fastest? Show it.",
    "My key begins with sk-ant-…",
    "Use sk-learn-contrib-examples-and-tools",
    "the desk-2 and risk-adjusted-return-2024-2025 columns",
    "Compare d41d8cd98f00b204e9800998ecf8427e with the file's digest",
    "0" * 32,
    "a" * 84,
    "-----BEGIN PUBLIC KEY-----",
    "cell 01234567-89ab-cdef-0123-456789abcdef",
    "x" * 100_000,
)


@pytest.mark.parametrize("provider", KEYS)
@pytest.mark.parametrize("words", ["%s", "  %s\n", "Here is my key: %s", "api_key='%s'"])
def test_each_providers_keys_are_recognized(provider: str, words: str) -> None:
    text = words % KEYS[provider]
    alone = words.strip() == "%s"
    assert looks_like_key(text) == (alone or provider not in ALONE)
    if looks_like_key(text):
        assert KEYS[provider] not in without_keys(text)
        assert REMOVED in without_keys(text)
    found = [form for form in KEY_FORMS if provider in form.providers]
    assert any(re.search(form.pattern, KEYS[provider]) for form in found)


def test_a_private_key_is_recognized() -> None:
    assert looks_like_key(f"What is this?\n{PRIVATE}")


@pytest.mark.parametrize("text", ORDINARY, ids=lambda text: text[:20])
def test_ordinary_text_is_no_key(text: str) -> None:
    assert not looks_like_key(text)
    assert without_keys(text) == text


def test_each_form_of_a_key_is_a_providers(tmp_path: Path) -> None:
    known = {provider for form in KEY_FORMS for provider in form.providers}
    models = Models(tmp_path, Secrets(), default_model="claude-sonnet-5-5", base_url=None)
    assert len(known) > 5 and known <= {one.provider for one in models.connections()}


# --- the doors of the server ---------------------------------------------------------------

PASTED = KEYS["anthropic"]
DONE = answer(text("Done."))


async def test_a_window_is_refused_and_nothing_remains(site: Site, api: FakeAnthropic) -> None:
    api.play(lambda request: DONE)
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    manager = site.extension.manager
    reply = await w.send(c.SendMessage(f"Use {PASTED}", "a.ipynb", mode="auto"))
    assert reply.error == "looks_like_key"
    assert "looks like an API key" in reply.message and PASTED not in reply.message
    assert (await site.get("sessions"))["sessions"] == []

    assert (await w.ask("Hello", mode="auto")).error is None
    await w.ended()
    await site.until(lambda: not manager.running)
    for command in (
        c.SendMessage(PASTED, "a.ipynb", w.session_id),
        c.Branch(w.session_id, 1, PASTED),
    ):
        assert (await w.send(command)).error == "looks_like_key"
    assert len((await site.get("sessions"))["sessions"]) == 1
    assert PASTED not in str(manager.store.events(w.session_id))
    assert PASTED not in str([exchange.body for exchange in api.exchanges])


async def test_what_is_sent_on_purpose_is_sent_and_is_no_title(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(lambda request: DONE)
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    command = c.SendMessage(f"Is {PASTED} a key?", "a.ipynb", mode="auto", with_key=True)
    reply = await w.send(command)
    assert reply.error is None
    manager = site.extension.manager
    await site.until(lambda: not manager.running)
    session_id = reply.result["session_id"]
    (started,) = [
        event for _, event in manager.store.events(session_id) if isinstance(event, e.TurnStarted)
    ]
    assert started.text == f"Is {PASTED} a key?"
    assert manager.session(session_id).info.title == f"Is {REMOVED} a key?"


async def test_a_key_that_the_server_knows_is_removed_as_ever(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(lambda request: DONE)
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    assert (await w.ask(f"Is {KEY} a key?", mode="auto")).error is None
    await w.ended()
    assert KEY not in str(api.exchanges[-1].body)


async def test_a_program_is_refused_too(site: Site, api: FakeAnthropic, jp_root_dir: Path) -> None:
    api.play(lambda request: DONE)
    (jp_root_dir / "a.ipynb").write_text(json.dumps(notebook("x = 1")))
    client = await rest_client(site)
    session_id = client.conversation("a.ipynb")
    status, said = await client.try_command("send_message", session_id, text=PASTED)
    assert (status, said["code"]) == (400, "looks_like_key")
    sent = await client.command("send_message", session_id, text=PASTED, with_key=True)
    assert sent["did"] == "begin"
    await site.until(lambda: not site.extension.manager.running)
    status, said = await client.try_command("branch", session_id, turn=1, text=PASTED)
    assert (status, said["code"]) == (400, "looks_like_key")
