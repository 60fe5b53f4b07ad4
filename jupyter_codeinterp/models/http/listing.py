"""Parses a server's list of models, defensively: servers omit fields, and an address may belong
to no model server at all.

Only used fields become objects, even of a large body. Both functions raise ValueError
(msgspec's) or RecursionError for any other answer.
"""

from __future__ import annotations

import re
from math import isfinite
from typing import Any, Union

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
    capabilities: Any = None
    """Anthropic: ``{"image_input": {"supported": …}}``; Mistral: ``{"vision": …,
    "function_calling": …}``."""
    architecture: Any = None
    supported_parameters: Any = None
    pricing: Any = None
    """OpenRouter: input and output prices, in dollars a token as text."""
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
        for value in (*given, self.supports_image_in):
            if isinstance(value, bool):
                return value
        return _holds(built.get("input_modalities"), "image")

    @property
    def tools(self) -> bool | None:
        value = _mapping(self.capabilities).get("function_calling")
        return value if isinstance(value, bool) else _holds(self.supported_parameters, "tools")

    @property
    def prices(self) -> Prices | None:
        """US dollars per million tokens. None also if a request has a price of its own."""
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
    """Convert a price per token to one per million tokens."""
    if isinstance(a_token, bool) or not isinstance(a_token, (int, float, str)):
        return None
    try:
        price = float(str(a_token)[:LONGEST_PRICE]) * 1e6
    except ValueError:
        return None
    return round(price, 6) if isfinite(price) and price >= 0 else None


class _Page(msgspec.Struct):
    data: Union[list[msgspec.Raw], None] = None
    models: Union[list[msgspec.Raw], None] = None
    """Some servers have only this list, or also this one (llama.cpp)."""
    has_more: Any = False
    last_id: Any = None


class _NamedModel(msgspec.Struct):
    """A model in ``models`` without an id (Ollama's own list)."""

    model: Any = None
    name: Any = None


def entry(body: bytes) -> ListedModel:
    return _entries.decode(body)


def page(body: bytes) -> tuple[list[ListedModel], str | None]:
    """Models with a usable id, and the cursor of the next page; None after the last. A page
    without a usable model is the last."""
    is_bare = body.lstrip()[:1] == b"["
    read = _Page(data=_lists.decode(body)) if is_bare else _pages.decode(body)
    given = read.models if read.data is None else read.data
    # An empty bare list may come from any web server.
    if given is None or (is_bare and not given):
        raise ValueError("not a list of models")
    found = _named(given) or _usable(given, by_name=read.data is None)
    if given and not found:
        raise ValueError("not a list of models")
    more = read.has_more is True and bool(found) and _is_name(read.last_id)
    return found, read.last_id if more else None


def _named(given: list[msgspec.Raw]) -> list[ListedModel]:
    """The models of a list of plain names; empty for other lists."""
    try:
        names = [_names.decode(raw) for raw in given[:MOST_MODELS]]
    except ValueError:
        return []
    return [ListedModel(name) for name in names if _is_name(name)]


def _usable(given: list[msgspec.Raw], *, by_name: bool) -> list[ListedModel]:
    found: list[ListedModel] = []
    for raw in given[:MOST_MODELS]:
        try:
            found.append(_entries.decode(raw))
        except ValueError:
            named = _name_in(raw) if by_name else None
            found += [] if named is None else [ListedModel(named)]
    return found


def _name_in(raw: msgspec.Raw) -> str | None:
    try:
        named = _nameds.decode(raw)
    except ValueError:
        return None
    return next(filter(_is_name, (named.model, named.name)), None)


def shown_name(model: str) -> str:
    """A model's name for people: of a path, the file (llama.cpp)."""
    is_path = model.startswith(("/", "~", ".")) or model[1:3] in (":\\", ":/")
    parts = re.split(r"[/\\]", model) if is_path else [model]
    return next(filter(None, reversed(parts)), model)


def _is_window(value: object) -> bool:
    return type(value) is int and 0 < value <= LARGEST_WINDOW


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()


_entries = msgspec.json.Decoder(ListedModel)
_pages = msgspec.json.Decoder(_Page)
_lists = msgspec.json.Decoder(list[msgspec.Raw])
_names = msgspec.json.Decoder(str)
_nameds = msgspec.json.Decoder(_NamedModel)
