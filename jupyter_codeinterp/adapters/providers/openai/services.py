"""The services, as a table.

Addresses and variables are those of each service's own documentation, November 2026.
"""

from __future__ import annotations

from typing import Literal

import msgspec

IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


class Service(msgspec.Struct, frozen=True):
    """``url`` is "" where a person names the address. ``url_variable`` of the environment names
    another address, and then ``key_variables`` belong to that.

    bridge         between the result of a tool and what the person says then, the model must
                   have said something (Mistral: "Unexpected role 'user' after role 'tool'")
    asks_usage     ``stream_options`` is understood
    runs_here      its models run where it runs: on this machine they cost nothing
    hides          parts of names of models that hold no conversation in text
    key_looks      what a key looks like, for people; ``key_page`` is where one is to be had
    images         media types of images that its models take
    documents      PDFs are taken, as ``input_file``
    path           where the API is at an address that has none
    resources      the address of a resource, with ``{}`` for its name, which may be named
                   instead; ``place_looks`` is what such a name looks like, for people
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
