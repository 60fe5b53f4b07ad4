"""Anthropic, and servers that speak its Messages API; a search for such servers on this machine.

The server's start needs this file: it imports no model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ...base.errors import ModelError
from ...wire.providers import Credentials, Provider, Settings
from ..http.provider import provider_of
from ..http.service import Service

MESSAGES = "anthropic.messages:MessagesModel"


def _is_anthropic(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host == "anthropic.com" or host.endswith(".anthropic.com")


def _local(name: str, label: str, port: int, **more: Any) -> Service:
    url = f"http://127.0.0.1:{port}"
    given = {"runs_here": True, **more}
    return Service(
        name=name, label=label, adapter=MESSAGES, url=url, local=True, own_prices=False, **given
    )


ANTHROPIC = Service(
    name="anthropic",
    label="Anthropic",
    adapter=MESSAGES,
    url="https://api.anthropic.com",
    url_variable="ANTHROPIC_BASE_URL",
    its_host=_is_anthropic,
    key_variables=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"),
    headers_variable="ANTHROPIC_CUSTOM_HEADERS",
    key_page="https://platform.claude.com/settings/keys",
    default_model="claude-sonnet-5-5",
    models=("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5"),
    claude="at its host",
    x_api_key=True,
)

# Addresses are without ``/v1``. Each comes from the documentation named above its row, as of
# November 2026.
ROWS = (
    # docs.ollama.com/api/anthropic-compatibility (a key is "required but ignored")
    _local("ollama", "Ollama", 11434),
    # huggingface.co/blog/ggml-org/anthropic-messages-api-in-llamacpp; port 8080
    _local("llama-cpp", "llama.cpp", 8080, x_api_key=True),
    # docs.vllm.ai/en/stable/serving/integrations/claude_code; port 8000
    _local("vllm", "vLLM", 8000),
    # docs.sglang.io/docs/basic_usage/anthropic_api; port 30000
    _local("sglang", "SGLang", 30000),
    # lmstudio.ai/docs/developer/anthropic-compat: either header
    _local("lm-studio", "LM Studio", 1234, x_api_key=True),
    # docs.litellm.ai/docs/anthropic_completion (x-api-key); port 4000
    _local("litellm", "LiteLLM", 4000, x_api_key=True, runs_here=False),
    # openrouter.ai/docs, guides: Claude Code (a bearer token), api-reference: GET /api/v1/key;
    # the list of models is open to all
    Service(
        name="openrouter",
        label="OpenRouter",
        adapter=MESSAGES,
        url="https://openrouter.ai/api",
        key_variables=("OPENROUTER_API_KEY",),
        key_page="https://openrouter.ai/keys",
        key_url="/api/v1/key",
    ),
    # api-docs.deepseek.com/guides/anthropic_api (x-api-key), api-docs.deepseek.com/api/list-models
    Service(
        name="deepseek",
        label="DeepSeek",
        adapter=MESSAGES,
        url="https://api.deepseek.com/anthropic",
        x_api_key=True,
        key_variables=("DEEPSEEK_API_KEY",),
        key_page="https://platform.deepseek.com/api_keys",
        list_url="/models",
    ),
    # platform.kimi.ai/docs/api/overview: the host, both APIs, GET /v1/models
    Service(
        name="moonshot",
        label="Moonshot (Kimi)",
        adapter=MESSAGES,
        url="https://api.moonshot.ai/anthropic",
        key_variables=("MOONSHOT_API_KEY",),
        key_page="https://platform.kimi.ai/console/api-keys",
        list_url="/v1/models",
    ),
    # docs.z.ai/devpack/tool/claude (a bearer token); no list of models is documented
    Service(
        name="zai",
        label="Z.ai",
        adapter=MESSAGES,
        url="https://api.z.ai/api/anthropic",
        key_variables=("ZAI_API_KEY",),
        key_page="https://z.ai/manage-apikey/apikey-list",
        models=("glm-5.3", "glm-5.3-flash", "glm-4.5-air"),
    ),
)


def providers(addresses: Mapping[str, str] = {}) -> list[Provider]:
    """The other servers. ``addresses``: an admin's by name, instead of the usual ports."""
    return [provider_of(row) for row in _rows(addresses)]


def _rows(addresses: Mapping[str, str]) -> list[Service]:
    return [
        msgspec.structs.replace(row, url=addresses[row.name], own_prices=False)
        if addresses.get(row.name)
        else row
        for row in ROWS
    ]


# -------------------------------------------------------------------------------------------------
# Finds servers on this machine that speak the Messages API, at their usual ports.

LOCAL_TIMEOUT = 2.0
"""Seconds to accept a connection, and then to list the models."""


class LocalServer(msgspec.Struct, frozen=True):
    """A model server on this machine. ``name`` is for people."""

    provider: str
    name: str
    base_url: str
    models: list[str]


def local_rows(addresses: Mapping[str, str]) -> list[Service]:
    return [row for row in _rows(addresses) if row.local]


async def found(rows: Sequence[Service]) -> list[LocalServer]:
    """Servers that answer, in the order of ``rows``. Import the SDK only if a server listens, and
    before the time limit: that takes seconds on a busy machine."""
    listening = await asyncio.gather(*(_listens(row) for row in rows))
    there = [row for row, listens in zip(rows, listening, strict=True) if listens]
    servers = await asyncio.gather(*(_asked(row) for row in there))
    return [server for server in servers if server is not None]


async def _listens(row: Service) -> bool:
    address = urlsplit(row.url)
    try:
        opening = asyncio.open_connection(address.hostname, address.port)
        _, writer = await asyncio.wait_for(opening, LOCAL_TIMEOUT)
    except (OSError, ValueError, asyncio.TimeoutError):
        return False
    writer.close()
    return True


async def _asked(row: Service) -> LocalServer | None:
    at = Credentials(None, row.url)
    try:
        connection = await asyncio.to_thread(provider_of(row).connect, at, Settings())
        async with aclosing(connection):
            models = await asyncio.wait_for(connection.list_models(), LOCAL_TIMEOUT)
    except (ModelError, asyncio.TimeoutError):
        return None  # Another program listens there.
    return LocalServer(row.name, row.label, row.url, [info.id for info in models])
