"""Model providers, and the registry that maps a model's id to its provider.

An id is ``provider/model``. One that begins with no other provider's name belongs to the default
provider unchanged: ``claude-sonnet-5-5``, or ``team/sonnet`` for a gateway with such names. Our
provider with a single model, the offline demo, goes by its own name.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import (
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import dataclass
from typing import Protocol, Union
from urllib.parse import urlsplit

import msgspec

from ..base.errors import CodeInterpError, ModelError
from ..base.sentences import Sentence
from .ports import Model, ModelInfo

log = logging.getLogger(__name__)
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,31}")


class Credentials(msgspec.Struct, frozen=True):
    """The key and address that a person entered. The key is sent only to ``url``, where it was
    tested. None: they entered none, see ``Provider.connect``."""

    key: Union[str, None] = None
    url: Union[str, None] = None


class Settings(msgspec.Struct, frozen=True):
    """An admin's settings for all models.

    ``prices`` are as in ``ModelInfo``, by model; they win over all others.
    """

    max_tokens: int = 16_000
    """Most tokens of one answer, thinking included; 16,000 are some 1,500 lines of code. An answer
    cut there ends with stop_reason ``max_tokens``."""
    prices: Mapping[str, tuple[float, float, float, float]] = {}
    learn: Callable[[str], None] = lambda secret: None
    """A connection must call it with each secret that it finds or makes, to have it removed from
    texts. Not with the credentials' key, which is removed while it is the person's."""
    is_current: Callable[[], bool] = lambda: True
    """Whether the credentials of the connection are still the person's. ``stream`` checks it before
    each request, and raises ModelError if they are not."""


class Connection(Model, Protocol):
    """One provider's models with one set of credentials. Model names lack the provider's."""

    async def list_models(self) -> Sequence[ModelInfo]:
        """The models to choose from. Raises ModelError."""

    async def aclose(self) -> None:
        """Close everything. No call may follow."""


@dataclass(frozen=True)
class Provider:
    """A provider before any connection. Importing it must be quick."""

    name: str
    """The first part of its models' ids: a small letter, then small letters, digits, ``_-``."""
    label: str
    connect: Callable[[Credentials, Settings], Connection]
    """Makes the connection, in a worker thread: before the first request, and again when a person
    has changed the credentials. May import heavy modules, and raise ModelError.

    Without a ``url`` in the credentials, use ``home``. Without a ``key``, use the variables' key
    only if ``key_variable(url)`` names one: it belongs to no other address."""
    default_model: str = ""
    key_variables: tuple[str, ...] = ()
    """Environment variables that may hold its key. Their values are removed from all text that
    is shown, stored or sent to a model."""
    secrets: Callable[[], Iterable[str]] = tuple
    """Other secret values of the environment, removed in the same way."""
    secret_variables: tuple[str, ...] = ()
    """Variables that hold other secrets than keys, removed in the same way."""
    url: str = ""
    """The address of its public service, which needs a key."""
    other_url: Callable[[], str] = str
    """The address for requests from an admin or the environment, which may need no key; "" for
    none."""
    key_url: Callable[[], str] = str
    """The address that the variables' key belongs to; "" for ``home``."""
    needs_key: bool = True
    """Whether its models need a key or another address before a person can choose one."""
    keyless: bool = False
    """Whether its servers answer without a key, so that an address, or ``home``, is enough."""
    key_page: str = ""
    """The web page for getting a key; "" for none."""
    always_ask: bool = False
    """Whether every mode asks before its code runs, until "Run all in this turn"."""
    answers: Callable[[str], bool] = lambda notebook: False
    """Whether it answers in this notebook while the chosen model's provider has no key."""

    @property
    def home(self) -> str:
        """The address for requests, unless a person sets another one."""
        return self.other_url() or self.url

    def key_variable(self, url: str = "") -> str:
        """The environment variable with a key for this address (or, without one, for any); "" if
        there is none."""
        if url and origin(url) != origin(self.key_url() or self.home):
            return ""
        return next((name for name in self.key_variables if os.environ.get(name)), "")

    def ready(self, entered: Credentials) -> bool:
        if not self.needs_key or entered.key or entered.url:
            return True
        return origin(self.home) != origin(self.url) or bool(self.key_variable())

    def known_secrets(self) -> Iterator[str]:
        names = (*self.key_variables, *self.secret_variables)
        yield from (os.environ.get(name, "") for name in names)
        yield from self.secrets()


