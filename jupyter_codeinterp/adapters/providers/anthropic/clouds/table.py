"""One row for each cloud.

Addresses, variables and packages come from the anthropic SDK's clients; models from
platform.claude.com/docs/en/build-with-claude (Claude in Amazon Bedrock, on Vertex AI, in
Microsoft Foundry), November 2026. Bedrock's are the inference profiles that every region has.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, Union
from urllib.parse import urlsplit

import msgspec

from .....core.errors import ModelError
from .....core.providers import origin
from ....model_http.keys import header_safe

Environment = Mapping[str, str]


class Cloud(NamedTuple):
    """One cloud.

    address       its address according to the environment; "" if that is incomplete
    settle        makes an address from a shorter name (``place_looks``); "" for anything else
    url_variable  may name another address, to which the environment's credentials then belong
    modules       what it needs beside the SDK, of the extra ``extra``
    its_host      whether an address is the cloud's own, where its own credentials may go
    sign_in       how a person gets credentials; ``renew``: how to refresh them
    chosen_by     a variable that nothing else uses: if set, models are offered at once
    """

    name: str
    label: str
    address: Callable[[Environment], str]
    settle: Callable[[str], str]
    its_host: Callable[[str], bool]
    place_looks: str
    unsaid: str
    key_variable: str
    key_looks: str
    key_page: str
    sign_in: str
    renew: str
    models: tuple[str, ...]
    url_variable: str
    chosen_by: str = ""
    secret_variables: tuple[str, ...] = ()
    extra: str = ""
    modules: tuple[str, ...] = ()
    automatic_caching: bool = True


def plain_name(model: str) -> str:
    """Anthropic's name of the model: clouds put a region before it and versions after it."""
    return model.rpartition("anthropic.")[2].partition("@")[0].partition("-v1")[0]


CLAUDE = ("claude-sonnet-5-5", "claude-opus-5-5", "claude-haiku-5-5")

# --- Amazon Bedrock --------------------------------------------------------------------------

_AWS_REGION = r"[a-z]{2}(?:-[a-z]{2,12}){1,2}-\d{1,2}"
_BEDROCK_HOST = re.compile(
    rf"(?:[a-z0-9-]{{1,63}}\.)?bedrock-runtime(?:-fips)?\.({_AWS_REGION})(?:\.vpce)?\.amazonaws\.com"
)
_REGION_ALONE = re.compile(_AWS_REGION)


def _of_region(region: str) -> str:
    found = _REGION_ALONE.fullmatch(region)
    return f"https://bedrock-runtime.{region}.amazonaws.com" if found else ""


def aws_region(url: str, environment: Environment) -> str:
    """The region of the address, else the environment's; "" for none."""
    found = _BEDROCK_HOST.fullmatch(urlsplit(url).hostname or "")
    default = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION") or ""
    return found[1] if found else default.strip()


