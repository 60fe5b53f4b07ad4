"""Which model answers, and with which key. Keys stay on the server."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any, Union
from urllib.parse import urlsplit

import msgspec

from ..adapters.anthropic_model import AnthropicModel
from ..adapters.replay_model import ReplayModel
from ..core.errors import CommandError, ModelError
from ..core.ports import Model, ModelInfo
from ..core.secrets import Secrets

DEMO_MODEL = "offline-demo"
DEMO_FOLDER = "codeinterp-demo"
LOCAL_SERVERS = (
    ("Ollama", "http://127.0.0.1:11434"),
    ("llama.cpp", "http://127.0.0.1:8080"),
    ("vLLM", "http://127.0.0.1:8000"),
    ("LM Studio", "http://127.0.0.1:1234"),
    ("LiteLLM", "http://127.0.0.1:4000"),
)
"""Servers on this machine that speak the Messages API, at their usual ports."""
LOCAL_TIMEOUT = 2.0
"""Seconds that a local server has to list its models."""


class Stored(msgspec.Struct, frozen=True):
    """What a person has pasted: the key and the address that it belongs to."""

    api_key: Union[str, None] = None
    base_url: Union[str, None] = None
    model: Union[str, None] = None


class Models:
    def __init__(
        self,
        folder: Path,
        secrets: Secrets,
        *,
        default_model: str,
        base_url: str | None,
        demo_pace: float | None = None,
        **options: Any,
    ) -> None:
        """``folder`` keeps a pasted key (mode 0600). ``options`` go to AnthropicModel."""
        self._file = folder / "credentials.json"
        self._secrets = secrets
        self._default_model = default_model
        self._base_url = base_url
        self._stored = self._load()
        self._asked = AnthropicModel(self._endpoint, **options)
        self._demo = ReplayModel() if demo_pace is None else ReplayModel(pace=demo_pace)
        for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"):
            secrets.add(os.environ.get(name, ""))
        secrets.add(self._stored.api_key or "")

    def _load(self) -> Stored:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=Stored)
        except FileNotFoundError:
            return Stored()

    def _endpoint(self) -> tuple[str | None, str | None]:
        return self._stored.api_key, self._stored.base_url or self._base_url

    # --- what there is ---------------------------------------------------------------

    @property
    def source(self) -> str:
        """Where the key comes from: ``stored``, ``env`` or ``none``."""
        if self._stored.api_key or self._stored.base_url:
            return "stored"
        names = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")
        local = self._base_url is not None or "ANTHROPIC_BASE_URL" in os.environ
        return "env" if local or any(os.environ.get(name) for name in names) else "none"

    @property
    def host(self) -> str:
        url = self._endpoint()[1] or os.environ.get("ANTHROPIC_BASE_URL", "")
        return urlsplit(url).netloc or "api.anthropic.com"

    @property
    def default(self) -> str:
        return self._stored.model or self._default_model

    def default_for(self, notebook: str) -> str:
        """The demo's notebook is answered by the recording as long as there is no key."""
        demo = self.source == "none" and is_demo(notebook)
        return DEMO_MODEL if demo else self.default

    def get(self, name: str) -> Model:
        return self._demo if name == DEMO_MODEL else self._asked

    async def available(self) -> list[ModelInfo]:
        """What can be chosen. Raises ModelError."""
        demo = await self._demo.info(DEMO_MODEL)
        if self.source == "none":
            return [demo]
        return [*await self._asked.list_models(), demo]

    # --- keys ------------------------------------------------------------------------

    async def set_key(self, key: str, base_url: str, model: str = "") -> None:
        """Try a key (or a server without one) and keep it. Raises ModelError ``wrong_key``,
        ``offline``, …, and CommandError ``bad_address``; then nothing is kept."""
        if base_url and urlsplit(base_url).scheme not in ("http", "https"):
            raise CommandError("bad_address", "The address must begin with http:// or https://.")
        if not key and not base_url:
            raise CommandError("empty_key", "Paste a key first.")
        tried = Stored(key or None, base_url or None, model or None)
        self._secrets.add(key)
        probe = AnthropicModel(lambda: (tried.api_key, tried.base_url or self._base_url))
        try:
            await probe.list_models()
        finally:
            await probe.aclose()
        self._keep(tried)

    def forget_key(self) -> None:
        self._stored = Stored()
        self._file.unlink(missing_ok=True)

    def _keep(self, stored: Stored) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        with os.fdopen(os.open(self._file, flags, 0o600), "wb") as file:
            file.write(msgspec.json.encode(stored))
        self._stored = stored

    async def local_servers(self) -> list[dict[str, Any]]:
        """Model servers that answer at their usual ports on this machine."""
        found = await asyncio.gather(*(_probe(name, url) for name, url in LOCAL_SERVERS))
        return [server for server in found if server is not None]

    async def close(self) -> None:
        await self._asked.aclose()


async def _probe(name: str, url: str) -> dict[str, Any] | None:
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


def is_demo(notebook: str) -> bool:
    """Whether the notebook lies in a folder that the demo has made."""
    return any(part.startswith(DEMO_FOLDER) for part in notebook.split("/")[:-1])
