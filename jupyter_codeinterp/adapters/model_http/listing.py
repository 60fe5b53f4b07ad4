"""What a server says of its models, read with suspicion: other servers leave fields out, and
what listens at an address may be no model server at all.

Only what is used is read; the rest of a large body is never made into objects. Both raise
ValueError (msgspec's) or RecursionError for what is no such answer.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec

from ...core.ports import Prices

MOST_MODELS = 2_000
LONGEST_NAME = 200
"""Characters of a model's id or name; the longest paths of files on local servers fit."""
LARGEST_WINDOW = 1_000_000_000


LONGEST_FIGURE = 40
"""Characters of a price that comes as text."""


class Entry(msgspec.Struct):
    """One model. ``context_window`` in tokens; what is not given is None. Servers have many names
    for it: the first one that has a usable figure counts."""

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
    capabilities: Any = None
    """Anthropic: ``{"image_input": {"supported": …}}``; Mistral: ``{"vision": …,
    "function_calling": …}``."""
    architecture: Any = None
    supported_parameters: Any = None
    pricing: Any = None
    """OpenRouter: what it reads, what it takes, and dollars a token as text."""
    supports_image_in: Any = None
    """Moonshot."""

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
    def images(self) -> bool | None:
        able, built = _mapping(self.capabilities), _mapping(self.architecture)
        given = (_mapping(able.get("image_input")).get("supported"), able.get("vision"))
        for said in (*given, self.supports_image_in):
            if isinstance(said, bool):
                return said
        return _holds(built.get("input_modalities"), "image")

    @property
    def tools(self) -> bool | None:
        said = _mapping(self.capabilities).get("function_calling")
        return said if isinstance(said, bool) else _holds(self.supported_parameters, "tools")

    @property
    def prices(self) -> Prices | None:
        """US dollars a million tokens. None also where a request has a price of its own."""
        said = _mapping(self.pricing)
        read, written = _dollars(said.get("prompt")), _dollars(said.get("completion"))
        if read is None or written is None or _dollars(said.get("request", 0)) != 0:
            return None
        kept = _dollars(said.get("input_cache_write", said["prompt"]))
        again = _dollars(said.get("input_cache_read", said["prompt"]))
        return None if kept is None or again is None else (read, written, kept, again)


def _mapping(value: object) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _holds(names: object, name: str) -> bool | None:
    return name in names if isinstance(names, list) else None


def _dollars(a_token: object) -> float | None:
    """A million tokens, of what one costs."""
    if isinstance(a_token, bool) or not isinstance(a_token, (int, float, str)):
        return None
    try:
        price = float(str(a_token)[:LONGEST_FIGURE]) * 1e6
    except ValueError:
        return None
    return round(price, 6) if isfinite(price) and price >= 0 else None


class _Page(msgspec.Struct):
    data: list[msgspec.Raw]
    has_more: Any = False
    last_id: Any = None


def entry(body: bytes) -> Entry:
    return _entries.decode(body)


def page(body: bytes) -> tuple[list[Entry], str | None]:
    """The models that have a usable id, and what the next page comes after; None after the
    last. A page without one usable model is the last."""
    read = _pages.decode(body)
    found: list[Entry] = []
    for raw in read.data[:MOST_MODELS]:
        try:
            found.append(_entries.decode(raw))
        except ValueError:
            continue
    if read.data and not found:
        raise ValueError("a list of something else")
    more = read.has_more is True and bool(found) and _is_name(read.last_id)
    return found, read.last_id if more else None


def _is_window(value: object) -> bool:
    return type(value) is int and 0 < value <= LARGEST_WINDOW


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


_entries = msgspec.json.Decoder(Entry)
_pages = msgspec.json.Decoder(_Page)
