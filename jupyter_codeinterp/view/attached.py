"""A file that a message names, for the model: an image, a PDF, or words on why it is not shown.

For a broken file, an API refuses the request and every later one, because earlier messages never
change. So each file is read to its end here; nothing is decoded.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from typing import Union

import msgspec

from ..base.sentences import Sentence
from ..wire.messages import IMAGES_A_REQUEST, PDF, Document, Image, ImageSource, PdfSource
from ..wire.ports import ModelInfo
from .images import JPEG, MAX_EDGE, PNG, media_type, size
from .outputs import IMAGES_A_RESULT

NAMES: Mapping[str, str] = {PNG: "PNG", JPEG: "JPEG", PDF: "PDF"}
"""Names for people, by media type."""

_NEAR_THE_END = 2_048
"""Last bytes of a PDF, which must contain its end marker: some programs write more after it."""
_ENCRYPTED = re.compile(rb"/Encrypt\s{1,20}\d{1,10}\s{1,20}\d{1,5}\s{1,20}R")

MOST_OF_IMAGE = 3_750_000
"""Bytes: 5 MB of base64, the smallest limit among providers of Claude (docs on vision)."""
MOST_OF_PDF = 4_500_000
"""Bytes. A PDF of a hundred pages has fewer. Each step sends all of it again."""
MOST_READ = max(MOST_OF_IMAGE, MOST_OF_PDF)
MOST_OF_ALL = 9_000_000
"""Bytes of all files in a conversation: Bedrock accepts requests of 20 MB, as base64."""
IMAGES_A_CONVERSATION = IMAGES_A_REQUEST - IMAGES_A_RESULT
"""Images from the person's files. A request's other images are for results."""

_CLAIMS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
"""Name endings of files that a person expects the model to see."""
BY_CODE = "open it with code"

ShownFile = Union[Image, Document]


class SeenFile(msgspec.Struct, frozen=True):
    """The result for one file. ``words`` tell the model what it is or why it is not shown, "" for a
    file of another type; ``why`` tells the person why it is not shown, "" if it is."""

    words: str = ""
    why: str = ""
    shown: Union[ShownFile, None] = None


class FileRoom(msgspec.Struct):
    """Room left for files."""

    images: int
    """Images left in the conversation."""
    size: int = MOST_OF_ALL
    """Bytes left in the conversation."""


NOT_READ = Sentence("it is larger than {limit} MB, or could not be read")
OTHER_TYPE = Sentence("it is not a PNG, JPEG or PDF")
TOO_LARGE = Sentence("it exceeds {limit} MB or {edge} pixels per side")
DAMAGED = Sentence("it is damaged, incomplete or password-protected")
NO_FILES = Sentence("the model {model} does not accept {kind} files")
NO_ROOM = Sentence("a conversation shows at most {images} images and {limit} MB of files")


def see(name: str, title: str, data: bytes | None, info: ModelInfo, room: FileRoom) -> SeenFile:
    """Check a file, and take its size from ``room``. ``data``: None if the file is too large or
    could not be read. ``title``: the name, inert and without keys."""
    media = media_type(data or b"")
    if data is None or not media:
        why = Sentence(NOT_READ, limit=MOST_READ / 1e6) if data is None else OTHER_TYPE
        return _not_shown(why) if name.lower().endswith(_CLAIMS) else SeenFile()
    kind = NAMES[media]
    fault = _fault(data, media) or _no_room(media, len(data), info, room)
    if fault:
        return _not_shown(fault, kind)
    room.size -= len(data)
    encoded = base64.b64encode(data).decode("ascii")
    words = f"{kind}, shown below"
    if media == PDF:
        return SeenFile(words, "", Document(PdfSource(encoded), title))
    room.images -= 1
    return SeenFile(words, "", Image(ImageSource(media, encoded)))


def _not_shown(why: str, kind: str = "") -> SeenFile:
    what = f"{kind}, which" if kind else "it"
    return SeenFile(f"{what} is not shown to you: {why}; {BY_CODE}", why)


def _fault(data: bytes, media: str) -> str:
    """Why no model can get the file; "" if one can."""
    most = MOST_OF_PDF if media == PDF else MOST_OF_IMAGE
    too_large = Sentence(TOO_LARGE, limit=most / 1e6, edge=MAX_EDGE)
    if len(data) > most:
        return too_large
    if media == PDF:
        is_whole = b"%%EOF" in data[-_NEAR_THE_END:] and not _ENCRYPTED.search(data)
        return "" if is_whole else DAMAGED
    found = size(data, media)
    if found is None:
        return DAMAGED
    return too_large if max(found) > MAX_EDGE else ""


def _no_room(media: str, size: int, info: ModelInfo, room: FileRoom) -> str:
    """Why the model cannot get the file; "" if it can."""
    if media not in info.takes or (media != PDF and info.images is False):
        return Sentence(NO_FILES, model=info.name or info.id, kind=NAMES[media])
    if size > room.size or (media != PDF and room.images <= 0):
        return Sentence(NO_ROOM, images=IMAGES_A_CONVERSATION, limit=MOST_OF_ALL // 1_000_000)
    return ""


def weight(blocks: Sequence[object]) -> int:
    """Bytes of images and documents among the blocks."""
    shown = (block.source.data for block in blocks if isinstance(block, (Image, Document)))
    return sum(len(data) * 3 // 4 - data[-2:].count("=") for data in shown)
