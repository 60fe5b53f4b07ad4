"""The models and connections of all providers."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from ...base.errors import CommandError, ModelError
from ...base.preload import freeze
from ...base.sentences import Sentence, as_it_is
from ...extensions import Added, Extensions
from ...view.redaction.secrets import Secrets
from ...wire.ports import Model, ModelInfo
from ...wire.providers import (
    Connection,
    Credentials,
    Provider,
    Providers,
    Settings,
    failed,
    origin,
    public,
)
from ..anthropic import services as anthropic
from ..anthropic.clouds import CLOUDS
from ..http.provider import provider_of
from ..openai.services import SERVICES
from ..replay import provider as replay
from .connections import Described, SavedConnection, SavedConnections
from .limits import AllowedModels, OfferedModel, Spending

MAX_KEY = 4_096
"""Characters. Tokens of clouds can have a few thousand."""
LIST_TIMEOUT = 15.0
"""Seconds for a list of models. Built-in providers give up earlier, with a clear error."""
CLOSE_TIMEOUT = 2.0

log = logging.getLogger(__name__)


class LocalServers(msgspec.Struct, frozen=True):
    """The result of a search for model servers on this machine, with all addresses tried."""

    servers: list[anthropic.LocalServer]
    tried: list[str]


class Models:
    def __init__(
        self,
        folder: Path,
        secrets: Secrets,
        *,
        default_model: str,
        base_url: str | None,
        demo_pace: float | None = None,
        limits: AllowedModels | None = None,
        local_addresses: Mapping[str, str] = {},
        allowed_packages: Sequence[str] | None = None,
        **settings: Any,
    ) -> None:
        """Set up all built-in providers.

        folder           holds credentials.json (mode 0600)
        settings         settings for all models
        local_addresses  model servers on this machine at unusual ports
        allowed_packages  other packages that may add providers; None for all
        """
        self.limits = limits = limits or AllowedModels()
        self.looks_around = True
        """Whether people may search this machine for model servers, because it is their own."""
        self.spending: Spending | None = None
        """The day's cost limit; None: no limit."""
        self._secrets = secrets
        self._default_model = default_model
        self._settings = Settings(**settings, learn=secrets.add)
        self._local_addresses = local_addresses
        self._providers = Providers(
            provider_of(anthropic.ANTHROPIC, base_url),
            replay.provider(demo_pace),
            *anthropic.providers(local_addresses),
            *map(provider_of, (*CLOUDS, *SERVICES)),
        )
        file, entered = folder / "credentials.json", not limits.environment_only
        self._kept = SavedConnections(file, secrets, entered=entered)
        self._connections: dict[tuple[str, Credentials], Connection] = {}
        """By provider's name and credentials. Those with earlier credentials stay open, because an
        answer may still come from them."""
        self._connecting: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._tried: dict[str, Sentence] = {}
        """Result of a provider's last test: an error, or "" for success."""
        self._extensions = Extensions(allowed_packages)
        self.added: list[Added] = []
        """Providers of other packages, once loaded."""
        self._loading = threading.RLock()
        self._loaded = False
        self._learnt: set[str] = set()
        """Providers whose secrets are redacted."""
        self._learn(self._providers)

    @property
    def warning(self) -> Sentence:
        """A problem with the saved keys, for the person; "" for none."""
        return self._kept.warning

    # --- providers -------------------------------------------------------------------

    def load(self) -> None:
        """Load the providers of other packages, once; callable from any thread. Not at the
        server's start: they may import heavy packages."""
        with self._loading:
            if not self._loaded:
                self.added = self._extensions.add_providers(self._providers)
                self._loaded = True

    def learn_secrets(self) -> None:
        """Redact the keys of all providers from now on; callable from any thread."""
        with self._loading:
            self.load()
            self._learn(self._providers)

    def _learn(self, providers: Iterable[Provider]) -> None:
        new = [one for one in providers if one.name not in self._learnt]
        for provider in new:
            self._learnt.add(provider.name)
            try:
                found = [str(secret) for secret in provider.known_secrets()]
            except Exception:
                log.exception("Could not read the keys of %s", provider.name)
                continue
            for secret in found:
                self._secrets.add(secret)

    async def _connection(self, provider: Provider) -> Connection:
        """The connection with the provider's present credentials. Raises ModelError."""
        credentials = self._kept.credentials(provider)
        key = (provider.name, credentials)
        settings = msgspec.structs.replace(
            self._settings, is_current=lambda: self._kept.credentials(provider) == credentials
        )
        async with self._connecting[provider.name]:
            if key not in self._connections:
                try:
                    self._connections[key] = await asyncio.to_thread(
                        provider.connect, credentials, settings
                    )
                except Exception as error:
                    raise failed(provider, error) from None
            return self._connections[key]

    def _find(self, model_id: str) -> tuple[Provider, str]:
        if "/" in model_id:
            self.load()
        return self._providers.find(model_id)

    def _named(self, name: str) -> Provider:
        """Raises CommandError ``unknown_provider`` or ``not_allowed``."""
        self.load()
        provider = self._providers.get(name)
        if provider is None or not provider.needs_key:
            raise CommandError("unknown_provider", "Unknown provider “{name}”.", name=name)
        if not self.limits.provider(name):
            words = "The admin of this server does not allow {provider}."
            raise CommandError("not_allowed", words, provider=provider.label)
        return provider

    def _ready(self, provider: Provider) -> bool:
        allowed = self.limits.provider(provider.name)
        return allowed and provider.ready(self._kept.credentials(provider))

    # --- models ----------------------------------------------------------------------

    @property
    def _chosen(self) -> Provider:
        """The default model's provider."""
        try:
            return self._find(self.default)[0]
        except ModelError:
            return self._providers.default

    @property
    def configured(self) -> bool:
        """Whether the default model is usable."""
        return self._ready(self._chosen)

    @property
    def fault(self) -> str:
        """The error of the last test of the default model's provider; "" for none."""
        return self._tried.get(self._chosen.name, "")

    @property
    def default(self) -> str:
        entered = "" if self.limits.environment_only else self._kept.default_model
        return entered or self._default_model

    @property
    def demo(self) -> str:
        """The id of the offline demo; "" if not allowed."""
        return replay.NAME if self.limits.provider(replay.NAME) else ""

    def default_for(self, notebook: str) -> str:
        """The default model of a notebook. Without a key, a provider may offer its own (demo)."""
        if not self.configured:
            for provider in self._providers:
                if provider.answers(notebook) and self.limits.provider(provider.name):
                    return self._providers.id_of(provider, provider.default_model)
        return self.default

    async def get(self, model_id: str) -> Model:
        """The model with this id, with limits and metering, for one turn: a later one may need
        other credentials. Imports its SDK in a worker thread. Raises ModelError."""
        provider, model = self._find(model_id)
        self.limits.check(provider, model, provider is self._providers.default)
        connection = await self._connection(provider)
        if model == model_id and self.spending is None:
            return connection
        return OfferedModel(provider, connection, model, self.spending)

    def check(self, model_id: str) -> None:
        """Raises ModelError ``no_key`` if the model's provider is not connected."""
        provider, _ = self._find(model_id)
        if not self._ready(provider):
            variable = next(iter(provider.key_variables), "")
            words = Sentence(
                "{label} has no key. Enter one: jupyter codeinterp key set", label=provider.label
            )
            raise ModelError(
                "no_key",
                Sentence("{words}, or set {variable}.", words=words, variable=variable)
                if variable
                else Sentence("{words}.", words=words),
            )

    def key_variables(self) -> frozenset[str]:
        """Environment variables that may hold a provider's key or other secret."""
        self.load()
        return frozenset(
            name for one in self._providers for name in (*one.key_variables, *one.secret_variables)
        )

    async def available(self) -> tuple[list[ModelInfo], ModelError | None]:
        """All usable models (always the recording), and the first error."""
        if not self._loaded:
            await asyncio.to_thread(self.load)
        ready = [one for one in self._providers if self._ready(one)]
        listed = await asyncio.gather(*(self._listed(provider) for provider in ready))
        freeze()  # their SDKs are imported now
        # A key in the environment may be for other programs, so a missing package for it is no
        # error here. The list of connections shows it.
        errors = [e for _, e in listed if e is not None and e.code != "not_installed"]
        return [info for infos, _ in listed for info in infos], next(iter(errors), None)

    async def _listed(self, provider: Provider) -> tuple[list[ModelInfo], ModelError | None]:
        """The provider's allowed models, with their full ids. Remembers the result."""
        try:
            found = await _models_of(await self._connection(provider))
            infos = self._allowed(provider, found)
        except Exception as error:
            # Other packages' code may raise anything. Other providers stay usable.
            known = failed(provider, error)
            self._tried[provider.name] = known.message
            return [], ModelError(known.code, as_it_is(known.message))
        self._tried[provider.name] = Sentence()
        return infos, None

    def _allowed(self, provider: Provider, found: Iterable[ModelInfo]) -> list[ModelInfo]:
        is_default = provider is self._providers.default
        return [
            msgspec.structs.replace(info, id=self._providers.id_of(provider, info.id))
            for info in found
            if self.limits.model(provider, info.id, is_default)
        ]

    # --- connections -----------------------------------------------------------------

    def connections(self) -> list[Described]:
        """All allowed providers that need a connection."""
        self.load()
        allowed = [one for one in self._providers if self.limits.provider(one.name)]
        return [self.described(one.name) for one in allowed if one.needs_key]

    @property
    def connected(self) -> list[str]:
        """Names of the connected providers, of those loaded so far."""
        return [one.name for one in self._providers if one.needs_key and self._ready(one)]

    def described(self, name: str) -> Described:
        """Raises CommandError ``unknown_provider`` or ``not_allowed``."""
        provider = self._named(name)
        entered = self._kept.credentials(provider)
        source = self._kept.source(provider)
        url = entered.url or provider.home
        tried = self._tried.get(provider.name)
        return Described(
            provider=provider.name,
            label=provider.label,
            connected=self._ready(provider),
            entered=self._kept.kept(provider) is not None,
            source=source,
            variable=provider.key_variable(url) if source == "env" else "",
            address=public(url),
            origin=origin(url),
            works=None if tried is None else not tried,
            said=tried or "",
            keyless=provider.keyless,
            key_page=provider.key_page,
        )

    async def test(self, name: str) -> Described:
        """List a provider's models as a test. Raises as ``described``."""
        await self._listed(self._named(name))
        return self.described(name)

    async def connect(self, name: str, key: str, base_url: str, model: str = "") -> None:
        """Test a key (or a server without one) and save it.

        ``base_url`` "": the known address. ``model`` becomes the default; "": the default stays,
        or, if it does not work, becomes one of this provider's. Raises ModelError
        ``wrong_key``, ``offline``, …, and CommandError ``bad_address``, ``empty_key``, …; then
        saves nothing.
        """
        provider = self._named(name)
        if self.limits.environment_only:
            words = "Only the admin of this server can set keys and addresses."
            raise CommandError("not_allowed", words)
        known = self._kept.credentials(provider).url or provider.home
        url = _address(provider, key, base_url, known)
        listed = await _try(provider, Credentials(key or None, url), self._settings)
        default = self._default_after(provider, model, [info.id for info in listed])
        self._kept.change(provider, SavedConnection(url, key), default)
        self._tried[provider.name] = Sentence()

    def _default_after(self, provider: Provider, model: str, listed: list[str]) -> str:
        """The chosen model after a new connection of this provider; "" for the settings'."""
        if model:
            return self._providers.id_of(provider, model)
        if self.configured or self._chosen is provider or not listed:
            return self._kept.default_model
        best = provider.default_model
        return self._providers.id_of(provider, best if best in listed else listed[0])

    def forget(self, name: str) -> None:
        """Delete the entered connection. Raises CommandError ``not_kept``, …"""
        provider = self._named(name)
        default = self._kept.default_model
        if default and self._find(default)[0] is provider:
            default = ""
        self._kept.change(provider, None, default)
        self._tried.pop(provider.name, None)

    @property
    def default_provider(self) -> str:
        return self._providers.default.name

    async def local_servers(self) -> LocalServers:
        """Model servers that answer on this machine, and the addresses tried. Raises CommandError
        ``not_here``."""
        if not self.looks_around:
            words = (
                "This server may run on another machine, so it does not search for model "
                "servers. Add one by its address."
            )
            raise CommandError("not_here", words)
        rows = anthropic.local_rows(self._local_addresses)
        rows = [row for row in rows if self.limits.provider(row.name)]
        tried = [f"{row.label} ({public(row.url)})" for row in rows]
        return LocalServers(await anthropic.found(rows), tried)

    async def close(self) -> None:
        for (name, _), connection in self._connections.items():
            try:
                await asyncio.wait_for(connection.aclose(), CLOSE_TIMEOUT)
            except Exception as error:
                # Other packages' code may raise anything; the server stops all the same.
                log.warning("Could not close the connections of %s: %r", name, error)


