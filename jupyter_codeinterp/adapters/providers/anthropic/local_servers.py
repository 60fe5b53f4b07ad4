"""Servers on this machine that speak the Messages API."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlsplit

from ....core.errors import ModelError

LOCAL_SERVERS = (
    ("Ollama", "http://127.0.0.1:11434"),
    ("llama.cpp", "http://127.0.0.1:8080"),
    ("vLLM", "http://127.0.0.1:8000"),
    ("LM Studio", "http://127.0.0.1:1234"),
    ("LiteLLM", "http://127.0.0.1:4000"),
)
"""Where they usually are."""
LOCAL_TIMEOUT = 2.0
"""Seconds that one has to list its models."""


async def found() -> list[dict[str, Any]]:
    """Those that answer: name, base_url, models."""
    servers = await asyncio.gather(*(_probe(name, url) for name, url in LOCAL_SERVERS))
    return [server for server in servers if server is not None]


async def _probe(name: str, url: str) -> dict[str, Any] | None:
    from .model import AnthropicModel  # not at the server's start

    port = urlsplit(url).port
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", port), LOCAL_TIMEOUT
        )
    except (OSError, asyncio.TimeoutError):
        return None
    writer.close()
    model = AnthropicModel(lambda: (None, url), attempts=1)
    try:
        models = await asyncio.wait_for(model.list_models(), LOCAL_TIMEOUT)
    except (ModelError, asyncio.TimeoutError):
        return None  # Something else listens there.
    finally:
        await model.aclose()
    return {"name": name, "base_url": url, "models": [info.id for info in models]}
