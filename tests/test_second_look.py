"""A second look over the real server: the setting of an admin, and that of a person."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.core import commands as c
from jupyter_codeinterp.core import events as e
from tests.fake_anthropic import FakeAnthropic, Request, answer, run_cell, text
from tests.fake_anthropic.turns import Answer
from tests.site import Site

ADMINS, PERSONS = "claude-haiku-5-5", "claude-opus-5-5"


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"second_look": ADMINS}


def script(request: Request) -> Answer:
    if "tools" not in request.body:
        return answer(text('{"verdict": "agrees"}'))
    return answer(text("It is 42.")) if request.step else answer(run_cell("6 * 7", title="Product"))


async def test_the_model_that_is_named_looks_once(site: Site, api: FakeAnthropic) -> None:
    api.play(script)
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("What is 6 * 7?", mode="auto")
    await w.ended()
    assert [note.text for note in w.of(e.Note)] == [f"Second look: {ADMINS} agrees."]
    assert [request.body["model"] for request in api.requests][2:] == [ADMINS]
    assert ADMINS in [use.model for use in w.of(e.UsageChanged)[-1].models]
    message = c.SendMessage("Again?", w.path, w.session_id, mode="auto", second_look=PERSONS)
    await w.send(message)
    await w.ended(2)
    assert [request.body["model"] for request in api.requests][5:] == [PERSONS]
