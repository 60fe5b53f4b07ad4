"""OpenAI, and services and servers that speak its APIs. One row each.

Addresses and variables are those of each service's own documentation, November 2026.
"""

from __future__ import annotations

from typing import Any

from ...base.sentences import Sentence
from ..http.service import Service

RESPONSES = "openai.responses:ResponsesModel"
CHAT = "openai.chat:ChatModel"
_COMMON: dict[str, Any] = {
    "headers_variable": "OPENAI_CUSTOM_HEADERS",
    "path": "/v1",
    "extra": "openai",
}
_NAME = "Name the address of the model server, such as {example}."


_NO_TALK = ("embed", "moderation", "image", "audio", "tts", "transcribe", "whisper", "realtime")

SERVICES = (
    Service(
        name="openai",
        label="OpenAI",
        adapter=RESPONSES,
        url="https://api.openai.com/v1",
        key_variables=("OPENAI_API_KEY",),
        **_COMMON,
        url_variable="OPENAI_BASE_URL",
        hides=(*_NO_TALK, "dall-e", "sora", "davinci", "babbage", "instruct", "search"),
        documents=True,  # developers.openai.com/api/docs/guides/file-inputs
        key_page="https://platform.openai.com/api-keys",
    ),
    # learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle: the v1 API, where a model
    # is the name of a deployment
    Service(
        name="azure-openai",
        label="Azure OpenAI",
        adapter=RESPONSES,
        key_variables=("AZURE_OPENAI_API_KEY",),
        **{**_COMMON, "path": "/openai/v1"},
        url_variable="AZURE_OPENAI_ENDPOINT",
        hides=(*_NO_TALK, "dall-e", "sora", "davinci", "babbage", "instruct", "ada"),
        documents=True,  # learn.microsoft.com/azure/ai-foundry/openai/how-to/responses
        key_page="https://ai.azure.com",
        unsaid=Sentence(_NAME, example="https://my-resource.openai.azure.com"),
    ),
    Service(
        name="gemini",
        label="Gemini",
        adapter=CHAT,
        url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        **_COMMON,
        hides=(*_NO_TALK, "imagen", "veo", "aqa", "live", "lyria"),
        key_page="https://aistudio.google.com/apikey",
    ),
    Service(
        name="mistral",
        label="Mistral",
        adapter=CHAT,
        url="https://api.mistral.ai/v1",
        key_variables=("MISTRAL_API_KEY",),
        **_COMMON,
        bridge=True,
        asks_usage=False,
        hides=(*_NO_TALK, "ocr", "voxtral"),
        key_page="https://console.mistral.ai/api-keys",
    ),
    Service(
        name="xai",
        label="xAI",
        adapter=CHAT,
        url="https://api.x.ai/v1",
        key_variables=("XAI_API_KEY",),
        **_COMMON,
        hides=(*_NO_TALK, "imagine", "video"),
        key_page="https://console.x.ai",
    ),
    Service(
        name="openai-compatible",
        label="OpenAI-compatible server",
        adapter=CHAT,
        key_variables=("OPENAI_COMPATIBLE_API_KEY",),
        **_COMMON,
        url_variable="OPENAI_COMPATIBLE_BASE_URL",
        runs_here=True,
        unsaid=Sentence(_NAME, example="http://127.0.0.1:8080/v1"),
    ),
)