def _is_bedrock(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and bool(_BEDROCK_HOST.fullmatch(parts.hostname or ""))


BEDROCK = Cloud(
    "bedrock",
    "Claude on Amazon Bedrock",
    lambda environment: _of_region(aws_region("", environment)),
    _of_region,
    _is_bedrock,
    place_looks="us-east-1",
    unsaid="Name the region, such as us-east-1, or set AWS_REGION.",
    key_variable="AWS_BEARER_TOKEN_BEDROCK",
    key_looks="ABSK…, or empty to use AWS credentials",
    key_page="https://console.aws.amazon.com/bedrock/home#/api-keys",
    sign_in="“aws configure” or “aws sso login” where the Jupyter server runs, or set "
    "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or paste a Bedrock API key",
    renew="“aws sso login”, or get new ones another way",
    models=tuple(f"global.anthropic.{name}" for name in CLAUDE),
    url_variable="ANTHROPIC_BEDROCK_BASE_URL",
    chosen_by="ANTHROPIC_BEDROCK_BASE_URL",
    secret_variables=("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
    extra="bedrock",
    modules=("boto3", "botocore"),
    automatic_caching=False,
)

# --- Google Vertex AI ------------------------------------------------------------------------

_VERTEX_HOST = re.compile(r"(?:[a-z0-9-]{1,40}-)?aiplatform(?:\.(?:us|eu)\.rep)?\.googleapis\.com")
_VERTEX_PLACE = re.compile(r"([a-z][a-z0-9.:-]{3,60})(?:/([a-z0-9-]{2,40}))?")
_VERTEX_PATH = re.compile(r"(.{0,500}?)/projects/([^/]{1,100})/locations/([^/]{1,60})/?")
EVERYWHERE = "global"


def _vertex_base(region: str) -> str:
    if region == EVERYWHERE:
        host = "aiplatform.googleapis.com"
    elif region in ("us", "eu"):
        host = f"aiplatform.{region}.rep.googleapis.com"
    else:
        host = f"{region}-aiplatform.googleapis.com"
    return f"https://{host}/v1"


def _of_project(place: str) -> str:
    found = _VERTEX_PLACE.fullmatch(place)
    if found is None:
        return ""
    region = found[2] or EVERYWHERE
    return f"{_vertex_base(region)}/projects/{found[1]}/locations/{region}"


def _vertex_address(environment: Environment) -> str:
    project = environment.get("ANTHROPIC_VERTEX_PROJECT_ID", "").strip()
    region = environment.get("CLOUD_ML_REGION", "").strip() or EVERYWHERE
    return _of_project(f"{project}/{region}") if project else ""


def vertex_parts(url: str, environment: Environment) -> tuple[str, str, str]:
    """Base address, project and region of an address; the environment completes it."""
    found = _VERTEX_PATH.fullmatch(url)
    if found:
        return found[1], found[2], found[3]
    project = environment.get("ANTHROPIC_VERTEX_PROJECT_ID", "").strip()
    region = environment.get("CLOUD_ML_REGION", "").strip()
    return url.rstrip("/"), project, region or EVERYWHERE


def _is_vertex(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" and bool(_VERTEX_HOST.fullmatch(parts.hostname or ""))


VERTEX = Cloud(
    "vertex",
    "Claude on Google Vertex AI",
    _vertex_address,
    _of_project,
    _is_vertex,
    place_looks="my-project/global",
    unsaid="Name project and region, such as my-project/global, or set "
    "ANTHROPIC_VERTEX_PROJECT_ID and CLOUD_ML_REGION.",
    key_variable="",
    key_looks="empty to use Google credentials",
    key_page="",
    sign_in="“gcloud auth application-default login” where the Jupyter server runs, or set "
    "GOOGLE_APPLICATION_CREDENTIALS to the file of a service account",
    renew="“gcloud auth application-default login”",
    models=CLAUDE,
    url_variable="ANTHROPIC_VERTEX_BASE_URL",
    chosen_by="ANTHROPIC_VERTEX_PROJECT_ID",
    extra="vertex",
    modules=("google.auth", "requests"),
    automatic_caching=False,
)

# --- Microsoft Foundry -----------------------------------------------------------------------

_RESOURCE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9-]{1,62}")


def _of_resource(resource: str) -> str:
    found = _RESOURCE.fullmatch(resource)
    return f"https://{resource}.services.ai.azure.com/anthropic" if found else ""


FOUNDRY = Cloud(
    "foundry",
    "Claude in Microsoft Foundry",
    lambda environment: _of_resource(environment.get("ANTHROPIC_FOUNDRY_RESOURCE", "").strip()),
    _of_resource,
    lambda url: False,
    place_looks="my-resource",
    unsaid="Name the resource, such as my-resource, or set ANTHROPIC_FOUNDRY_RESOURCE.",
    key_variable="ANTHROPIC_FOUNDRY_API_KEY",
    key_looks="of the resource, under Keys and Endpoint",
    key_page="https://ai.azure.com",
    sign_in="",
    renew="",
    models=CLAUDE,
    url_variable="ANTHROPIC_FOUNDRY_BASE_URL",
)

CLOUDS = (BEDROCK, VERTEX, FOUNDRY)


# -------------------------------------------------------------------------------------------------
# Which address to use, and with whose credentials.

_CLOUD_BY_NAME = {cloud.name: cloud for cloud in CLOUDS}


class CloudCredentials(msgspec.Struct, frozen=True):
    """Where requests go. Without a ``secret``, ``its_own`` allows the cloud's own credentials,
    which AWS's and Google's libraries find."""

    name: str
    base_url: str
    secret: Union[str, None] = None
    its_own: bool = False

    @property
    def cloud(self) -> Cloud:
        return _CLOUD_BY_NAME[self.name]

    @property
    def is_public(self) -> bool:
        return self.cloud.its_host(self.base_url)

    @property
    def variable(self) -> str:
        return self.cloud.key_variable

    @property
    def place(self) -> str:
        """The server's name for people."""
        return f"{self.cloud.label} ({origin(self.base_url)})"

    def own_name(self, model: str) -> str:
        return model


def home(cloud: Cloud, environment: Environment) -> str:
    """The environment's address; "" if it is incomplete."""
    return environment.get(cloud.url_variable, "").strip() or cloud.address(environment)


def resolve(
    cloud: Cloud, key: str | None, url: str | None, environment: Environment
) -> CloudCredentials:
    """A given key belongs to the given address. The environment's own belongs to ``home``.
    Raises ModelError ``wrong_key`` for a key that no server can have issued, ``bad_request`` for
    an impossible address or none."""
    at_home = home(cloud, environment)
    address = (url or "").strip() or at_home
    if not address:
        raise ModelError(
            "bad_request", (f"{cloud.label} needs a place to connect to. {cloud.unsaid}")
        )
    if not origin(address):
        raise ModelError("bad_request", f"“{address}” is not the address of a model server.")
    secret = header_safe(key)
    is_home = origin(address) == origin(at_home)
    if secret is None and is_home and cloud.key_variable:
        secret = header_safe(environment.get(cloud.key_variable))
    named = environment.get(cloud.url_variable, "").strip()
    its_own = cloud.its_host(address) or (bool(named) and origin(named) == origin(address))
    return CloudCredentials(cloud.name, address, secret, its_own and bool(cloud.sign_in))
