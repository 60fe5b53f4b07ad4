"""Claude on Amazon Bedrock, Google Vertex AI and Microsoft Foundry: one row each.

The server's environment names the region, the project or the resource. The cloud's own credentials
(AWS's, Google's) go only there.

Addresses, variables and packages come from the anthropic SDK's clients; models from
platform.claude.com/docs/en/build-with-claude (Claude in Amazon Bedrock, on Vertex AI, in
Microsoft Foundry), November 2026. Bedrock's are the inference profiles that every region has.
"""

from __future__ import annotations

import os
from typing import Any

from ...base.sentences import Sentence
from ..http.service import Service

CLAUDE = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")

_COMMON: dict[str, Any] = {
    "claude": "everywhere",
    "own_prices": False,
}


def aws_region() -> str:
    return (os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or "").strip()


def vertex_place() -> tuple[str, str]:
    """Project and region."""
    project = os.environ.get("ANTHROPIC_VERTEX_PROJECT_ID", "").strip()
    return project, os.environ.get("CLOUD_ML_REGION", "").strip() or "global"


def _bedrock_address() -> str:
    region = aws_region()
    return f"https://bedrock-runtime.{region}.amazonaws.com" if region else ""


BEDROCK = Service(
    **_COMMON,
    name="bedrock",
    adapter="anthropic.cloud_clients:BedrockModel",
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
    adapter="anthropic.cloud_clients:VertexModel",
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
    adapter="anthropic.cloud_clients:FoundryModel",
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
