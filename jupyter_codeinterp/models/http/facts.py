"""Vendors' facts about their models, above all prices: ``facts.json``, one row a model.

Each row has its source and the day it was read. Missing facts are unknown, not zero. Prices
apply to the vendor's own API only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Union

import msgspec

from ...wire.ports import LongPrompts, ModelInfo, Prices

_DATED = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")
"""The date at the end of a snapshot's name."""


class ModelFact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Names as in ``ModelInfo``; ``provider`` is the vendor's own API."""

    provider: str
    model: str
    source: str
    seen: str
    prices: Union[Prices, None] = None
    long_prompts: Union[LongPrompts, None] = None
    context_window: Union[int, None] = None
    note: str = ""


@cache
def facts() -> tuple[ModelFact, ...]:
    data = resources.files(__package__).joinpath("facts.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[ModelFact, ...])


@cache
def _by_model() -> Mapping[tuple[str, str], ModelFact]:
    return {(fact.provider, fact.model): fact for fact in facts()}


def fact(provider: str, model: str) -> ModelFact | None:
    known = _by_model()
    return known.get((provider, model)) or known.get((provider, _DATED.sub("", model)))


KNOWN = {
    "claude-sonnet-5-5": "Claude Sonnet 5.5",
    "claude-opus-5-5": "Claude Opus 5.5",
    "claude-haiku-5-5": "Claude Haiku 5.5",
}
"""Models of Anthropic to offer without asking a server, and their names."""


def known_info(model: str) -> ModelInfo:
    """Name and window: one of Anthropic's models has the same ones at every address. Clouds put a
    region before its name and versions after it."""
    plain = model.rpartition("anthropic.")[2].partition("@")[0].partition("-v1")[0]
    known = fact("anthropic", plain)
    return ModelInfo(model, KNOWN.get(plain) or model, known.context_window if known else None)


def completed(info: ModelInfo, vendor: str, set_prices: Prices | None, *, local: bool) -> ModelInfo:
    """Complete ``info``, which the server itself reported.

    ``vendor`` is the provider whose own API answers, "" for none. ``set_prices`` are an admin's
    and win. ``local``: it runs on this machine.
    """
    known = fact(vendor, info.id)
    if known is not None:
        window = info.context_window or known.context_window
        info = msgspec.structs.replace(info, context_window=window)
    if set_prices is not None:
        return _priced(info, set_prices)
    if local and not any(info.prices or ()):
        return msgspec.structs.replace(info, local=True, prices=None)
    if info.prices is not None or known is None or known.prices is None:
        return info
    return _priced(info, known.prices, known.long_prompts, known.seen)


def _priced(
    info: ModelInfo, prices: Prices, long_prompts: LongPrompts | None = None, seen: str = ""
) -> ModelInfo:
    return msgspec.structs.replace(info, prices=prices, long_prompts=long_prompts, prices_seen=seen)
