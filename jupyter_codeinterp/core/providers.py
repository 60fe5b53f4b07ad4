"""Where models come from. A provider makes them of credentials; the registry finds, for the id of
a model, whose it is.

An id is ``provider/model``. One that begins with no other provider's name is a model of the
default provider, as it stands: ``claude-sonnet-5-5``, and also ``team/sonnet`` where a gateway
calls its models so. A provider of ours with one model, the offline demo, goes by its own name.
What any other provider has is always written with the provider's name.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import (
    AsyncGenerator,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import Any, Literal, Protocol, Union
from urllib.parse import urlsplit

import msgspec

from .errors import CodeInterpError, ModelError
from .ports import Model, ModelEvent, ModelInfo, ModelRequest

Source = Literal["stored", "env", "none"]
"""Where a key comes from: a person has entered it, the server's environment has it, nowhere."""
log = logging.getLogger(__name__)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class Credentials(msgspec.Struct, frozen=True):
    """What a person has entered. ``url`` is the address that the key was tried at: it goes to
    no other. None for what the environment, or the provider, says."""

    key: Union[str, None] = None
    url: Union[str, None] = None


def _unheard(secret: str) -> None:
    """Nobody keeps it out of anything."""


class Settings(msgspec.Struct, frozen=True):
    """What an admin has set for all models. ``prices`` as in ``ModelInfo``, by model. ``learn`` is
    to be told of each secret that a connection finds or makes by itself, so that it is kept out
    of everything."""

    max_tokens: int = 16_000
    prices: Mapping[str, tuple[float, float, float, float]] = {}
    learn: Callable[[str], None] = _unheard


class Connection(Model, Protocol):
    """The models of one provider with one set of credentials. Models go by the names that the
    provider has for them, without its own."""

    async def list_models(self) -> Sequence[ModelInfo]:
        """Those that can be chosen. Raises ModelError."""

    async def aclose(self) -> None:
        """Close what is open. It is not used again."""


def _nothing() -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Provider:
    """What is known of a provider before anything is connected; importing it must be quick."""

    name: str
    """The first part of its models' ids: a small letter, then those, digits, ``_`` and ``-``."""
    label: str
    """For people."""
    connect: Callable[[Callable[[], Credentials], Settings], Connection]
    """Makes its models, without waiting for anything: what is heavy is imported when the first
    of them is asked. The credentials are to be read anew before each call; what of them is
    None is the provider's own to know, from its variables."""
    default_model: str = ""
    key_variables: tuple[str, ...] = ()
    """Variables of the environment that may hold its key. Their values are taken out of all
    text that is shown, kept or sent to a model."""
    secrets: Callable[[], Iterable[str]] = _nothing
    """What else of the environment is to be taken out."""
    secret_variables: tuple[str, ...] = ()
    """Variables that hold secrets for it, beside keys."""
    url: str = ""
    """Of its public service, which needs a key."""
    other_url: Callable[[], str] = str
    """Where requests go instead, as an admin or the environment has it; "" for nowhere else.
    There a key may not be needed."""
    key_url: Callable[[], str] = str
    """The address that the variables' key belongs to; "" for ``home``."""
    needs_key: bool = True
    """Whether there is nothing to choose from until there is a key, or another address."""
    keyless: bool = False
    """Whether its servers answer without a key, so that a person connects with an address, or
    even that of ``home``, alone."""
    key_looks: str = ""
    """What a key looks like, for people; "" where that is not known."""
    key_page: str = ""
    """Where a key is to be had; "" for nowhere."""
    always_ask: bool = False
    """Whether what its models write is asked for in every mode, until the person lets all of a
    turn run."""
    settle: Callable[[str], str] = lambda place: ""
    """The address that a person means who names a region, a project or a resource instead; ""
    for anything else."""
    place_looks: str = ""
    """What such a name looks like, for people."""
    answers: Callable[[str], bool] = lambda notebook: False
    """Whether it answers in this notebook as long as the chosen model's provider has no key."""

    @property
    def home(self) -> str:
        """Where requests go, unless a person has named another address."""
        return self.other_url() or self.url

    def key_variable(self, url: str = "") -> str:
        """The variable of the environment that has a key for this address, or for whichever it
        belongs to; "" if none has."""
        if url and origin(url) != origin(self.key_url() or self.home):
            return ""
        return next((name for name in self.key_variables if os.environ.get(name)), "")

    def source(self, entered: Credentials) -> Source:
        if entered.key or entered.url:
            return "stored"
        elsewhere = origin(self.home) != origin(self.url)
        return "env" if elsewhere or self.key_variable() else "none"

    def host(self, entered: Credentials) -> str:
        """Host and port that requests go to; never what else an address may carry."""
        return urlsplit(entered.url or self.home).netloc.rpartition("@")[2]

    def ready(self, entered: Credentials) -> bool:
        return not self.needs_key or self.source(entered) != "none"

    def known_secrets(self) -> Iterator[str]:
        yield from (os.environ.get(name, "") for name in self.key_variables)
        yield from self.secrets()


