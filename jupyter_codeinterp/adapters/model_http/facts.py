"""What vendors say of their models, above all what they cost: ``facts.json``, one row a model.

Each row has its source, and the day on which that was read. What no source says is not in it,
and is unknown, which is not the same as nothing. The prices are those of the vendor's own API,
and of no one else who has the model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Union

import msgspec

from ...core.ports import LongPrompts, ModelInfo, Prices

_DATED = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")
"""The end of the name of a snapshot, which is the model as it was on that day."""


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Names as in ``ModelInfo``; ``provider`` is the one whose own API this is of."""

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
    """``info``, which is what the server itself says, with what else is known.

    ``vendor`` is the provider whose own API answers, "" for none. ``set_prices`` are an admin's,
    which win. ``local``: it runs on this machine.
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
    if info.prices is not None or known is None or known.prices is None:
        return info
    return _priced(info, known.prices, known.long_prompts, known.seen)


def _priced(
    info: ModelInfo, prices: Prices, long_prompts: LongPrompts | None = None, seen: str = ""
) -> ModelInfo:
    return msgspec.structs.replace(info, prices=prices, long_prompts=long_prompts, prices_seen=seen)
