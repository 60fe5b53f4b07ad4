"""Which model answers, and with which key. Keys stay on the server."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import msgspec

from ..adapters.providers.anthropic import provider as anthropic
from ..adapters.providers.openai import provider as openai
from ..adapters.providers.replay import provider as replay
from ..core.errors import CommandError, ModelError
from ..core.ports import Model, ModelInfo
from ..core.providers import (
    Connection,
    Credentials,
    NamedModel,
    Provider,
    Providers,
    Settings,
    Source,
    failed,
    origin,
)
from ..core.redaction.secrets import Secrets
from . import extensions

if TYPE_CHECKING:
    from ..adapters.providers.replay.recording import Recording

LIST_TIMEOUT = 15.0
"""Seconds that a provider has to list its models. (Ours give up earlier, in words.)"""

CLOSE_TIMEOUT = 2.0

log = logging.getLogger(__name__)


class Stored(msgspec.Struct, frozen=True):
    """What a person has pasted. A key is kept with the address that it was tried at, and is
    sent to no other, whatever the settings say later on."""

    api_key: Union[str, None] = None
    base_url: Union[str, None] = None
    model: Union[str, None] = None


class KeyOf(msgspec.Struct, frozen=True):
    """Where a provider's key comes from and goes to (host and port); never the key."""

    provider: str
    label: str
    source: Source
    host: str
    variables: tuple[str, ...]


