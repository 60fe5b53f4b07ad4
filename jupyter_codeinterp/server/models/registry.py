"""The models of all providers: what answers, what can be chosen, and how each is connected."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ...adapters.providers.anthropic import provider as anthropic
from ...adapters.providers.anthropic.clouds import provider as clouds
from ...adapters.providers.anthropic.servers import looking
from ...adapters.providers.anthropic.servers import provider as messages_servers
from ...adapters.providers.openai import provider as openai
from ...adapters.providers.replay import provider as replay
from ...core.errors import CodeInterpError, CommandError, ModelError
from ...core.ports import Model, ModelInfo
from ...core.providers import (
    Connection,
    Credentials,
    NamedModel,
    Provider,
    Providers,
    Settings,
    Source,
    failed,
    origin,
    public,
)
from ...core.redaction.secrets import Secrets
from .. import extensions
from .connections import Connections, Locked
from .described import Described
from .key_file import KeyFile
from .limits import NONE, Limits
from .spending import PaidModel, Spending

if TYPE_CHECKING:
    from ...adapters.providers.replay.recording import Recording

LIST_TIMEOUT = 15.0
"""Seconds that a provider has to list its models. (Ours give up earlier, in words.)"""

CLOSE_TIMEOUT = 2.0

log = logging.getLogger(__name__)


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
        limits: Limits = NONE,
        local_addresses: Mapping[str, str] = {},
        **settings: Any,
    ) -> None:
        """``folder`` keeps what a person has entered (mode 0600). ``settings`` are those for all
        models. ``recording`` is what the offline demo plays instead of its own.
        ``local_addresses``: of servers on this machine that are not at their usual ports."""
        self.limits = limits
        self.looks_around = True
        """Whether model servers on this machine are looked for: it is the person's own."""
        self.spending: Spending | None = None
        """What a day may cost; None: anything."""
        self._secrets = secrets
        self._default_model = default_model
        self._settings = Settings(**settings, learn=secrets.add)
        self._local_addresses = local_addresses
        self._providers = Providers(
            anthropic.provider(base_url),
            replay.provider(demo_pace, recording),
            *messages_servers.providers(local_addresses),
            *clouds.providers(),
            *openai.providers(),
        )
        first = self._providers.default
        self._file = KeyFile(folder / "credentials.json", first.name, first.url)
        self._kept = Connections(self._file, secrets, entered=not limits.environment_only)
        self._connections: dict[str, Connection] = {}
        self._tried: dict[str, str] = {}
        """What came of the last try of a provider: "" where it works, else what was wrong."""
        self._notes: dict[str, str] = {}
        """What the person should know of the last change of a provider's key."""
        self._loading = threading.Lock()
        self._loaded = False
        self._learnt: set[str] = set()
        """Providers whose secrets are kept out of everything."""
        self._learn(self._providers)

    @property
    def warning(self) -> str:
        """What the person should know of kept keys; "" if nothing."""
        return self._file.warning

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

    def _connection(self, provider: Provider) -> Connection:
        """Made when it is first asked for. Raises ModelError."""
        if provider.name not in self._connections:
            try:
                made = provider.connect(lambda: self._kept.credentials(provider), self._settings)
            except Exception as error:
                raise failed(provider, error) from None
            self._connections[provider.name] = made
        connection = self._connections[provider.name]
        if self._kept.locked(provider):
            return Locked(connection, lambda: self._kept.unlock(provider))
        return connection

    def _find(self, model_id: str) -> tuple[Provider, str]:
        if "/" in model_id:
            self.load()
        return self._providers.find(model_id)

    def _named(self, name: str) -> Provider:
        """Raises CommandError ``unknown_provider`` or ``not_allowed``."""
        self.load()
        provider = self._providers.get(name)
        if provider is None or not provider.needs_key:
            raise CommandError("unknown_provider", f"There is no provider “{name}” to connect.")
        if not self.limits.provider(name):
            words = f"The admin of this server does not allow {provider.label}."
            raise CommandError("not_allowed", words)
        return provider

    def _ready(self, provider: Provider) -> bool:
        allowed = self.limits.provider(provider.name)
        return allowed and provider.ready(self._kept.credentials(provider))

    # --- models ----------------------------------------------------------------------

    @property
    def _chosen(self) -> Provider:
        """Of the model that answers by default."""
        try:
            return self._find(self.default)[0]
        except ModelError:
            return self._providers.default

    @property
    def configured(self) -> bool:
        """Whether the model that answers by default can be asked."""
        return self._ready(self._chosen)

    @property
    def source(self) -> Source:
        """Where its key comes from: ``stored``, ``env`` or ``none``."""
        chosen = self._chosen
        return chosen.source(self._kept.credentials(chosen))

    @property
    def host(self) -> str:
        """Host and port that requests go to; never what else an address may carry."""
        chosen = self._chosen
        return chosen.host(self._kept.credentials(chosen))

    @property
    def default(self) -> str:
        entered = "" if self.limits.environment_only else self._file.content.default_model
        return entered or self._default_model

    @property
    def demo(self) -> str:
        """The id of the offline demo; "" where it is not allowed."""
        return replay.NAME if self.limits.provider(replay.NAME) else ""

    def default_for(self, notebook: str) -> str:
        """A provider may answer in notebooks of its own as long as there is no key."""
        if not self.configured:
            for provider in self._providers:
                if provider.answers(notebook) and self.limits.provider(provider.name):
                    return self._providers.id_of(provider, provider.default_model)
        return self.default

    def get(self, model_id: str) -> Model:
        """Whoever asks. Raises ModelError."""
        provider, model = self._find(model_id)
        self.limits.check(provider, model, provider is self._providers.default)
        found: Model = self._connection(provider)
        if not (self._providers.is_ours(provider) and model == model_id):
            found = NamedModel(provider, self._connection(provider), model)
        return found if self.spending is None else PaidModel(found, self.spending)

    def check(self, model_id: str) -> None:
        """Before anything is begun for it. Raises ModelError ``no_key``."""
        provider, _ = self._find(model_id)
        if not self._ready(provider):
            variable = next(iter(provider.key_variables), "")
            words = f"{provider.label} has no key. Enter one: jupyter codeinterp key set"
            raise ModelError("no_key", f"{words}, or set {variable}." if variable else f"{words}.")

    def key_variables(self) -> frozenset[str]:
        """Variables of the environment that may hold a key, or another secret of a provider."""
        self.load()
        return frozenset(
            name for one in self._providers for name in (*one.key_variables, *one.secret_variables)
        )

    async def available(self) -> tuple[list[ModelInfo], ModelError | None]:
        """What can be chosen (the recording always), and why there is no more."""
        if not self._loaded and extensions.installed():
            await asyncio.to_thread(self.load)
        self.load()
        ready = [one for one in self._providers if self._ready(one)]
        listed = await asyncio.gather(*(self._listed(provider) for provider in ready))
        # A key may lie in the environment for other programs: a package that it would need is
        # missed only where somebody asks for it. The list of connections says so.
        errors = [e for _, e in listed if e is not None and e.code != "not_installed"]
        return [info for infos, _ in listed for info in infos], next(iter(errors), None)

    async def _listed(self, provider: Provider) -> tuple[list[ModelInfo], ModelError | None]:
        """Those that may be used, with their ids here. What came of it is remembered."""
        try:
            found = await _models_of(self._connection(provider))
            infos = self._allowed(provider, found)
        except Exception as error:
            # Code of others, which may raise anything; what the rest has can be chosen.
            words = str(failed(provider, error))
            self._tried[provider.name] = words
            if isinstance(error, ModelError):
                return [], error
            return [], ModelError("server_error", words)
        self._tried[provider.name] = ""
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
        """All that may be connected, whether or not they are."""
        self.load()
        allowed = [one for one in self._providers if self.limits.provider(one.name)]
        return [self.described(one.name) for one in allowed if one.needs_key]

    def without_keys(self) -> list[tuple[str, str]]:
        """Those that want none: what they are called, and what was wrong with them when they were
        asked last; "" if nothing."""
        allowed = (one for one in self._providers if self.limits.provider(one.name))
        return [(one.label, self._tried.get(one.name, "")) for one in allowed if not one.needs_key]

    @property
    def connected(self) -> list[str]:
        """Those whose models can be chosen, of the providers that are known by now."""
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
            note=self._notes.get(provider.name, ""),
            keyless=provider.keyless,
            place_looks=provider.place_looks,
            key_looks=provider.key_looks,
            key_page=provider.key_page,
            variables=provider.key_variables,
        )

    async def test(self, name: str) -> Described:
        """Ask it for its models, with what it has. Raises as ``described`` does."""
        await self._listed(self._named(name))
        return self.described(name)

    async def connect(self, name: str, key: str, base_url: str, model: str = "") -> None:
        """Try a key (or a server without one), and keep it; ``base_url`` "": the address that
        it has. ``model`` answers by default from then on; "": as before, or, if nothing does,
        one of this provider's. Raises ModelError ``wrong_key``, ``offline``, …, and CommandError
        ``bad_address``, ``empty_key``, …; then nothing is kept."""
        provider = self._named(name)
        self._secrets.add(key)
        if self.limits.environment_only:
            words = "On this server, keys and addresses come from the admin alone."
            raise CommandError("not_allowed", words)
        if base_url and not origin(base_url):
            base_url = provider.settle(base_url.strip())
            if not base_url:
                raise CommandError("bad_address", _bad_address(provider))
        url = base_url or self._kept.credentials(provider).url or provider.home
        if not url:
            what = f"it, such as {provider.place_looks}" if provider.place_looks else "the server"
            raise CommandError("bad_address", f"Enter the address of {what}.")
        if not key and not base_url and not provider.keyless:
            raise CommandError("empty_key", "Paste a key first.")
        if key and (variable := provider.key_variable(url)):
            words = (
                f"{variable} in the environment of the Jupyter server comes before a key that is "
                "entered here. Change it there, or start the server without it."
            )
            raise CommandError("key_in_environment", words)
        listed = await self._try(provider, Credentials(key or None, url))
        default = self._default_after(provider, model, [info.id for info in listed])
        self._notes[name] = await self._kept.keep(provider, url, key, default)
        self._tried[provider.name] = ""

    async def _try(self, provider: Provider, entered: Credentials) -> list[ModelInfo]:
        """Its models with other credentials. Raises ModelError."""
        try:
            probe = provider.connect(lambda: entered, self._settings)
            try:
                return await _models_of(probe)
            finally:
                await probe.aclose()
        except CodeInterpError:
            raise
        except Exception as error:
            raise ModelError("server_error", str(failed(provider, error))) from None

    def _default_after(self, provider: Provider, model: str, listed: list[str]) -> str:
        """The model that a person has chosen, once this provider is connected anew; "" for that
        of the settings."""
        if model:
            return self._providers.id_of(provider, model)
        chosen = self._file.content.default_model
        if chosen:
            owner, name = self._find(chosen)
            if owner is not provider or name in listed:
                return chosen
        owner, _ = self._find(self._default_model)
        if owner is provider or self._ready(owner) or not listed:
            return ""
        best = provider.default_model
        return self._providers.id_of(provider, best if best in listed else listed[0])

    async def forget(self, name: str) -> None:
        """What has been entered for it. Raises CommandError ``not_kept``, …"""
        provider = self._named(name)
        default = self._file.content.default_model
        if default and self._find(default)[0] is provider:
            default = ""
        self._notes[name] = await self._kept.forget(provider, default)
        self._tried.pop(provider.name, None)

    async def put_back(self, name: str) -> Callable[[], None]:
        """What makes this connection, and the chosen model, again what they are now."""
        provider = self._named(name)
        back = await self._kept.put_back(provider)

        def undo() -> None:
            self._notes.pop(name, None)
            self._tried.pop(name, None)
            back()

        return undo

    @property
    def default_provider(self) -> str:
        return self._providers.default.name

    async def local_servers(self) -> dict[str, Any]:
        """Model servers that answer at their usual ports on this machine, and where they were
        looked for. Raises CommandError ``not_here``."""
        if not self.looks_around:
            words = (
                "This server may not be on your own machine: model servers are not looked for. "
                "Add one by its address."
            )
            raise CommandError("not_here", words)
        places = looking.places(self._local_addresses, self.limits.provider)
        tried = [{"name": one.name, "address": public(one.base_url)} for one in places]
        return {"servers": await looking.found(places), "tried": tried}

    async def close(self) -> None:
        for name, connection in self._connections.items():
            try:
                await asyncio.wait_for(connection.aclose(), CLOSE_TIMEOUT)
            except Exception as error:
                # Code of others; the server stops all the same.
                log.warning("The connections of %s cannot be closed: %r", name, error)


def _bad_address(provider: Provider) -> str:
    words = "The address must begin with http:// or https://"
    instead = f", or be a name such as {provider.place_looks}" if provider.place_looks else ""
    return f"{words}{instead}."


async def _models_of(connection: Connection) -> list[ModelInfo]:
    """In time. What must be imported to ask is imported before that runs, which on a busy machine
    takes as long."""
    prepare = getattr(connection, "prepare", None)
    if prepare is not None:
        await prepare()
    return list(await asyncio.wait_for(connection.list_models(), LIST_TIMEOUT))