class Providers:
    """Ours, the default one first; then those of others."""

    def __init__(self, *ours: Provider) -> None:
        self.default = ours[0]
        self._ours = {provider.name: provider for provider in ours}
        self._all = dict(self._ours)
        self._missing: set[str] = set()

    def __iter__(self) -> Iterator[Provider]:
        return iter(tuple(self._all.values()))

    def add(self, provider: Provider) -> None:
        """One of others. Raises ValueError with what is wrong with it."""
        if not isinstance(provider, Provider):
            raise ValueError(f"{provider!r} is no Provider")
        if not isinstance(provider.name, str) or not _NAME.fullmatch(provider.name):
            raise ValueError(f"{provider.name!r} is no name for a provider")
        if provider.name in self._all:
            raise ValueError(f"there is a provider {provider.name!r} already")
        if not provider.label or not callable(provider.connect):
            raise ValueError(f"{provider.name!r} must have a label, and a connect to call")
        self._all[provider.name] = provider
        self._missing.discard(provider.name)

    def miss(self, name: str) -> None:
        """There is to be one of this name, and it could not be loaded."""
        if name not in self._all:
            self._missing.add(name)

    def get(self, name: str) -> Union[Provider, None]:
        return self._all.get(name)

    def is_ours(self, provider: Provider) -> bool:
        return provider.name in self._ours

    def find(self, model_id: str) -> tuple[Provider, str]:
        """Whose it is, and what it is called there. Raises ModelError ``unknown_model`` for
        one of a provider that is missing: what is said to that one is for nobody else."""
        head, slash, rest = model_id.partition("/")
        if not slash:
            return (self._ours[head] if self._is_own_name(head) else self.default), model_id
        if head in self._missing:
            words = f"The provider “{head}” could not be loaded. The server's log says why."
            raise ModelError("unknown_model", words)
        if head == self.default.name:
            return self.default, rest if self._names_another(rest) else model_id
        if head not in self._all:
            return self.default, model_id
        return self._all[head], rest or self._all[head].default_model

    def id_of(self, provider: Provider, model: str) -> str:
        """The id that ``find`` takes apart again."""
        if provider is self.default:
            return f"{provider.name}/{model}" if self._names_another(model) else model
        if model == provider.name and self._is_own_name(model):
            return model
        return f"{provider.name}/{model}"

    def _is_own_name(self, name: str) -> bool:
        """Whether it is the name of a provider of ours and of its one model."""
        return name in self._ours and self._ours[name].default_model == name

    def _names_another(self, model: str) -> bool:
        """Whether a name of the default provider's could be taken for another's model."""
        head, slash, _ = model.partition("/")
        if not slash:
            return self._is_own_name(head)
        return head in (self._all.keys() | self._missing) - {self.default.name}


class NamedModel:
    """A model of a connection, under its id. What a provider of others raises that is no
    ModelError becomes one: the turn ends in words."""

    def __init__(self, provider: Provider, connection: Connection, model: str) -> None:
        self.always_ask = provider.always_ask or bool(connection.always_ask)
        self._provider = provider
        self._connection = connection
        self._model = model

    async def info(self, model: str) -> ModelInfo:
        try:
            known = await self._connection.info(self._model)
            return msgspec.structs.replace(known, id=model)
        except Exception as error:
            raise failed(self._provider, error) from error

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        theirs = msgspec.structs.replace(request, model=self._model)
        events: Any = None
        try:
            events = self._connection.stream(theirs)
            async for event in events:
                yield event
        except Exception as error:
            raise failed(self._provider, error) from error
        finally:
            if hasattr(events, "aclose"):
                await events.aclose()


def failed(provider: Provider, error: Exception) -> CodeInterpError:
    """The error, in words where it has none; it is logged then."""
    if isinstance(error, CodeInterpError):
        return error
    log.error("The provider %s failed", provider.name, exc_info=error)
    words = f"{provider.label} failed ({type(error).__name__}). The server's log says more."
    return ModelError("server_error", words)


def public(url: str) -> str:
    """The address without what only its server is to know: a name, a password, a query."""
    if not origin(url):
        return ""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def origin(url: str) -> str:
    """Scheme, host and port; "" if the address is not one of http or https."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ""
    if port is None or not parts.hostname:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}"
