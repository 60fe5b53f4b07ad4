"""Features of an endpoint, and the built-in models."""

from __future__ import annotations

import msgspec

from ....core.messages import PDF
from ....core.ports import ModelInfo
from ...model_http.facts import fact
from ...model_http.listing import shown_name
from .credentials import Credentials


class Profile(msgspec.Struct, frozen=True):
    """The features of the Messages API that an endpoint supports.

    eager_input        tool input streams unbuffered (``eager_input_streaming``)
    caching            ``cache_control`` on the request and on the system prompt
    automatic_caching  it accepts the one on the request; else the last block has it
    thinking           adaptive thinking with summaries, and ``output_config.effort``
    signed_thinking    it refuses thinking without a signature: never send that back
    x_api_key          the key goes into ``X-Api-Key`` too; many servers read only that
    images_in_results  else images follow the tool results, in the same message
    documents          it accepts PDFs, as ``document`` blocks
    needs_key          without a key nothing is sent at all
    stall              seconds without a byte until a stream counts as dead; Anthropic
                       pings, local servers are silent while they read a long prompt
    own_prices         ``facts.json`` applies to the models of ``vendor``: at ``home``, or
                       everywhere if that is ""
    runs_here          its models run on the server itself: on this machine they cost nothing
    list_url           where models are listed, if not at ``/v1/models`` of the address: a path
                       of the same origin
    key_url            requested first, where the list tests no key because anybody may read it
    """

    eager_input: bool
    caching: bool
    thinking: bool
    signed_thinking: bool
    x_api_key: bool
    images_in_results: bool
    needs_key: bool
    stall: float
    own_prices: bool
    list_url: str = ""
    key_url: str = ""
    automatic_caching: bool = True
    vendor: str = "anthropic"
    home: str = ""
    runs_here: bool = False
    documents: bool = False


ANTHROPIC = Profile(
    eager_input=True,
    caching=True,
    thinking=True,
    signed_thinking=True,
    x_api_key=False,
    images_in_results=True,
    needs_key=True,
    stall=60.0,
    own_prices=True,
    documents=True,
)
OTHER = Profile(
    eager_input=False,
    caching=False,
    thinking=False,
    signed_thinking=False,
    x_api_key=True,
    images_in_results=False,
    needs_key=False,
    stall=300.0,
    own_prices=False,
)


def profile_for(server: Credentials) -> Profile:
    """The profile for the server's host."""
    return ANTHROPIC if server.is_anthropic else OTHER


_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def taken(profile: Profile) -> tuple[str, ...]:
    """Media types of files that are sent unchanged."""
    return (*_IMAGES, PDF) if profile.documents else _IMAGES


KNOWN = {
    "claude-sonnet-5-5": "Claude Sonnet 5.5",
    "claude-opus-5-5": "Claude Opus 5.5",
    "claude-haiku-5-5": "Claude Haiku 5.5",
}
"""Models to offer without asking a server."""


def known_info(model: str) -> ModelInfo:
    """Name and window: a model has the same ones at every address."""
    known = fact("anthropic", model)
    name = KNOWN.get(model, shown_name(model))
    return ModelInfo(model, name, known.context_window if known else None)
