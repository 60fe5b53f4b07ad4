"""Claude on Amazon Bedrock, Google Vertex AI and Microsoft Foundry: one row each.

A connection's address includes the region, the project or the resource. A person may name just
those. The cloud's own credentials (AWS's, Google's) go only to the cloud's own hosts, or where the
environment sends requests.

Addresses, variables and packages come from the anthropic SDK's clients; models from
platform.claude.com/docs/en/build-with-claude (Claude in Amazon Bedrock, on Vertex AI, in
Microsoft Foundry), November 2026. Bedrock's are the inference profiles that every region has.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ...base.sentences import Sentence
from ...wire.providers import Provider
from ..http.provider import provider_of
from ..http.service import Environment, Service

if TYPE_CHECKING:
    from ..http.connection import HttpConnection


def _connection(name: str) -> Callable[[], type[HttpConnection]]:
    def connection() -> type[HttpConnection]:
        from .cloud_clients import CONNECTIONS  # heavy SDK, in a worker thread only

        return CONNECTIONS[name]

    return connection


CLAUDE = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")

_COMMON: dict[str, Any] = {
    "claude": "everywhere",
    "own_prices": False,
}

# --- Amazon Bedrock --------------------------------------------------------------------------

_REGION = re.compile(r"[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d{1,2}")


def _of_region(region: str) -> str:
    found = _REGION.fullmatch(region)
    return f"https://bedrock-runtime.{region}.amazonaws.com" if found else ""


def _region_in(url: str) -> str:
    """The region of Bedrock's own address; "" for any other."""
    region = (urlsplit(url).hostname or "").removeprefix("bedrock-runtime.").partition(".")[0]
    return region if url == _of_region(region) != "" else ""


def aws_region(url: str, environment: Environment) -> str:
    """The region of the address, else the environment's; "" for none."""
    default = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
    return _region_in(url) or default.strip()


BEDROCK = Service(
    **_COMMON,
    name="bedrock",
    connection=_connection("bedrock"),
    label="Claude on Amazon Bedrock",
    address=lambda environment: _of_region(aws_region("", environment)),
    settle=_of_region,
    parts=lambda url, environment: (aws_region(url, environment),),
    its_host=lambda url: bool(_region_in(url)),
    place_looks="us-east-1",
    unsaid=Sentence("Name the region, such as us-east-1, or set AWS_REGION."),
    key_variables=("AWS_BEARER_TOKEN_BEDROCK",),
    key_looks=Sentence("ABSK…, or empty to use AWS credentials"),
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

# --- Google Vertex AI ------------------------------------------------------------------------

_PLACE = re.compile(r"([a-z][a-z0-9.:-]{3,60})(?:/([a-z0-9-]{2,40}))?")
_PATH = re.compile(r"(.{0,500}?)/projects/([^/]{1,100})/locations/([^/]{1,60})/?")
EVERYWHERE = "global"


def _of_project(place: str) -> str:
    found = _PLACE.fullmatch(place)
    if found is None:
        return ""
    region = found[2] or EVERYWHERE
    if region == EVERYWHERE:
        host = "aiplatform.googleapis.com"
    elif region in ("us", "eu"):
        host = f"aiplatform.{region}.rep.googleapis.com"
    else:
        host = f"{region}-aiplatform.googleapis.com"
    return f"https://{host}/v1/projects/{found[1]}/locations/{region}"


def _vertex_address(environment: Environment) -> str:
    _, project, region = vertex_parts("", environment)
    return _of_project(f"{project}/{region}") if project else ""


def vertex_parts(url: str, environment: Environment) -> tuple[str, str, str]:
    """Base address, project and region of an address; the environment completes it."""
    found = _PATH.fullmatch(url)
    if found:
        return found[1], found[2], found[3]
    project = environment.get("ANTHROPIC_VERTEX_PROJECT_ID", "").strip()
    region = environment.get("CLOUD_ML_REGION", "").strip()
    return url.rstrip("/"), project, region or EVERYWHERE


def _is_vertex(url: str) -> bool:
    _, project, region = vertex_parts(url, {})
    return url == _of_project(f"{project}/{region}")


VERTEX = Service(
    **_COMMON,
    name="vertex",
    connection=_connection("vertex"),
    label="Claude on Google Vertex AI",
    address=_vertex_address,
    settle=_of_project,
    parts=vertex_parts,
    its_host=_is_vertex,
    place_looks="my-project/global",
    unsaid=Sentence(
        "Name project and region, such as my-project/global, or set ANTHROPIC_VERTEX_PROJECT_ID "
        "and CLOUD_ML_REGION."
    ),
    key_looks=Sentence("empty to use Google credentials"),
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

# --- Microsoft Foundry -----------------------------------------------------------------------

_RESOURCE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-]{1,62}")


def _of_resource(resource: str) -> str:
    found = _RESOURCE.fullmatch(resource)
    return f"https://{resource}.services.ai.azure.com/anthropic" if found else ""


FOUNDRY = Service(
    **_COMMON,
    name="foundry",
    connection=_connection("foundry"),
    label="Claude in Microsoft Foundry",
    address=lambda environment: _of_resource(
        environment.get("ANTHROPIC_FOUNDRY_RESOURCE", "").strip()
    ),
    settle=_of_resource,
    its_host=lambda url: False,
    place_looks="my-resource",
    unsaid=Sentence("Name the resource, such as my-resource, or set ANTHROPIC_FOUNDRY_RESOURCE."),
    key_variables=("ANTHROPIC_FOUNDRY_API_KEY",),
    key_looks=Sentence("of the resource, under Keys and Endpoint"),
    key_page="https://ai.azure.com",
    models=CLAUDE,
    default_model=CLAUDE[0],
    url_variable="ANTHROPIC_FOUNDRY_BASE_URL",
)

CLOUDS = (BEDROCK, VERTEX, FOUNDRY)


def providers() -> tuple[Provider, ...]:
    return tuple(provider_of(cloud) for cloud in CLOUDS)
