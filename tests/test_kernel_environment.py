"""Which of the server's environment variables its kernels get."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from jupyter_client.asynchronous.client import AsyncKernelClient

from tests.conftest import KEY
from tests.site import Site


@asynccontextmanager
async def started(site: Site) -> AsyncIterator[tuple[str, AsyncKernelClient]]:
    """A kernel of the server, started as a notebook's is."""
    sessions: Any = site.app.session_manager
    made = await sessions.create_session(
        path="a.ipynb", name="a.ipynb", type="notebook", kernel_name="python3"
    )
    manager: Any = site.app.kernel_manager
    kernel_id = made["kernel"]["id"]
    client: AsyncKernelClient = manager.get_kernel(kernel_id).client()
    client.start_channels()
    try:
        yield kernel_id, client
    finally:
        client.stop_channels()


async def environment(client: AsyncKernelClient) -> dict[str, str]:
    printed: list[str] = []

    def hook(message: dict[str, Any]) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    await client.wait_for_ready(timeout=100)
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    await client.execute_interactive(code, output_hook=hook, timeout=100, allow_stdin=False)
    found: dict[str, str] = json.loads("".join(printed))
    return found


async def test_code_of_the_persons_own_has_their_keys(site: Site) -> None:
    async with started(site) as (_, client):
        assert (await environment(client))["ANTHROPIC_API_KEY"] == KEY


class TestRemoved:
    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {"kernels_keep_keys": False, "kernel_env_remove": ["OF_THE_SERVER", "NOT_THERE"]}

    async def test_a_kernel_gets_no_variable_that_is_named_started_or_restarted(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Nor what signs in to a cloud, where kernels keep no keys. What else there is, it gets."""
        hidden = {
            "OF_THE_SERVER": "postgres://me:a-password@db",
            "AWS_SECRET_ACCESS_KEY": "a-secret-of-aws-0123456789",
            "AWS_SESSION_TOKEN": "a-session-of-aws-0123456789",
            "AWS_BEARER_TOKEN_BEDROCK": "a-key-of-bedrock-0123456789",
            "ANTHROPIC_FOUNDRY_API_KEY": "a-key-of-foundry-0123456789",
            "ANTHROPIC_CUSTOM_HEADERS": "x-api-key: a-key-in-a-header-0123456789",
            "AZURE_OPENAI_API_KEY": "a-key-of-azure-0123456789",
        }
        for name, value in {**hidden, "ELSE": "is there"}.items():
            monkeypatch.setenv(name, value)
        async with started(site) as (kernel_id, client):
            first = await environment(client)
            manager: Any = site.app.kernel_manager
            await manager.restart_kernel(kernel_id)
            again = await environment(client)
        for env in (first, again):
            assert env["ELSE"] == "is there"
            assert not hidden.keys() & env.keys()
            assert not [value for value in (*hidden.values(), KEY) if value in json.dumps(env)]
