"""Parses a server's list of models, defensively: servers omit fields, and an address may belong
to no model server at all.

Only used fields become objects, even of a large body. Both functions raise ValueError
(msgspec's) or RecursionError for any other answer.
"""

from __future__ import annotations

from contextlib import suppress
from math import isfinite
from typing import Any

import msgspec

from ...wire.ports import Prices

MOST_MODELS = 2_000
LONGEST_NAME = 200
"""Characters of a model's id or name; the longest paths of files on local servers fit."""
LARGEST_WINDOW = 1_000_000_000
LONGEST_PRICE = 40
"""Characters of a price given as text."""


class ListedModel(msgspec.Struct):
    """One model. ``context_window`` is in tokens; missing values are None. Servers have many
    names for the window: the first with a usable number counts."""

    id: str
    name: Any = msgspec.field(default=None, name="display_name")
    context_window: Any = msgspec.field(default=None, name="max_input_tokens")
    context_length: Any = None
    """OpenRouter, Moonshot."""
    max_context_length: Any = None
    """Mistral."""
    max_model_len: Any = None
    """vLLM, SGLang."""
    loaded_context_length: Any = None
    """LM Studio."""
    meta: Any = None
    """llama.cpp."""
    pricing: Any = None
    """OpenRouter: input and output prices, in dollars a token as text."""

    def __post_init__(self) -> None:
        if not _is_name(self.id):
            raise ValueError("a model's id is a short text")
        if not _is_name(self.name):
            self.name = None
        inner = self.meta.get("n_ctx") if isinstance(self.meta, dict) else None
        windows = (
            *(self.context_window, inner, self.loaded_context_length, self.max_model_len),
            *(self.context_length, self.max_context_length),
        )
        self.context_window = next(filter(_is_window, windows), None)

    @property
    def prices(self) -> Prices | None:
        """US dollars per million tokens. None also if a request has a price of its own."""
        said = self.pricing if isinstance(self.pricing, dict) else {}
        read, written = _dollars(said.get("prompt")), _dollars(said.get("completion"))
        if read is None or written is None or _dollars(said.get("request", 0)) != 0:
            return None
        kept = _dollars(said.get("input_cache_write", said["prompt"]))
        again = _dollars(said.get("input_cache_read", said["prompt"]))
        return None if kept is None or again is None else (read, written, kept, again)


def _dollars(a_token: object) -> float | None:
    """Convert a price per token to one per million tokens."""
    if isinstance(a_token, bool) or not isinstance(a_token, (int, float, str)):
        return None
    try:
        price = float(str(a_token)[:LONGEST_PRICE]) * 1e6
    except ValueError:
        return None
    return round(price, 6) if isfinite(price) and price >= 0 else None


class _List(msgspec.Struct):
    data: list[msgspec.Raw]


def entry(body: bytes) -> ListedModel:
    return _entries.decode(body)


def models_in(body: bytes) -> list[ListedModel]:
    """The first MOST_MODELS with a usable id."""
    given = _lists.decode(body).data
    found: list[ListedModel] = []
    for raw in given[:MOST_MODELS]:
        with suppress(ValueError):
            found.append(_entries.decode(raw))
    if given and not found:
        raise ValueError("not a list of models")
    return found


def _is_window(value: object) -> bool:
    return type(value) is int and 0 < value <= LARGEST_WINDOW


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


_entries = msgspec.json.Decoder(ListedModel)
_lists = msgspec.json.Decoder(_List)
