"""The server's model endpoint for its kernels, as a kernel and as others reach it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from jupyter_client.asynchronous.client import AsyncKernelClient
from tornado.httpclient import AsyncHTTPClient, HTTPRequest, HTTPResponse

from jupyter_codeinterp.kernel.inside.mark import MODEL, TOKEN, URL
from jupyter_codeinterp.models.http.model import HttpModel
from jupyter_codeinterp.models.jupyter_server import event_of
from jupyter_codeinterp.models.offered.limits import today
from jupyter_codeinterp.server.kernel_models import handler
from jupyter_codeinterp.session import service
from jupyter_codeinterp.session.messages import Sender
from jupyter_codeinterp.wire.commands import SendMessage
from jupyter_codeinterp.wire.messages import Text, assistant
from jupyter_codeinterp.wire.ports import ModelDone, ModelText
from tests.anthropic_talk import joined
from tests.conftest import KEY
from tests.fake_anthropic import FakeAnthropic, answer, run_cell, text, thinking
from tests.kernels import until
from tests.reference_window import notebook
from tests.site import Site

ASK = {
    "model": "claude-sonnet-5-5",
    "system": "Be brief.",
    "tools": [],
    "messages": [{"role": "user", "content": [{"type": "text", "text": "hello"}]}],
}


@pytest.fixture
def codeinterp_config() -> dict[str, Any]:
    return {"kernels_keep_keys": False, "kernel_env_remove": ["OF_THE_SERVER", "NOT_THERE"]}


class Kernel:
    """A kernel of the server, started as a notebook's is."""

    def __init__(self, site: Site, kernel_id: str, client: AsyncKernelClient) -> None:
        self.site = site
        self.kernel_id = kernel_id
        self._client = client

    async def ready(self) -> None:
        """It answers, and what it publishes is heard."""
        await self._client.wait_for_ready(timeout=100)

    async def run(self, code: str) -> str:
        """What it prints and shows."""
        shown: list[str] = []

        def hook(message: dict[str, Any]) -> None:
            content = message["content"]
            if message["msg_type"] == "stream":
                shown.append(content["text"])
            elif message["msg_type"] == "error":
                shown.append("\n".join(content["traceback"]))
            elif "data" in content:
                shown.append(content["data"].get("text/plain", ""))

        await self._client.execute_interactive(
            code, output_hook=hook, timeout=100, allow_stdin=False
        )
        return "".join(shown)

    async def environment(self) -> dict[str, str]:
        found = await self.run("import json, os; print(json.dumps(dict(os.environ)))")
        env: dict[str, str] = json.loads(found)
        return env


@asynccontextmanager
async def started(site: Site, path: str = "a.ipynb") -> AsyncIterator[Kernel]:
    sessions: Any = site.app.session_manager
    made = await sessions.create_session(
        path=path, name=path, type="notebook", kernel_name="python3"
    )
    kernel_id = made["kernel"]["id"]
    manager: Any = site.app.kernel_manager
    client: AsyncKernelClient = manager.get_kernel(kernel_id).client()
    client.start_channels()
    kernel = Kernel(site, kernel_id, client)
    try:
        await kernel.ready()
        yield kernel
    finally:
        client.stop_channels()


async def post(url: str, token: str, body: Any = ASK, **headers: str) -> HTTPResponse:
    given = {"Authorization": f"Bearer {token}", **headers}
    asked = HTTPRequest(f"{url}/ask", "POST", given, json.dumps(body), request_timeout=100)
    return await AsyncHTTPClient().fetch(asked, raise_error=False)


async def test_a_kernel_asks_without_a_key(site: Site, api: FakeAnthropic) -> None:
    api.play(
        [
            answer(thinking("Hm."), text("I add."), run_cell("total = 40 + 2\ntotal")),
            answer(text("It is 42.")),
        ]
    )
    async with started(site) as kernel:
        assert KEY not in json.dumps(await kernel.environment())
        shown = await kernel.run("%load_ext jupyter_codeinterp")
        shown += await kernel.run("%%ai -y\nadd")
        env = await kernel.environment()
        sdk = await kernel.run("import sys; print('anthropic' in sys.modules)")
    assert sdk.strip() == "False", "the server alone needs it"
    assert "I add." in shown and "42" in shown and "It is 42." in shown
    assert KEY not in shown and env[TOKEN] not in shown
    assert "127.0.0.1" in env["NO_PROXY"] and "127.0.0.1" in env["no_proxy"]
    sent = [exchange.headers["authorization"] for exchange in api.requests]
    assert sent == [f"Bearer {KEY}"] * 2
    thought = api.requests[1].body["messages"][1]["content"][0]
    assert thought["type"] == "thinking" and thought["signature"]


