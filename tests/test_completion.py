"""What a model is asked while a person types, and what of its answer is shown."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jupyter_codeinterp.features.completion.completion import (
    ABOVE,
    AFTER,
    BEFORE,
    CURSOR,
    LINES,
    MOST,
    Unfinished,
    insertion,
    request,
)
from jupyter_codeinterp.wire.messages import Text
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.reference_window import body
from tests.rest_client import rest_client
from tests.site import Site


def asked(cell: Unfinished, *names: str) -> str:
    made = request("small", cell, names, lambda words: words.replace(KEY, "[key]"))
    assert made.brief and not made.tools
    [message] = made.messages
    [block] = message.content
    assert isinstance(block, Text)
    return block.text


def test_the_model_sees_the_cell_with_one_cursor_and_what_stands_above() -> None:
    said = asked(Unfinished("y = x", f" # {CURSOR}", ("import math", "x = 1")), "x: int")
    assert said.endswith(f"The cell:\n\ny = x{CURSOR} # ")
    assert said.index("import math") < said.index("x = 1") < said.index("x: int")


def test_what_is_sent_is_bounded_and_holds_no_key() -> None:
    # Each key lies across the place where its text is cut.
    cell = Unfinished(
        "a" * 9_000 + KEY + "b" * (BEFORE - 5),
        "c" * (AFTER - 5) + KEY + "d" * 9_000,
        (*["e" * 9_000] * 20, "f" * 9_000 + KEY + "g" * (ABOVE - 5)),
        KEY,
    )
    said = asked(cell, *(f"name{number}: {KEY}" for number in range(900)))
    assert len(said) < BEFORE + AFTER + ABOVE + 100 * 40 + 500
    assert all(KEY[start : start + 6] not in said for start in range(len(KEY) - 6))


@pytest.mark.parametrize(
    ("answer", "before", "after", "shown"),
    (
        ("2 * x", "y = ", "", "2 * x"),
        ("```python\n2 * x\n```", "y = ", "", "2 * x"),
        ("```\na\nb\n```\nThis adds.", "", "", "a\nb"),
        # What is typed already is not typed again.
        ("total = sum(x)", "total = ", "", "sum(x)"),
        ("return total", "def f():\n    return ", "", "total"),
        ("    return total", "def f():\n    return ", "", "total"),
        # Three characters may well be how a word begins.
        ("index]", "rows[in", "]", "index"),
        ("x)", "print(", ")", "x"),
        ("f(x)", "print(", ")", "f(x)"),
        ("'a', [1, 2]", "g(", ", [1, 2])", "'a', [1, 2]"),
        ("'a', [1, 2])", "g(", ", [1, 2])", "'a'"),
        (f"a{CURSOR}b", "", "", "ab"),
        ("\nb = 2\n", "a = 1", "", "\nb = 2"),
        ("", "a", "b", ""),
        ("  \n ", "a", "", ""),
    ),
)
def test_what_is_shown_is_what_is_new(answer: str, before: str, after: str, shown: str) -> None:
    assert insertion(answer, before, after) == shown


def test_what_is_shown_is_bounded() -> None:
    assert len(insertion("a" * 9_000, "", "")) == MOST
    assert insertion("a\n" * 90, "", "").count("\n") == LINES - 1


# --- over HTTP -----------------------------------------------------------------------

HALF = {"before": "area = 3.14 * ", "above": ["radius = 2"]}
SLOW = answer(text("radius ** 2")).at(first=60)


async def test_it_is_answered_at_once_by_the_model_that_is_named(
    site: Site, api: FakeAnthropic
) -> None:
    client = await rest_client(site)
    api.play([answer(text("```python\nradius ** 2\n```"))])
    given = {**HALF, "above": [f"key = '{KEY}'", "radius = 2"], "model": "claude-haiku-5-5"}
    assert await client.post("complete", **given) == {
        "text": "radius ** 2",
        "model": "claude-haiku-5-5",
    }
    [exchange] = api.requests
    assert exchange.body["model"] == "claude-haiku-5-5"
    assert exchange.body["max_tokens"] == 300
    assert "thinking" not in exchange.body and "tools" not in exchange.body
    assert KEY not in str(exchange.body) and "radius = 2" in str(exchange.body)


async def test_it_knows_the_names_of_the_kernel_but_no_private_ones(
    site: Site, api: FakeAnthropic
) -> None:
    client = await rest_client(site)
    api.play([answer(text("radii"))])
    person = await site.watch(await site.kernel_of("n.ipynb"))
    await person.run("radii = [1, 2, 3]; salary = 7")
    await client.post("complete", **HALF, notebook="n.ipynb", hidden=["salary"])
    [exchange] = api.requests
    assert "radii: list [3]" in str(exchange.body) and "salary" not in str(exchange.body)


async def test_a_new_one_ends_the_one_before_and_other_windows_keep_theirs(
    site: Site, api: FakeAnthropic
) -> None:
    client, other = await rest_client(site), await rest_client(site)
    api.play([SLOW, SLOW, answer(text("radius"))])
    first = asyncio.ensure_future(client.send("POST", "complete", **HALF))
    await api.seen(1)
    theirs = asyncio.ensure_future(other.send("POST", "complete", **HALF))
    await api.seen(2)
    assert (await client.post("complete", **HALF))["text"] == "radius"
    code, refusal = await first
    assert (code, refusal["code"]) == (409, "no_longer_waits")
    await asyncio.wait_for(api.requests[0].gone.wait(), 20)
    assert not theirs.done() and not api.requests[1].gone.is_set()
    theirs.cancel()


async def test_nobody_pays_for_what_nobody_waits_for(site: Site, api: FakeAnthropic) -> None:
    client = await rest_client(site)
    api.play([SLOW])
    async with client.raw("POST", "complete", **HALF):
        await api.seen(1)
    await asyncio.wait_for(api.requests[0].gone.wait(), 20)


async def test_what_makes_no_sense_is_refused_in_words(site: Site, api: FakeAnthropic) -> None:
    client = await rest_client(site)
    cases: list[tuple[dict[str, Any], int, str]] = [
        ({"before": 7}, 400, "malformed"),
        ({"after": "x"}, 400, "malformed"),
        ({"before": "x", "more": 1}, 400, "malformed"),
        ({"before": "x" * 1_100_000}, 413, "too_large"),
        ({"before": "x", "model": "nobody/knows"}, 400, "unknown_model"),
        ({"before": "x", "model": "offline-demo"}, 400, "unknown_model"),
    ]
    for given, code, word in cases:
        status, refusal = await client.send("POST", "complete", **given)
        assert (status, refusal["code"]) == (code, word), refusal


async def test_the_servers_token_alone_completes_nothing(site: Site, api: FakeAnthropic) -> None:
    """Code in a kernel may have it."""
    refused = await site.request("POST", "complete", json_body=HALF)
    assert (refused.code, body(refused)["code"]) == (403, "no_window")
    assert not api.requests


class TestSwitchedOff:
    @pytest.fixture
    def codeinterp_config(self, codeinterp_config: dict[str, Any]) -> dict[str, Any]:
        return {**codeinterp_config, "inline_completion": False}

    async def test_an_admin_may_have_none(self, site: Site, api: FakeAnthropic) -> None:
        client = await rest_client(site)
        status, refusal = await client.send("POST", "complete", **HALF)
        assert (status, refusal["code"]) == (403, "not_allowed")
        assert "switched off" in refusal["message"] and not api.requests