class Providers:
    """The built-in providers, the default one first, then those of other packages."""

    def __init__(self, *ours: Provider) -> None:
        self.default = ours[0]
        self._ours = {provider.name: provider for provider in ours}
        self._all = dict(self._ours)
        self._missing: set[str] = set()

    def __iter__(self) -> Iterator[Provider]:
        return iter(tuple(self._all.values()))

    def add(self, provider: Provider) -> None:
        """Add another package's provider. Raises ValueError with the fault."""
        if not isinstance(provider, Provider):
            raise ValueError(f"{provider!r} is not a Provider")
        if not isinstance(provider.name, str) or not _NAME.fullmatch(provider.name):
            raise ValueError(f"{provider.name!r} is not a valid provider name")
        if provider.name in self._all:
            raise ValueError(f"a provider named {provider.name!r} already exists")
        if not provider.label or not callable(provider.connect):
            raise ValueError(f"{provider.name!r} must have a label and a callable connect")
        self._all[provider.name] = provider
        self._missing.discard(provider.name)

    def miss(self, name: str) -> None:
        """Record a provider that could not be loaded."""
        if name not in self._all:
            self._missing.add(name)

    def get(self, name: str) -> Union[Provider, None]:
        return self._all.get(name)

    def find(self, model_id: str) -> tuple[Provider, str]:
        """The model's provider and its name there. Raises ModelError ``unknown_model`` for a
        missing provider, because no other provider may get its messages."""
        head, slash, rest = model_id.partition("/")
        if not slash:
            return (self._ours[head] if self._is_own_name(head) else self.default), model_id
        if head in self._missing:
            words = Sentence(
                "Could not load the provider “{head}”. See the server's log for the reason.",
                head=head,
            )
            raise ModelError("unknown_model", words)
        if head == self.default.name:
            return self.default, rest if self._names_another(rest) else model_id
        if head not in self._all:
            return self.default, model_id
        return self._all[head], rest or self._all[head].default_model

    def id_of(self, provider: Provider, model: str) -> str:
        """The inverse of ``find``."""
        if provider is self.default:
            return f"{provider.name}/{model}" if self._names_another(model) else model
        if model == provider.name and self._is_own_name(model):
            return model
        return f"{provider.name}/{model}"

    def _is_own_name(self, name: str) -> bool:
        """Whether the name is both a built-in provider and its only model."""
        return name in self._ours and self._ours[name].default_model == name

    def _names_another(self, model: str) -> bool:
        """Whether this model of the default provider looks like another provider's model."""
        head, slash, _ = model.partition("/")
        if not slash:
            return self._is_own_name(head)
        return head in (self._all.keys() | self._missing) - {self.default.name}


def failed(provider: Provider, error: Exception) -> CodeInterpError:
    """Log an unexpected error and give it a message."""
    if isinstance(error, CodeInterpError):
        return error
    log.error("The provider %s failed", provider.name, exc_info=error)
    words = Sentence(
        "{label} failed ({name}). See the server's log for details.",
        label=provider.label,
        name=type(error).__name__,
    )
    return ModelError("server_error", words)


def public(url: str) -> str:
    """The address without user name, password and query."""
    if not origin(url):
        return ""
    parts = urlsplit(url)
    place = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{place}{parts.path.rstrip('/')}"


def origin(url: str) -> str:
    """Scheme, host and port; "" unless the address is http or https."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ""
    if port is None or not parts.hostname:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}"
