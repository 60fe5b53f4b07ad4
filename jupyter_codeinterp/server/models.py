"""Which model answers, and with which key. Keys stay on the server."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import urlsplit

import msgspec

from .. import demo
from ..adapters.providers.anthropic.credentials import ANTHROPIC_URL, origin
from ..core.errors import CommandError, ModelError
from ..core.ports import Model, ModelInfo
from ..core.redaction.secrets import Secrets

if TYPE_CHECKING:
    from ..adapters.providers.anthropic.model import AnthropicModel
    from ..adapters.providers.replay import ReplayModel

DEMO_MODEL = "offline-demo"
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


KEY_VARIABLES = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN")


class Stored(msgspec.Struct, frozen=True):
    """What a person has pasted. A key is kept with the address that it was tried at, and is
    sent to no other, whatever the settings say later on."""

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
        self.warning = ""
        """What the person should know of the kept key; "" if nothing."""
        self._file = folder / "credentials.json"
        self._secrets = secrets
        self._default_model = default_model
        self._base_url = base_url
        self._stored = self._load()
        self._options = options
        self._demo_pace = demo_pace
        for name in KEY_VARIABLES:
            secrets.add(os.environ.get(name, ""))
        for line in os.environ.get("ANTHROPIC_CUSTOM_HEADERS", "").split("\n"):
            secrets.add(line.partition(":")[2])
        secrets.add(self._stored.api_key or "")

    def _load(self) -> Stored:
        """A file that cannot be read stops nobody: there is then no kept key."""
        try:
            stored = msgspec.json.decode(self._file.read_bytes(), type=Stored)
        except FileNotFoundError:
            return Stored()
        except OSError as error:
            self.warning = f"The kept key could not be read ({error.strerror}). Enter it again."
            return Stored()
        except (msgspec.DecodeError, UnicodeDecodeError):
            aside = self._file.with_name(f"{self._file.name}.damaged")
            self._file.replace(aside)
            self.warning = (
                "The file with the kept key was damaged. It has been set aside as "
                f"{aside.name}; enter the key again."
            )
            return Stored()
        if stored.api_key and not stored.base_url:
            return msgspec.structs.replace(stored, base_url=ANTHROPIC_URL)
        return stored

    def _endpoint(self) -> tuple[str | None, str | None]:
        return self._stored.api_key, self._stored.base_url or self._base_url

    @property
    def _home(self) -> str:
        """Where requests go unless the person has named another address."""
        return self._base_url or os.environ.get("ANTHROPIC_BASE_URL", "").strip() or ANTHROPIC_URL

    @cached_property
    def _asked(self) -> AnthropicModel:
        return _anthropic(self._endpoint, **self._options)

    @cached_property
    def _demo(self) -> ReplayModel:
        """Made when it is first asked for: it reads the recording."""
        from ..adapters.providers.replay import ReplayModel

        pace = self._demo_pace
        return ReplayModel() if pace is None else ReplayModel(pace=pace)

    # --- what there is ---------------------------------------------------------------

    @property
    def source(self) -> str:
        """Where the key comes from: ``stored``, ``env`` or ``none``."""
        if self._stored.api_key or self._stored.base_url:
            return "stored"
        elsewhere = origin(self._home) != origin(ANTHROPIC_URL)
        return "env" if elsewhere or any(os.environ.get(name) for name in KEY_VARIABLES) else "none"

    @property
    def host(self) -> str:
        """Host and port that requests go to; never what else an address may carry."""
        return urlsplit(self._stored.base_url or self._home).netloc.rpartition("@")[2]

    @property
    def default(self) -> str:
        return self._stored.model or self._default_model

    def default_for(self, notebook: str) -> str:
        """The demo's notebook is answered by the recording as long as there is no key."""
        demo = self.source == "none" and is_demo(notebook)
        return DEMO_MODEL if demo else self.default

    def get(self, name: str) -> Model:
        return self._demo if name == DEMO_MODEL else self._asked

    async def available(self) -> tuple[list[ModelInfo], ModelError | None]:
        """What can be chosen (the recording always), and why there is no more."""
        demo = await self._demo.info(DEMO_MODEL)
        if self.source == "none":
            return [demo], None
        try:
            return [*await self._asked.list_models(), demo], None
        except ModelError as error:
            return [demo], error

    # --- keys ------------------------------------------------------------------------

    async def set_key(self, key: str, base_url: str, model: str = "") -> None:
        """Try a key (or a server without one) and keep it. Raises ModelError ``wrong_key``,
        ``offline``, …, and CommandError ``bad_address`` or ``empty_key``; then nothing is
        kept."""
        if base_url and not origin(base_url):
            raise CommandError("bad_address", "The address must begin with http:// or https://.")
        if not key and not base_url:
            raise CommandError("empty_key", "Paste a key first.")
        tried = Stored(key or None, base_url or self._home, model or None)
        self._secrets.add(key)
        probe = _anthropic(lambda: (tried.api_key, tried.base_url))
        try:
            await probe.list_models()
        finally:
            await probe.aclose()
        self._keep(tried)

    def forget_key(self) -> None:
        self._stored = Stored()
        self.warning = ""
        self._file.unlink(missing_ok=True)

    def put_back(self) -> Callable[[], None]:
        """What makes key, address and model again what they are now."""
        now = self._stored
        return lambda: self._keep(now) if now != Stored() else self.forget_key()

    def _keep(self, stored: Stored) -> None:
        """In a file and a folder that only their owner can read, all of it or nothing."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file.parent.chmod(0o700)
        new = self._file.with_name(f"{self._file.name}.new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.encode(stored))
        new.replace(self._file)
        self._stored = stored
        self.warning = ""

    async def local_servers(self) -> list[dict[str, Any]]:
        """Model servers that answer at their usual ports on this machine."""
        found = await asyncio.gather(*(_probe(name, url) for name, url in LOCAL_SERVERS))
        return [server for server in found if server is not None]

    async def close(self) -> None:
        if "_asked" in vars(self):
            await self._asked.aclose()


def _anthropic(
    endpoint: Callable[[], tuple[str | None, str | None]], **options: Any
) -> AnthropicModel:
    from ..adapters.providers.anthropic.model import AnthropicModel  # not at the server's start

    return AnthropicModel(endpoint, **options)


async def _probe(name: str, url: str) -> dict[str, Any] | None:
    port = urlsplit(url).port
    try:
        _, writer = await asyncio.wait_for(
            asyncio.open_connection("127.0.0.1", port), LOCAL_TIMEOUT
        )
    except (OSError, asyncio.TimeoutError):
        return None
    writer.close()
    model = _anthropic(lambda: (None, url), attempts=1)
    try:
        models = await asyncio.wait_for(model.list_models(), LOCAL_TIMEOUT)
    except (ModelError, asyncio.TimeoutError):
        return None  # Something else listens there.
    finally:
        await model.aclose()
    return {"name": name, "base_url": url, "models": [info.id for info in models]}


def is_demo(notebook: str) -> bool:
    """Whether the notebook lies in a folder named as the demo names its own.

    A name is no proof, and need not be one: without a key such a notebook is answered by
    the recording, which comes from the package and never from the folder, and whose code
    is asked for cell by cell in every mode.
    """
    return any(_DEMO_FOLDER.fullmatch(part) for part in notebook.split("/")[:-1])


_DEMO_FOLDER = re.compile(rf"{re.escape(demo.FOLDER)}(-\d+)?")
