"""Code in a kernel asks models and hangs up at once, so that nobody counts what the server pays."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from jupyter_codeinterp.kernel.inside.mark import TOKEN, URL
from jupyter_codeinterp.models.offered.limits import today
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.fake_anthropic.turns import wrong_key
from tests.magic.test_kernel_models import ASK, post, started
from tests.site import Site

SONNET = "claude-sonnet-5-5"
DEAR = (1e6, 1e6, 1e6, 1e6)
"""A dollar a token."""
LONG = {
    **ASK,
    "messages": [{"role": "user", "content": [{"type": "text", "text": "word " * 300}]}],
}
"""Some 500 tokens."""
SLOW = answer(text("Never heard.")).at(first=600.0)


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"day_cost": 900.0, "prices": {SONNET: DEAR}}


def _asking(env: dict[str, str]) -> bytes:
    url = urlsplit(env[URL])
    body = json.dumps(LONG).encode()
    head = (
        f"POST {url.path}/ask HTTP/1.1\r\nHost: {url.netloc}\r\n"
        f"Authorization: Bearer {env[TOKEN]}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _spent(site: Site) -> float:
    return site.extension.workbench.store.spent(today().isoformat())


async def test_a_kernel_hangs_up_before_the_first_word_again_and_again(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(lambda request: SLOW)
    async with started(site) as kernel:
        env = await kernel.environment()
        url = urlsplit(env[URL])
        for number in (1, 2):
            _, writer = await asyncio.open_connection(url.hostname, url.port)
            writer.write(_asking(env))
            await api.seen(number)
            assert _spent(site) > 450 * number, "it is paid for as soon as it is sent"
            writer.close()
            await asyncio.wait_for(api.requests[number - 1].gone.wait(), 30)
        assert _spent(site) > 900
        assert (await post(env[URL], env[TOKEN])).code == 400
    assert len(api.requests) == 2


async def test_a_kernel_dies_before_the_first_word(site: Site, api: FakeAnthropic) -> None:
    api.play(lambda request: SLOW)
    code = "import socket; s = socket.create_connection(place); s.sendall(asked); s"
    async with started(site) as kernel:
        env = await kernel.environment()
        url = urlsplit(env[URL])
        place = (url.hostname, url.port)
        await kernel.run(f"place, asked = {place!r}, {_asking(env)!r}\n{code}")
        await api.seen(1)
        kernels: Any = site.app.kernel_manager
        await kernels.shutdown_kernel(kernel.kernel_id, now=True)
        await asyncio.wait_for(api.requests[0].gone.wait(), 30)
    assert _spent(site) > 450


async def test_the_server_ends_while_a_request_is_under_way(site: Site, api: FakeAnthropic) -> None:
    """What the journal's file says then is what the next server finds."""
    api.play(lambda request: SLOW)
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("word " * 300, model=SONNET)
    await api.seen(1)
    assert _spent(site) > 450


async def test_a_refused_request_costs_nothing(site: Site, api: FakeAnthropic) -> None:
    """Nor does it shut out those that come after it."""
    api.play(lambda request: wrong_key())
    async with started(site) as kernel:
        env = await kernel.environment()
        assert (await post(env[URL], env[TOKEN], LONG)).code == 400
    assert _spent(site) == 0
