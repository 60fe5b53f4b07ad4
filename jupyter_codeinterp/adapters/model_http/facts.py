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

from ...core.ports import LongPrompts, ModelInfo, Prices
from .prices.published import published

_DATED = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")
"""The date at the end of a snapshot's name."""


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Names as in ``ModelInfo``; ``provider`` is the vendor's own API."""

    provider: str
    model: str
    source: str
    seen: str
    prices: Union[Prices, None] = None
    long_prompts: Union[LongPrompts, None] = None
    context_window: Union[int, None] = None
    images: Union[bool, None] = None
    tools: Union[bool, None] = None
    note: str = ""


@cache
def facts() -> tuple[Fact, ...]:
    data = resources.files(__package__).joinpath("facts.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[Fact, ...])


@cache
def _by_model() -> Mapping[tuple[str, str], Fact]:
    return {(fact.provider, fact.model): fact for fact in facts()}


def fact(provider: str, model: str) -> Fact | None:
    known = _by_model()
    return known.get((provider, model)) or known.get((provider, _DATED.sub("", model)))


def completed(info: ModelInfo, vendor: str, set_prices: Prices | None, *, local: bool) -> ModelInfo:
    """Complete ``info``, which the server itself reported.

    ``vendor`` is the provider whose own API answers, "" for none. ``set_prices`` are an admin's
    and win. ``local``: it runs on this machine.
    """
    known = fact(vendor, info.id)
    if known is not None:
        info = msgspec.structs.replace(
            info,
            context_window=info.context_window or known.context_window,
            images=known.images if info.images is None else info.images,
            tools=known.tools if info.tools is None else info.tools,
        )
    if set_prices is not None:
        return _priced(info, set_prices)
    if local and not any(info.prices or ()):
        return msgspec.structs.replace(info, local=True, prices=None)
    if info.prices is not None:
        return info
    if known is None or known.prices is None:
        others = published(vendor, info.id)
        return info if others is None else _priced(info, *others)
    return _priced(info, known.prices, known.long_prompts, known.seen)


def lacks_price(info: ModelInfo, vendor: str) -> bool:
    """Whether neither the server nor the table has the model's price."""
    known = fact(vendor, info.id)
    return info.prices is None and (known is None or known.prices is None)


def _priced(
    info: ModelInfo, prices: Prices, long_prompts: LongPrompts | None = None, seen: str = ""
) -> ModelInfo:
    return msgspec.structs.replace(info, prices=prices, long_prompts=long_prompts, prices_seen=seen)
