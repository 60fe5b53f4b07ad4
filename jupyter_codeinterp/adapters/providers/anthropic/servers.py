"""Other servers that speak the Messages API, as providers, and a search for those on this machine.
The server's start needs this file: it imports no model.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import msgspec

from ....core.errors import ModelError
from ....core.providers import Credentials, Provider, Settings, origin

if TYPE_CHECKING:
    from .model import AnthropicModel


# -------------------------------------------------------------------------------------------------
# One row for each server that speaks the Messages API natively.
#
# Addresses are without ``/v1``. Each comes from the documentation named above its row, as of
# November 2026.


class Row(NamedTuple):
    """One server, at ``url``. A ``local`` one runs on the person's machine at its usual port,
    without a key. ``variable`` may hold the key of a remote one.

    The key goes into ``Authorization: Bearer``; ``x_api_key``: into ``X-Api-Key`` as well. A
    ``gateway`` forwards requests to models that may cost money. ``list_url`` and ``key_url`` as
    in ``Profile``; ``models`` are known ones if it has no list.
    """

    name: str
    label: str
    url: str
    local: bool = False
    x_api_key: bool = False
    variable: str = ""
    key_looks: str = ""
    key_page: str = ""
    list_url: str = ""
    key_url: str = ""
    models: tuple[str, ...] = ()
    gateway: bool = False


ROWS = (
    # docs.ollama.com/api/anthropic-compatibility (a key is "required but ignored")
    Row("ollama", "Ollama", "http://127.0.0.1:11434", local=True),
    # huggingface.co/blog/ggml-org/anthropic-messages-api-in-llamacpp; port 8080
    Row("llama-cpp", "llama.cpp", "http://127.0.0.1:8080", local=True, x_api_key=True),
    # docs.vllm.ai/en/stable/serving/integrations/claude_code; port 8000
    Row("vllm", "vLLM", "http://127.0.0.1:8000", local=True),
    # docs.sglang.io/docs/basic_usage/anthropic_api; port 30000
    Row("sglang", "SGLang", "http://127.0.0.1:30000", local=True),
    # lmstudio.ai/docs/developer/anthropic-compat: either header
    Row("lm-studio", "LM Studio", "http://127.0.0.1:1234", local=True, x_api_key=True),
    # ericlbuehler.github.io/mistral.rs/guides/serve/anthropic-messages-api: it ignores keys
    Row("mistral-rs", "mistral.rs", "http://127.0.0.1:1234", local=True),
    # docs.litellm.ai/docs/anthropic_completion (x-api-key); port 4000
    Row("litellm", "LiteLLM", "http://127.0.0.1:4000", local=True, x_api_key=True, gateway=True),
    # openrouter.ai/docs, guides: Claude Code (a bearer token), api-reference: GET /api/v1/key;
    # the list of models is open to all
    Row(
        "openrouter",
        "OpenRouter",
        "https://openrouter.ai/api",
        variable="OPENROUTER_API_KEY",
        key_looks="sk-or-v1-…",
        key_page="https://openrouter.ai/keys",
        key_url="/api/v1/key",
    ),
    # api-docs.deepseek.com/guides/anthropic_api (x-api-key), api-docs.deepseek.com/api/list-models
    Row(
        "deepseek",
        "DeepSeek",
        "https://api.deepseek.com/anthropic",
        x_api_key=True,
        variable="DEEPSEEK_API_KEY",
        key_looks="sk-…",
        key_page="https://platform.deepseek.com/api_keys",
        list_url="/models",
    ),
    # platform.kimi.ai/docs/api/overview: the host, both APIs, GET /v1/models
    Row(
        "moonshot",
        "Moonshot (Kimi)",
        "https://api.moonshot.ai/anthropic",
        variable="MOONSHOT_API_KEY",
        key_looks="sk-…",
        key_page="https://platform.kimi.ai/console/api-keys",
        list_url="/v1/models",
    ),
    # docs.z.ai/devpack/tool/claude (a bearer token); no list of models is documented
    Row(
        "zai",
        "Z.ai",
        "https://api.z.ai/api/anthropic",
        variable="ZAI_API_KEY",
        key_page="https://z.ai/manage-apikey/apikey-list",
        models=("glm-5.3", "glm-5.3-flash", "glm-4.5-air"),
    ),
)


# -------------------------------------------------------------------------------------------------
# Finds servers on this machine that speak the Messages API, at their usual ports.

LOCAL_TIMEOUT = 2.0
"""Seconds to accept a connection, and then to list the models."""


class Place(msgspec.Struct, frozen=True):
    """Where a server may be; ``name`` is for people."""

    provider: str
    name: str
    base_url: str


class LocalServer(Place, frozen=True):
    """A model server on this machine."""

    models: list[str]


def places(
    addresses: Mapping[str, str] = {}, allowed: Callable[[str], bool] = lambda name: True
) -> list[Place]:
    """The addresses to try, each once: servers with the same usual port share one place, under
    both names."""
    found: dict[str, Place] = {}
    for row in ROWS:
        if row.local and allowed(row.name):
            url = addresses.get(row.name, row.url)
            name = f"{found[url].name} or {row.label}" if url in found else row.label
            found[url] = Place(found[url].provider if url in found else row.name, name, url)
    return list(found.values())


async def found(places: Sequence[Place]) -> list[LocalServer]:
    """Servers that answer, in the order of ``places``. Import the SDK only if a server listens, and
    before the time limit: that takes seconds on a busy machine."""
    listening = await asyncio.gather(*(_listens(place) for place in places))
    there = [place for place, listens in zip(places, listening, strict=True) if listens]
    servers = await asyncio.gather(*(_asked(place) for place in there))
    return [server for server in servers if server is not None]


async def _listens(place: Place) -> bool:
    address = urlsplit(place.base_url)
    try:
        opening = asyncio.open_connection(address.hostname, address.port)
        _, writer = await asyncio.wait_for(opening, LOCAL_TIMEOUT)
    except (OSError, ValueError, asyncio.TimeoutError):
        return False
    writer.close()
    return True


async def _asked(place: Place) -> LocalServer | None:
    from .model import AnthropicModel  # not at the server's start

    model = AnthropicModel(lambda: (None, place.base_url), attempts=1, environment={}, known=())
    try:
        await model.prepare()
        models = await asyncio.wait_for(model.list_models(), LOCAL_TIMEOUT)
    except (ModelError, asyncio.TimeoutError):
        return None  # Something else listens there.
    finally:
        await model.aclose()
    ids = [info.id for info in models]
    return LocalServer(place.provider, place.name, place.base_url, ids)


# -------------------------------------------------------------------------------------------------
# A row of the table as a provider: Anthropic's model with another profile.


def providers(addresses: Mapping[str, str] = {}) -> list[Provider]:
    """``addresses``: an admin's addresses of local servers by name, instead of the usual ports."""
    return [_provider(row, addresses.get(row.name, "")) for row in ROWS]


