"""Prices of vendors' models from the package ``genai-prices``, if it is installed (``[prices]``).

Its data is a part of the package. Nothing here fetches anything: only its ``UpdatePrices`` would.
"""

from __future__ import annotations

import logging
from datetime import datetime, timezone
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ....core.ports import LongPrompts, Prices

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
"""Names of providers here and there."""
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
    # Where the cache has no price of its own, its tokens cost what others do.
    read, written, kept, again = (given[name] or given["input_mtok"] for name in _NAMES)
    parts = (read, written, kept, again)
    over = {tier.start for part in parts for tier in getattr(part, "tiers", ())}
    if len(over) > 1:
        return None  # The meter knows one limit.
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
