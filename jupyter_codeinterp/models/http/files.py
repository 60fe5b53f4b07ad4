"""Replaces images and PDFs that a model does not accept with notes.

A note depends on the file's type and the model's earlier refusals only, so that a repeated
message stays the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Union

import msgspec

from ...wire.messages import AnyBlock, Document, Image, Message, Text, ToolResult
from ...wire.ports import ModelRequest
from .faults import DOCUMENTS, IMAGES

NO_IMAGE = "[An image was here. This model does not support images: print the numbers instead.]"
"""Replaces an image for a model that accepts none."""
REFUSED = "[A file was here. The model's server does not accept it: open it with code.]"

File = Union[Image, Document]
_KINDS: dict[str, type[File]] = {IMAGES: Image, DOCUMENTS: Document}


def fitted(request: ModelRequest, takes: Collection[str], without: frozenset[str]) -> ModelRequest:
    """The request without files of types not in ``takes``, or given up."""

    def note(file: File) -> str:
        if isinstance(file, Image) and IMAGES in without:
            return NO_IMAGE
        is_lost = isinstance(file, Document) and DOCUMENTS in without
        return REFUSED if is_lost or file.source.media_type not in takes else ""

    def with_notes(block: AnyBlock) -> AnyBlock:
        if isinstance(block, ToolResult):
            return msgspec.structs.replace(block, content=tuple(map(with_notes, block.content)))
        words = note(block) if isinstance(block, (Image, Document)) else ""
        return Text(words) if words else block

    if not any(map(note, _files(request))):
        return request
    messages = (
        Message(message.role, tuple(map(with_notes, message.content)))
        for message in request.messages
    )
    return msgspec.structs.replace(request, messages=tuple(messages))


def given_up(what: str, request: ModelRequest) -> frozenset[str]:
    """What never to send this model again after it refused ``what``; empty if the request has
    none of it."""
    kind = _KINDS.get(what)
    if kind is not None and not any(isinstance(file, kind) for file in _files(request)):
        return frozenset()
    return frozenset((what,))


def _files(request: ModelRequest) -> Iterator[File]:
    for message in request.messages:
        for block in message.content:
            parts = block.content if isinstance(block, ToolResult) else (block,)
            yield from (part for part in parts if isinstance(part, (Image, Document)))
