"""One row for each service.

Addresses and variables are those of each service's own documentation, November 2026.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Union
from urllib.parse import urlsplit, urlunsplit

import msgspec

from ....core.errors import ModelError
from ....core.providers import origin
from ...model_http.keys import header_safe

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Service(msgspec.Struct, frozen=True):
    """One service. ``url`` is "" if a person must name the address. ``url_variable`` of the
    environment names another address, to which ``key_variables`` then belong.

    bridge         an assistant message must separate a tool result from the person's next
                   message (Mistral: "Unexpected role 'user' after role 'tool'")
    asks_usage     it accepts ``stream_options``
    runs_here      its models run on the server itself: on this machine they cost nothing
    hides          name parts of models that hold no conversation in text
    key_looks      form of a key, for people; ``key_page`` is where to get one
    images         media types of images that its models accept
    documents      it accepts PDFs, as ``input_file``
    path           path of the API at an address without one
    resources      address of a resource, with ``{}`` for its name; a person may give just the
                   name, in the form ``place_looks``
    """

    name: str
    label: str
    url: str
    wire: Literal["responses", "chat"]
    key_variables: tuple[str, ...]
    url_variable: str = ""
    bridge: bool = False
    asks_usage: bool = True
    runs_here: bool = False
    hides: tuple[str, ...] = ()
    key_looks: str = ""
    key_page: str = ""
    images: tuple[str, ...] = IMAGES
    documents: bool = False
    path: str = "/v1"
    resources: str = ""
    place_looks: str = ""


_NO_TALK = ("embed", "moderation", "image", "audio", "tts", "transcribe", "whisper", "realtime")

SERVICES = (
    Service(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        "responses",
        ("OPENAI_API_KEY",),
        url_variable="OPENAI_BASE_URL",
        hides=(*_NO_TALK, "dall-e", "sora", "davinci", "babbage", "instruct", "search"),
        documents=True,  # developers.openai.com/api/docs/guides/file-inputs
        key_looks="sk-…",
        key_page="https://platform.openai.com/api-keys",
    ),
    # learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: the v1 API, where a model
    # is the name of a deployment
    Service(
        "azure-openai",
        "Azure OpenAI",
        "",
        "responses",
        ("AZURE_OPENAI_API_KEY",),
        url_variable="AZURE_OPENAI_ENDPOINT",
        hides=(*_NO_TALK, "dall-e", "sora", "davinci", "babbage", "instruct", "ada"),
        documents=True,  # learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
        key_looks="of the resource, under Keys and Endpoint",
        key_page="https://ai.azure.com",
        path="/openai/v1",
        resources="https://{}.openai.azure.com/openai/v1",
        place_looks="my-resource",
    ),
    Service(
        "gemini",
        "Gemini",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "chat",
        ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        hides=(*_NO_TALK, "imagen", "veo", "aqa", "live", "lyria"),
        images=("image/png", "image/jpeg", "image/webp"),  # ai.google.dev, image understanding
        key_looks="AIza…",
        key_page="https://aistudio.google.com/apikey",
    ),
    Service(
        "mistral",
        "Mistral",
        "https://api.mistral.ai/v1",
        "chat",
        ("MISTRAL_API_KEY",),
        bridge=True,
        asks_usage=False,
        hides=(*_NO_TALK, "ocr", "voxtral"),
        key_page="https://console.mistral.ai/api-keys",
    ),
    Service(
        "xai",
        "xAI",
        "https://api.x.ai/v1",
        "chat",
        ("XAI_API_KEY",),
        hides=(*_NO_TALK, "imagine", "video"),
        images=("image/png", "image/jpeg"),  # docs.x.ai, image understanding
        key_looks="xai-…",
        key_page="https://console.x.ai",
    ),
    Service(
        "openai-compatible",
        "OpenAI-compatible server",
        "",
        "chat",
        ("OPENAI_COMPATIBLE_API_KEY",),
        url_variable="OPENAI_COMPATIBLE_BASE_URL",
        runs_here=True,
    ),
)


# -------------------------------------------------------------------------------------------------
# Which key goes to which address. A key is bound to an origin and sent nowhere else.

_API_PATHS = ("/chat/completions", "/responses", "/models")
"""Paths that people copy with an address, and that are not part of it."""


class Credentials(msgspec.Struct, frozen=True):
    """Where requests go, and with what. ``base_url`` includes ``/v1`` or its equivalent.

    ``of_environment``: the environment names this address, so its organization, project and
    headers belong there, too.
    """

    service: Service
    base_url: str
    secret: Union[str, None] = None
    of_environment: bool = False

    @property
    def is_public(self) -> bool:
        return origin(self.base_url) == origin(self.service.url)

    @property
    def place(self) -> str:
        """The server's name for people."""
        return (
            self.service.label if self.is_public else f"The model server at {origin(self.base_url)}"
        )

    @property
    def variable(self) -> str:
        return self.service.key_variables[0]

    def own_name(self, model: str) -> str:
        return model


def resolve(
    service: Service, api_key: str | None, base_url: str | None, environment: Mapping[str, str]
) -> Credentials:
    """A given key belongs to the given address (or the environment's).

    The environment's own key belongs to the service's address there, or to the service, and goes
    to no other address. Raises ModelError ``wrong_key`` for a key that no server can have
    issued, ``bad_request`` for an impossible address or none.
    """
    home = environment.get(service.url_variable, "").strip() or service.url
    url = (base_url or "").strip() or home
    if not url:
        example = service.resources.format("my-resource") or "http://127.0.0.1:8080/v1"
        words = f"Name the address of the model server, such as {example}."
        raise ModelError("bad_request", words)
    if not origin(url):
        raise ModelError("bad_request", f"“{url}” is not the address of a model server.")
    at_home = origin(url) == origin(home)
    given = header_safe(api_key)
    if given is None and at_home:
        found = (header_safe(environment.get(name)) for name in service.key_variables)
        given = next(filter(None, found), None)
    return Credentials(service, _root(url, service.path), given, at_home)


def _root(url: str, api: str) -> str:
    """The base address of the API's paths. An address without a path gets ``api``."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    for end in _API_PATHS:
        path = path.removesuffix(end)
    return urlunsplit((parts.scheme, parts.netloc, path or api, "", ""))
