"""Vendors' facts about their models, above all prices: ``facts.json``, one row a model.

Each row has its source and the day it was read. Missing facts are unknown, not zero. Prices
apply to the vendor's own API only.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from datetime import datetime, timezone
from functools import cache
from importlib import import_module, resources
from importlib.util import find_spec
from typing import Any, Union

import msgspec

from ...wire.ports import LongPrompts, ModelInfo, Prices
from .listing import shown_name

# -------------------------------------------------------------------------------------------------
# Prices of vendors' models from the package ``genai-prices``, if it is installed (``[prices]``).
#
# Its data is a part of the package. Nothing here fetches anything: only its ``UpdatePrices``
# would.

PACKAGE = "genai_prices"
VENDORS = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "google",
    "mistral": "mistral",
    "xai": "x-ai",
    "deepseek": "deepseek",
    "moonshot": "moonshotai",
    "zai": "zai",
}
"""Our names of providers, and the package's."""
_NAMES = ("input_mtok", "output_mtok", "cache_write_mtok", "cache_read_mtok")

log = logging.getLogger(__name__)


class _Data:
    """The package's data, once loaded."""

    snapshot: Any = None


def load(vendor: str) -> None:
    """Import the data for a vendor that it has. Takes a second or two: call it in a thread."""
    if _Data.snapshot is None and vendor in VENDORS and find_spec(PACKAGE) is not None:
        _Data.snapshot = import_module(f"{PACKAGE}.data_snapshot").get_snapshot()


def published(vendor: str, model: str) -> tuple[Prices, LongPrompts | None] | None:
    """Today's prices, and those of long prompts. None if unknown, or before ``load``."""
    if _Data.snapshot is None or vendor not in VENDORS:
        return None
    try:
        found = _Data.snapshot.find_provider_model(model, None, VENDORS[vendor], None)[1]
        now = found.get_prices(datetime.now(timezone.utc))
        return _read(now)
    except LookupError:
        return None
    except (AttributeError, TypeError, ValueError):
        # A later version of the package may have another form.
        log.warning("Cannot read the price of %s", model, exc_info=True)
        return None


def _read(found: Any) -> tuple[Prices, LongPrompts | None] | None:
    given = {name: getattr(found, name, None) for name in _NAMES}
    if given["input_mtok"] is None or given["output_mtok"] is None:
        return None
    # Without a price of their own, cached tokens cost what input tokens cost.
    read, written, kept, again = (given[name] or given["input_mtok"] for name in _NAMES)
    parts = (read, written, kept, again)
    over = {tier.start for part in parts for tier in getattr(part, "tiers", ())}
    if len(over) > 1:
        return None  # The meter supports one limit.
    usual = _prices(parts, False)
    return usual, LongPrompts(over.pop(), _prices(parts, True)) if over else None


def _prices(parts: tuple[Any, ...], long: bool) -> Prices:
    first, second, third, fourth = (_price(part, long) for part in parts)
    return first, second, third, fourth


def _price(part: Any, long: bool) -> float:
    tiers = getattr(part, "tiers", ())
    if not tiers:
        return float(getattr(part, "base", part))
    return float(tiers[-1].price if long else part.base)


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
    images: Union[bool, None] = None
    tools: Union[bool, None] = None
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
    return ModelInfo(
        model,
        KNOWN.get(plain) or shown_name(model),
        known.context_window if known else None,
    )


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
