"""What an endpoint is sent, and the models that are known without asking."""

from __future__ import annotations

import msgspec

from ....core.messages import PDF
from ....core.ports import ModelInfo
from ...model_http.facts import fact
from .credentials import Credentials


class Profile(msgspec.Struct, frozen=True):
    """The features of the Messages API that an endpoint is asked for.

    eager_input        tool input streams unbuffered (``eager_input_streaming``)
    caching            ``cache_control`` on the request and on the system prompt
    automatic_caching  that on the request is known; else it stands on the last block
    thinking           adaptive thinking with summaries, and ``output_config.effort``
    signed_thinking    thinking without a signature is not sent back: it would be refused
    x_api_key          the key goes into ``X-Api-Key`` too; many servers read only that
    images_in_results  else images follow the tool results, in the same message
    documents          PDFs are taken, as ``document`` blocks
    needs_key          without a key nothing is sent at all
    stall              seconds without a byte until a stream counts as dead; Anthropic
                       pings, local servers are silent while they read a long prompt
    own_prices         what ``facts.json`` says of the models of ``vendor`` holds: at ``home``, or
                       wherever the endpoint is if that is ""
    runs_here          its models run where it runs: on this machine they cost nothing
    list_url           where models are listed, if not at ``/v1/models`` of the address: a path
                       of the same origin
    key_url            what is asked for first, where the list is no test of a key: everybody
                       may read it
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
    """By its host."""
    return ANTHROPIC if server.is_anthropic else OTHER


_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")


def taken(profile: Profile) -> tuple[str, ...]:
    """Media types of the files that it is sent as they are."""
    return (*_IMAGES, PDF) if profile.documents else _IMAGES


KNOWN = {
    "claude-sonnet-5-5": "Claude Sonnet 5.5",
    "claude-opus-5-5": "Claude Opus 5.5",
    "claude-haiku-5-5": "Claude Haiku 5.5",
}
"""Names of those that are offered where nobody can be asked."""


def known_info(model: str) -> ModelInfo:
    """Name and window, which are the model's own, wherever it answers."""
    known = fact("anthropic", model)
    return ModelInfo(model, KNOWN.get(model, model), known.context_window if known else None)