class Models:
    def __init__(
        self,
        folder: Path,
        secrets: Secrets,
        *,
        default_model: str,
        base_url: str | None,
        demo_pace: float | None = None,
        recording: Recording | None = None,
        **settings: Any,
    ) -> None:
        """``folder`` keeps a pasted key (mode 0600). ``settings`` are those for all models.
        A key is entered for the default provider; others have theirs from the environment.
        ``recording`` is what the offline demo plays instead of its own."""
        self.warning = ""
        """What the person should know of the kept key; "" if nothing."""
        self._file = folder / "credentials.json"
        self._secrets = secrets
        self._default_model = default_model
        self._settings = Settings(**settings)
        self._providers = Providers(
            anthropic.provider(base_url),
            *openai.providers(),
            replay.provider(demo_pace, recording),
        )
        self._keyed = self._providers.default
        self._connections: dict[str, Connection] = {}
        self._loading = threading.Lock()
        self._loaded = False
        self._stored = self._kept()
        self._learnt: set[str] = set()
        """Providers whose secrets are kept out of everything."""
        self._learn(self._providers)
        secrets.add(self._stored.api_key or "")

    def _kept(self) -> Stored:
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
            return msgspec.structs.replace(stored, base_url=self._keyed.url)
        return stored

    # --- providers -------------------------------------------------------------------

    def load(self) -> None:
        """Know the providers of other packages, from the first call on; any thread may make it.
        Not at the server's start: they may import what is heavy."""
        with self._loading:
            if not self._loaded:
                extensions.add_providers(self._providers)
                self._loaded = True

    def learn_secrets(self) -> None:
        """Keep the keys of all providers out of everything, from now on."""
        self.load()
        self._learn(self._providers)

    def _learn(self, providers: Iterable[Provider]) -> None:
        new = [one for one in providers if one.name not in self._learnt]
        for provider in new:
            self._learnt.add(provider.name)
            try:
                found = [str(secret) for secret in provider.known_secrets()]
            except Exception:
                log.exception("The keys of %s are not known", provider.name)
                continue
            for secret in found:
                self._secrets.add(secret)

    def _credentials(self, provider: Provider) -> Credentials:
        """What has been entered for it."""
        stored = self._stored if provider is self._keyed else Stored()
        return Credentials(stored.api_key, stored.base_url)

    def _connection(self, provider: Provider) -> Connection:
        """Made when it is first asked for. Raises ModelError."""
        if provider.name not in self._connections:
            try:
                made = provider.connect(lambda: self._credentials(provider), self._settings)
            except Exception as error:
                raise failed(provider, error) from None
            self._connections[provider.name] = made
        return self._connections[provider.name]

    def _find(self, model_id: str) -> tuple[Provider, str]:
        if "/" in model_id:
            self.load()
        return self._providers.find(model_id)

    @property
    def _chosen(self) -> Provider:
        """Of the model that answers by default."""
        try:
            return self._find(self.default)[0]
        except ModelError:
            return self._keyed

    @property
    def configured(self) -> bool:
        """Whether the model that answers by default can be asked."""
        chosen = self._chosen
        return chosen.ready(self._credentials(chosen))

    @property
    def source(self) -> Source:
        """Where the key comes from: ``stored``, ``env`` or ``none``."""
        chosen = self._chosen
        return chosen.source(self._credentials(chosen))

    @property
    def host(self) -> str:
        """Host and port that requests go to; never what else an address may carry."""
        chosen = self._chosen
        return chosen.host(self._credentials(chosen))

    @property
    def default(self) -> str:
        return self._stored.model or self._default_model

    def default_for(self, notebook: str) -> str:
        """A provider may answer in notebooks of its own as long as there is no key."""
        if not self.configured:
            for provider in self._providers:
                if provider.answers(notebook):
                    return self._providers.id_of(provider, provider.default_model)
        return self.default

    def get(self, model_id: str) -> Model:
        """Raises ModelError."""
        provider, model = self._find(model_id)
        connection = self._connection(provider)
        if self._providers.is_ours(provider) and model == model_id:
            return connection
        return NamedModel(provider, connection, model)

    def key_variables(self) -> frozenset[str]:
        """Variables of the environment that may hold a key."""
        self.load()
        return frozenset(name for one in self._providers for name in one.key_variables)

    def key_sources(self) -> list[KeyOf]:
        """Where each provider that takes a key has it from."""
        self.load()
        return [
            KeyOf(one.name, one.label, one.source(entered), one.host(entered), one.key_variables)
            for one in self._providers
            if one.needs_key
            for entered in (self._credentials(one),)
        ]

    async def available(self) -> tuple[list[ModelInfo], ModelError | None]:
        """What can be chosen (the recording always), and why there is no more."""
        if not self._loaded and extensions.installed():
            await asyncio.to_thread(self.load)
        self.load()
        ready = [one for one in self._providers if one.ready(self._credentials(one))]
        listed = await asyncio.gather(*(self._listed(provider) for provider in ready))
        errors = [error for _, error in listed if error is not None]
        return [info for infos, _ in listed for info in infos], next(iter(errors), None)

    async def _listed(self, provider: Provider) -> tuple[list[ModelInfo], ModelError | None]:
        try:
            models = self._connection(provider).list_models()
            found = list(await asyncio.wait_for(models, LIST_TIMEOUT))
            name = self._providers.id_of
            return [
                msgspec.structs.replace(info, id=name(provider, info.id)) for info in found
            ], None
        except ModelError as error:
            return [], error
        except Exception as error:
            # Code of others, which may raise anything; what the rest has can be chosen.
            return [], ModelError("server_error", str(failed(provider, error)))

    # --- keys ------------------------------------------------------------------------

    async def set_key(self, key: str, base_url: str, model: str = "") -> None:
        """Try a key (or a server without one) and keep it. Raises ModelError ``wrong_key``,
        ``offline``, …, and CommandError ``bad_address`` or ``empty_key``; then nothing is
        kept."""
        if base_url and not origin(base_url):
            raise CommandError("bad_address", "The address must begin with http:// or https://.")
        if not key and not base_url:
            raise CommandError("empty_key", "Paste a key first.")
        tried = Stored(key or None, base_url or self._keyed.home, model or None)
        self._secrets.add(key)
        entered = Credentials(tried.api_key, tried.base_url)
        probe = self._keyed.connect(lambda: entered, self._settings)
        try:
            await probe.list_models()
        finally:
            await probe.aclose()
        self._keep(tried)

    @property
    def key_host(self) -> str:
        """Where the key that can be entered goes."""
        return self._keyed.host(self._credentials(self._keyed))

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
        looking = [one.local_servers() for one in self._providers if one.local_servers]
        return [server for found in await asyncio.gather(*looking) for server in found]

    async def close(self) -> None:
        for name, connection in self._connections.items():
            try:
                await asyncio.wait_for(connection.aclose(), CLOSE_TIMEOUT)
            except Exception as error:
                # Code of others; the server stops all the same.
                log.warning("The connections of %s cannot be closed: %r", name, error)
