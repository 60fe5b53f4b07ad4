"""Claude on Amazon Bedrock, Google Vertex AI and Microsoft Foundry: one row each.

The server's environment names the region, the project or the resource. The cloud's own credentials
(AWS's, Google's) go only there.

Addresses, variables and packages come from the anthropic SDK's clients; models from
platform.claude.com/docs/en/build-with-claude (Claude in Amazon Bedrock, on Vertex AI, in
Microsoft Foundry), November 2026. Bedrock's are the inference profiles that every region has.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...base.sentences import Sentence
from ...wire.providers import Provider
from ..http.provider import provider_of
from ..http.service import Service
from .services import aws_region, vertex_place

if TYPE_CHECKING:
    from ..http.model import HttpModel


def _adapter(name: str) -> Callable[[], type[HttpModel]]:
    def adapter() -> type[HttpModel]:
        from .cloud_clients import ADAPTERS  # heavy SDK, in a worker thread only

        return ADAPTERS[name]

    return adapter


CLAUDE = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")

_COMMON: dict[str, Any] = {
    "claude": "everywhere",
    "own_prices": False,
}


def _bedrock_address() -> str:
    region = aws_region()
    return f"https://bedrock-runtime.{region}.amazonaws.com" if region else ""


BEDROCK = Service(
    **_COMMON,
    name="bedrock",
    adapter=_adapter("bedrock"),
    label="Claude on Amazon Bedrock",
    address=_bedrock_address,
    unsaid=Sentence("Set AWS_REGION, such as us-east-1, where the Jupyter server runs."),
    key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    key_page="https://console.aws.amazon.com/bedrock/home#/api-keys",
    sign_in=Sentence(
        "Run “aws configure” or “aws sso login” where the Jupyter server runs, or set "
        "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or paste a Bedrock API key."
    ),
    models=tuple(f"global.anthropic.{name}" for name in CLAUDE),
    default_model=f"global.anthropic.{CLAUDE[0]}",
    url_variable="ANTHROPIC_BEDROCK_BASE_URL",
    chosen_by="ANTHROPIC_BEDROCK_BASE_URL",
    secret_variables=("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    extra="bedrock",
)


def _vertex_address() -> str:
    project, region = vertex_place()
    if not project:
        return ""
    if region == "global":
        return "https://aiplatform.googleapis.com/v1"
    if region in ("us", "eu"):
        return f"https://aiplatform.{region}.rep.googleapis.com/v1"
    return f"https://{region}-aiplatform.googleapis.com/v1"


VERTEX = Service(
    **_COMMON,
    name="vertex",
    adapter=_adapter("vertex"),
    label="Claude on Google Vertex AI",
    address=_vertex_address,
    unsaid=Sentence(
        "Set ANTHROPIC_VERTEX_PROJECT_ID, and CLOUD_ML_REGION, where the Jupyter server runs."
    ),
    sign_in=Sentence(
        "Run “gcloud auth application-default login” where the Jupyter server runs, or set "
        "GOOGLE_APPLICATION_CREDENTIALS to the file of a service account."
    ),
    models=CLAUDE,
    default_model=CLAUDE[0],
    url_variable="ANTHROPIC_VERTEX_BASE_URL",
    chosen_by="ANTHROPIC_VERTEX_PROJECT_ID",
    extra="vertex",
)


def _foundry_address() -> str:
    resource = os.environ.get("ANTHROPIC_FOUNDRY_RESOURCE", "").strip()
    return f"https://{resource}.services.ai.azure.com/anthropic" if resource else ""


FOUNDRY = Service(
    **_COMMON,
    name="foundry",
    adapter=_adapter("foundry"),
    label="Claude in Microsoft Foundry",
    address=_foundry_address,
    unsaid=Sentence("Set ANTHROPIC_FOUNDRY_RESOURCE where the Jupyter server runs."),
    key_variables=("ANTHROPIC_FOUNDRY_API_KEY",),
    key_page="https://ai.azure.com",
    models=CLAUDE,
    default_model=CLAUDE[0],
    url_variable="ANTHROPIC_FOUNDRY_BASE_URL",
)

CLOUDS = (BEDROCK, VERTEX, FOUNDRY)


def providers() -> tuple[Provider, ...]:
    return tuple(provider_of(cloud) for cloud in CLOUDS)
