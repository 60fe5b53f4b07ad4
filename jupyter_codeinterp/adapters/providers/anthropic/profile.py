"""What an endpoint is sent, and the models that are known without asking."""

from __future__ import annotations

from typing import Union

import msgspec

from ....core.ports import ModelInfo
from .credentials import Credentials

Prices = tuple[float, float, float, float]
"""US dollars a million tokens: input, output, cache write (5 minutes), cache read."""


class Profile(msgspec.Struct, frozen=True):
    """The features of the Messages API that an endpoint is asked for.

    eager_input        tool input streams unbuffered (``eager_input_streaming``)
    caching            ``cache_control`` on the request and on the system prompt
    automatic_caching  that on the request is known; else it stands on the last block
    thinking           adaptive thinking with summaries, and ``output_config.effort``
    signed_thinking    thinking without a signature is not sent back: it would be refused
    x_api_key          the key goes into ``X-Api-Key`` too; many servers read only that
    images_in_results  else images follow the tool results, in the same message
    needs_key          without a key nothing is sent at all
    stall              seconds without a byte until a stream counts as dead; Anthropic
                       pings, local servers are silent while they read a long prompt
    own_prices         the prices of KNOWN apply
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


DEFAULT_CONTEXT_WINDOW = 200_000


class Known(msgspec.Struct, frozen=True):
    name: str
    context_window: int
    prices: Union[Prices, None] = None


# Windows and prices: platform.claude.com/docs, models/*/overview and pricing, as of October
# 2026 (Sonnet's cache read is the price since 7 October). Haiku's prices depend on the
# length of the prompt, which four numbers cannot say: none are given.
KNOWN = {
    "claude-sonnet-5-5": Known("Claude Sonnet 5.5", 1_000_000, (2.0, 10.0, 2.5, 0.1)),
    "claude-opus-5-5": Known("Claude Opus 5.5", 1_000_000, (4.0, 20.0, 5.0, 0.2)),
    "claude-haiku-5-5": Known("Claude Haiku 5.5", 1_000_000),
}


def known_info(model: str, profile: Profile) -> ModelInfo:
    known = KNOWN.get(model)
    if known is None:
        return ModelInfo(model, model, DEFAULT_CONTEXT_WINDOW)
    prices = known.prices if profile.own_prices else None
    return ModelInfo(model, known.name, known.context_window, prices)