async def _models_of(connection: Connection) -> list[ModelInfo]:
    return list(await asyncio.wait_for(connection.list_models(), LIST_TIMEOUT))


def _address(provider: Provider, key: str, base_url: str, known: str) -> str:
    """The address for a key: ``base_url``, else the ``known`` one. Raises CommandError for input
    that cannot be right."""
    if len(key) > MAX_KEY:
        words = "This is too long for a key: at most {limit:,} characters."
        raise CommandError("key_too_long", words, limit=MAX_KEY)
    url = base_url or known
    if not origin(url):
        words = "Enter an address such as {example}."
        raise CommandError("bad_address", words, example="https://models.example.org/v1")
    if not key and not base_url and not provider.keyless:
        raise CommandError("empty_key", "Paste a key first.")
    if key and (variable := provider.key_variable(url)):
        words = (
            "{variable} in the Jupyter server's environment overrides a key entered here. "
            "Change it there, or start the server without it."
        )
        raise CommandError("key_in_environment", words, variable=variable)
    return url


async def _try(provider: Provider, entered: Credentials, settings: Settings) -> list[ModelInfo]:
    """List the provider's models with new credentials. Raises ModelError."""
    try:
        probe = await asyncio.to_thread(provider.connect, entered, settings)
        async with aclosing(probe):
            return await _models_of(probe)
    except CommandError:
        raise
    except Exception as error:
        # Not in the shared redaction yet: text that is no key would vanish from code that
        # people review.
        own = Secrets()
        own.add(entered.key or "")
        known = failed(provider, error)
        raise ModelError(known.code, as_it_is(known.message.changed(own.scrub))) from None