async def test_a_kernel_gets_no_variable_that_is_named_started_or_restarted(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor what signs in to a cloud, where kernels keep no keys. What else there is, it gets."""
    hidden = {
        "OF_THE_SERVER": "postgres://me:a-password@db",
        "AWS_SECRET_ACCESS_KEY": "a-secret-of-aws-0123456789",
        "AWS_SESSION_TOKEN": "a-session-of-aws-0123456789",
        "AWS_BEARER_TOKEN_BEDROCK": "a-key-of-bedrock-0123456789",
        "ANTHROPIC_FOUNDRY_API_KEY": "a-key-of-foundry-0123456789",
        "AZURE_OPENAI_API_KEY": "a-key-of-azure-0123456789",
    }
    for name, value in {**hidden, "ELSE": "is there"}.items():
        monkeypatch.setenv(name, value)
    async with started(site) as kernel:
        first = await kernel.environment()
        manager: Any = site.app.kernel_manager
        await manager.restart_kernel(kernel.kernel_id)
        await kernel.ready()
        again = await kernel.environment()
    for env in (first, again):
        assert env["ELSE"] == "is there"
        assert not hidden.keys() & env.keys()
        assert not [value for value in hidden.values() if value in json.dumps(env)]


async def test_the_token_calls_models_and_does_nothing_else(site: Site, api: FakeAnthropic) -> None:
    api.play(lambda request: answer(text("Hello.")))
    async with started(site) as kernel:
        env = await kernel.environment()
        token, url = env[TOKEN], env[URL]
        assert env[MODEL] == "claude-sonnet-5-5"
        said = await post(url, token)
        *shown, done = [event_of(line) for line in said.body.splitlines()]
        assert joined(shown, ModelText) == "Hello."
        assert isinstance(done, ModelDone) and done.message == assistant(Text("Hello."))
        refused = [
            await post(url, "wrong"),
            await post(url, ""),
            await post(url, site.app.identity_provider.token),
            await post(f"{url}/ask?token={token}#", ""),
            await post(url, "", Cookie=f"token={token}"),
        ]
        assert all(answer.code in (401, 403, 404) for answer in refused), refused
        assert json.loads(refused[0].body)["code"] == "no_token"
        fetch = AsyncHTTPClient().fetch
        for method in ("GET", "PUT", "DELETE"):
            asked = HTTPRequest(f"{url}/ask", method, _bearer(token), request_timeout=100)
            asked.allow_nonstandard_methods = True
            assert (await fetch(asked, raise_error=False)).code in (403, 405)
        base = site.url
        others = ("api/kernels", "api/contents", "codeinterp/api/status", "codeinterp/api/models")
        for route in (*others, "codeinterp/api/sessions", "api/sessions", "api/terminals"):
            for headers in (_bearer(token), {"Authorization": f"token {token}"}):
                asked = HTTPRequest(f"{base}/{route}", headers=headers, request_timeout=100)
                answered = await fetch(asked, raise_error=False)
                assert answered.code in (401, 403, 404), (route, answered.code)


async def entry_of(env: dict[str, str], model: str) -> HTTPResponse:
    url = f"{env[URL]}/models/{model}"
    asked = HTTPRequest(url, headers=_bearer(env[TOKEN]), request_timeout=100)
    return await AsyncHTTPClient().fetch(asked, raise_error=False)


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def test_the_token_goes_with_its_kernel_and_is_in_no_text(
    site: Site, api: FakeAnthropic
) -> None:
    api.play(lambda request: answer(text("Hello.")))
    async with started(site) as kernel, started(site, "b.ipynb") as other:
        env, others = await kernel.environment(), await other.environment()
        assert env[TOKEN] != others[TOKEN]
        scrub = site.extension.manager.rules.scrub
        assert env[TOKEN] not in scrub(f"the token is {env[TOKEN]}.")
        await site.app.kernel_manager.restart_kernel(other.kernel_id)
        assert (await post(others[URL], others[TOKEN])).code == 200, "the same after a restart"
        await site.app.kernel_manager.shutdown_kernel(kernel.kernel_id)
        assert (await post(env[URL], env[TOKEN])).code == 401
        assert (await post(others[URL], others[TOKEN])).code == 200


async def test_what_is_no_request_is_refused_in_words(site: Site, api: FakeAnthropic) -> None:
    async with started(site) as kernel:
        env = await kernel.environment()
        bodies: list[Any] = [
            {},
            [],
            "text",
            {**ASK, "messages": []},
            {**ASK, "messages": [{"role": "system", "content": "x"}]},
            {**ASK, "messages": [{"role": "user", "content": [{"type": "video"}]}]},
            {**ASK, "messages": 7},
            {**ASK, "model": 7},
        ]
        for body in bodies:
            refused = await post(env[URL], env[TOKEN], body)
            assert refused.code == 400 and json.loads(refused.body)["message"], body
    assert not api.requests


async def test_a_fault_of_the_server_is_an_error_in_words(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise OSError("no disk")

    async with started(site) as kernel:
        env = await kernel.environment()
        monkeypatch.setattr(HttpModel, "stream", broken)
        refused = await post(env[URL], env[TOKEN])
    assert refused.code == 500
    assert json.loads(refused.body)["message"] == handler.FAILED


class TestKeys:
    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {}

    async def test_code_of_the_persons_own_has_their_keys(self, site: Site) -> None:
        async with started(site) as kernel:
            assert (await kernel.environment())["ANTHROPIC_API_KEY"] == KEY


class TestLimits:
    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        prices = {"claude-sonnet-5-5": (1e6, 1e6, 1e6, 1e6)}
        allowed = ["claude-sonnet-5-5", "claude-haiku-5-5"]
        limits = {"allowed_models": allowed, "day_cost": 0.5, "prices": prices}
        return {**limits, "allowed_providers": ["anthropic"]}

    async def test_models_and_cost_are_limited_on_the_server(
        self, site: Site, api: FakeAnthropic
    ) -> None:
        api.play(lambda request: answer(text("Hello.")))
        async with started(site) as kernel:
            env = await kernel.environment()
            url, token = env[URL], env[TOKEN]
            other = await post(url, token, {**ASK, "model": "claude-opus-5-5"})
            assert other.code == 400
            assert "does not allow the model “claude-opus-5-5”" in other.body.decode()
            theirs = await post(url, token, {**ASK, "model": "vllm/any"})
            assert theirs.code == 400 and "does not allow vLLM" in theirs.body.decode()
            unpriced = await post(url, token, {**ASK, "model": "claude-haiku-5-5"})
            assert unpriced.code == 400 and "is unknown" in unpriced.body.decode()
            assert (await post(url, token)).code == 200
            over = await post(url, token)
            assert over.code == 400
            assert "This server reached its limit of $0.50 a day" in over.body.decode()
            shown = await kernel.run("%load_ext jupyter_codeinterp")
            shown += await kernel.run("%%ai --plan\nhello")
            assert "reached its limit" in shown and "Traceback" not in shown
            listed = await kernel.run("%ai models")
            assert "claude-haiku-5-5" in listed and "opus" not in listed
        assert len(api.requests) == 1

    async def test_what_it_costs_is_known_in_the_kernel(
        self, site: Site, api: FakeAnthropic
    ) -> None:
        api.play(lambda request: answer(text("Hello.")))
        async with started(site) as kernel:
            env = await kernel.environment()
            priced = await entry_of(env, "claude-sonnet-5-5")
            assert json.loads(priced.body)["prices"][1] == 1e6
            assert json.loads((await entry_of(env, "claude-haiku-5-5")).body)["prices"] is None
            for model, token in (("claude-opus-5-5", env[TOKEN]), ("claude-sonnet-5-5", "wrong")):
                refused = await entry_of({**env, TOKEN: token}, model)
                assert refused.code in (400, 401)

    async def test_who_hangs_up_pays_for_what_has_come(
        self, site: Site, api: FakeAnthropic
    ) -> None:
        api.play(lambda request: answer(text("One two three")).cut_by("stall", 1))
        async with started(site) as kernel:
            env = await kernel.environment()
            url = urlsplit(env[URL])
            body = json.dumps(ASK).encode()
            reader, writer = await asyncio.open_connection(url.hostname, url.port)
            head = (
                f"POST {url.path}/ask HTTP/1.1\r\nHost: {url.netloc}\r\n"
                f"Authorization: Bearer {env[TOKEN]}\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            writer.write(head.encode() + body)
            await reader.readuntil(b"One two")
            writer.close()
            await asyncio.wait_for(api.requests[0].gone.wait(), 30)
            assert site.extension.workbench.store.spent(today().isoformat()) > 0.5
            assert (await post(env[URL], env[TOKEN])).code == 400


async def test_the_agents_own_cell_cannot_ask(site: Site, api: FakeAnthropic) -> None:
    nested = "%load_ext jupyter_codeinterp\nget_ipython().run_cell_magic('ai', '-y', 'more')"
    api.play([answer(run_cell(nested)), answer(text("So be it."))])
    (Path(site.app.root_dir) / "n.ipynb").write_text(json.dumps(notebook("1")))
    async with started(site, "n.ipynb"):
        manager = site.app.extension_manager.extension_points["jupyter_codeinterp"].app.manager
        message = SendMessage("go", "n.ipynb", mode="auto")
        sent = await service.send(manager, message, Sender(headless=True))
        await until(lambda: not sent.session.running)
    assert "This is the agent's cell." in json.dumps(api.requests[1].body)
    assert len(api.requests) == 2