def _provider(row: Row, other: str) -> Provider:
    home = other or row.url
    return Provider(
        row.name,
        row.label,
        partial(_connect, row, home),
        key_variables=(row.variable,) if row.variable else (),
        url=home,
        keyless=row.local,
        key_looks=row.key_looks,
        key_page=row.key_page,
    )


def _connect(
    row: Row, home: str, credentials: Callable[[], Credentials], settings: Settings
) -> AnthropicModel:
    from .model import AnthropicModel  # not at the server's start
    from .wire import OTHER

    def endpoint() -> tuple[str | None, str | None]:
        """The variable's key belongs to ``home``, and goes to no other origin."""
        entered = credentials()
        url = entered.url or home
        at_home = origin(url) == origin(home)
        return entered.key or (os.environ.get(row.variable) if at_home else None), url

    profile = msgspec.structs.replace(
        OTHER,
        x_api_key=row.x_api_key,
        list_url=row.list_url,
        key_url=row.key_url,
        own_prices=bool(row.url) and not row.local,
        vendor=row.name,
        home=row.url,
        runs_here=row.local and not row.gateway,
    )
    return AnthropicModel(
        endpoint,
        max_tokens=settings.max_tokens,
        prices=settings.prices,
        profile=profile,
        known=row.models,
        environment={},
    )
