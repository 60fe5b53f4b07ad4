"""What a server says of its models, read with suspicion: other servers leave fields out, and
what listens at an address may be no model server at all.

Only what is used is read; the rest of a large body is never made into objects. Both raise
ValueError (msgspec's) or RecursionError for what is no such answer.
"""

from __future__ import annotations

from typing import Any

import msgspec

MOST_MODELS = 2_000
LONGEST_NAME = 200
"""Characters of a model's id or name; the longest paths of files on local servers fit."""
LARGEST_WINDOW = 1_000_000_000


class Entry(msgspec.Struct):
    """One model. ``context_window`` in tokens; it and ``name`` are None where not given. Servers
    have many names for it: the first one that has a usable figure counts."""

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
