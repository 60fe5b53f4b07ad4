"""A service of models behind HTTP: one row of a table. And which key goes to which address.

The server's start needs this file: it imports no SDK, no HTTP client and no model.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal, Union
from urllib.parse import urlsplit, urlunsplit

import msgspec

from ...base.errors import ModelError
from ...base.sentences import Sentence
from ...wire.messages import PDF
from ...wire.providers import origin

IMAGES = ("image/png", "image/jpeg")


class Service(msgspec.Struct, frozen=True, kw_only=True):
    """One service, or one kind of server.

    adapter        where the class of its API is (a HttpModel), as module:class in ``models``.
                   Its module imports the SDK
    url            its address; "" if a person must name one (``unsaid`` asks for it)
    url_variable   of the environment, may name another address, to which the keys in
                   ``key_variables`` then belong
    address        an address out of other variables; "" if they are incomplete
    path           path of the API at an address without one
    its_host       whether an address is the service's own; None: if it has the origin of ``url``,
                   or any where there is no such service
    local          it runs on the person's machine at its usual port, without a key
    runs_here      its models run on the server itself, so on this machine they cost nothing
    own_prices     published prices of its models are those at its own address
    headers_variable   holds headers for the environment's address, which often carry a key
    secret_variables   hold other secrets than keys
    chosen_by      a variable that nothing else uses: without it, variables for other programs
                   do not offer its models
    extra          the extra of this package with the packages that it needs
    sign_in        how a person gets or renews credentials of the machine
    models         known ones, if it has no list
    hides          name parts of models that hold no conversation in text
    documents      whether its models accept PDFs

    For the Messages API:

    claude         where it has all features of Anthropic's own API, and refuses thinking without
                   a signature. Other servers get the plain API
    x_api_key      the key goes into ``X-Api-Key`` too; many servers read only that
    list_url       where models are listed, if not at ``/v1/models`` of the address: a path
                   of the same origin
    key_url        requested first, to test the key, where anybody may read the list

    For Chat Completions:

    bridge         an assistant message must separate a tool result from the person's next
                   message (Mistral: "Unexpected role 'user' after role 'tool'")
    asks_usage     it accepts ``stream_options``
    """

    name: str
    label: str
    adapter: str
    url: str = ""
    url_variable: str = ""
    address: Union[Callable[[], str], None] = None
    path: str = ""
    unsaid: Sentence = Sentence()
    its_host: Union[Callable[[str], bool], None] = None
    local: bool = False
    runs_here: bool = False
    own_prices: bool = True
    key_variables: tuple[str, ...] = ()
    key_page: str = ""
    headers_variable: str = ""
    secret_variables: tuple[str, ...] = ()
    chosen_by: str = ""
    extra: str = ""
    sign_in: Sentence = Sentence()
    default_model: str = ""
    models: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    documents: bool = False
    claude: Literal["nowhere", "at its host", "everywhere"] = "nowhere"
    x_api_key: bool = False
    list_url: str = ""
    key_url: str = ""
    bridge: bool = False
    asks_usage: bool = True

    @property
    def home(self) -> str:
        """The environment's address; "" if it is incomplete."""
        named = os.environ.get(self.url_variable, "").strip()
        return named or (self.address() if self.address else self.url)

    @property
    def keyless(self) -> bool:
        """Whether its servers answer without a key that a person enters."""
        return self.local or bool(self.sign_in) or self.runs_here


class ModelServer(msgspec.Struct, frozen=True):
    """Where requests go, and with what.

    ``of_environment``: the environment names this address, so its other headers belong there, too.
    ``signs_in``: without a secret, the libraries of the cloud may use credentials that they find on
    the machine.
    """

    service: Service
    base_url: str
    secret: Union[str, None] = None
    of_environment: bool = False
    signs_in: bool = False

    @property
    def is_public(self) -> bool:
        """Whether it is the service itself: failures on the way to it are the network's."""
        if self.service.its_host is not None:
            return self.service.its_host(self.base_url)
        if self.service.local or self.service.runs_here:
            return False
        return not self.service.url or origin(self.base_url) == origin(self.service.url)

    @property
    def is_claude(self) -> bool:
        where = self.service.claude
        return where == "everywhere" or (where == "at its host" and self.is_public)

    @property
    def place(self) -> str:
        """Its name for people."""
        if self.is_public and not self.service.url:
            return f"{self.service.label} ({origin(self.base_url)})"
        at = Sentence("The model server at {origin}", origin=origin(self.base_url))
        return self.service.label if self.is_public else at

    @property
    def vendor(self) -> str:
        """The provider whose published prices apply; "" for none."""
        if not self.service.own_prices:
            return ""
        return self.service.name if self.is_claude or self.is_public else ""

    @property
    def takes(self) -> tuple[str, ...]:
        """Media types of the files that are sent unchanged."""
        documents = self.service.documents or self.is_claude
        return (*IMAGES, PDF) if documents else IMAGES

    def own_name(self, model: str) -> str:
        """The server's name for the model: at Anthropic itself, without the provider's name."""
        is_anthropic = self.service.claude == "at its host" and self.is_public
        return model.removeprefix(f"{self.service.name}/") if is_anthropic else model


def resolve(service: Service, key: str | None, url: str | None) -> ModelServer:
    """Bind a key to an address, and to no other.

    A given key belongs to the given address (or the environment's). The environment's own key
    belongs to the environment's address, or to the service, and goes to no other origin. Raises
    ModelError ``wrong_key`` for a key that no server can have issued, ``bad_request`` for an
    impossible address or none.
    """
    home = service.home
    address = (url or "").strip() or home
    if not address:
        raise no_place(service)
    if not origin(address):
        raise ModelError(
            "bad_request", "“{address}” is not the address of a model server.", address=address
        )
    at_home = origin(address) == origin(home)
    secret = header_safe(key)
    if secret is None and at_home:
        keys = (header_safe(os.environ.get(variable)) for variable in service.key_variables)
        secret = next(filter(None, keys), None)
    signs_in = bool(service.sign_in) and at_home
    root = _root(address, service.path) if service.path else address
    return ModelServer(service, root, secret, at_home, signs_in)


def no_place(service: Service) -> ModelError:
    words = Sentence(
        "{label} needs a place to connect to. {unsaid}", label=service.label, unsaid=service.unsaid
    )
    return ModelError("bad_request", words)


def _root(url: str, api: str) -> str:
    """The base address of the API's paths. An address without a path gets ``api``."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    return urlunsplit((parts.scheme, parts.netloc, path or api, "", ""))


def header_safe(secret: str | None) -> str | None:
    """The secret without surrounding blanks. Refuses an illegal one here, because an HTTP
    library would quote it in its error message."""
    secret = (secret or "").strip()
    if secret and not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise ModelError(
            "wrong_key",
            "The API key contains invalid characters. Copy the complete key and paste it again.",
        )
    return secret or None


def custom_headers(variable: str) -> list[tuple[str, str]]:
    """Headers from the environment, one a line, that an SDK sends with each request."""
    lines = os.environ.get(variable, "").split("\n")
    found = (line.partition(":") for line in lines)
    return [(name.strip(), value) for name, colon, value in found if colon]
