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
from .images import JPEG, MAX_EDGE, NOT_WHOLE, PNG, media_type, size
from .outputs import IMAGES_A_RESULT

NAMES: Mapping[str, str] = {PNG: "PNG", JPEG: "JPEG", PDF: "PDF"}
"""Names for people, by media type."""
ENCRYPTED = Sentence("it is password-protected")

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
TOO_WIDE = Sentence("{width}x{height} pixels exceed {limit} per side")
NO_FILES = Sentence("the model {model} does not accept {kind} files")
MOST_FILES = Sentence("a conversation shows at most {limit} MB of files")
MOST_IMAGES = Sentence("a conversation shows at most {limit} images")


def claims(name: str) -> bool:
    """Whether a person expects a file with this name to be shown."""
    return name.lower().endswith(_CLAIMS)


def see(name: str, title: str, data: bytes | None, info: ModelInfo, room: FileRoom) -> SeenFile:
    """Check a file, and take its size from ``room``. ``data``: None if the file is too large or
    could not be read. ``title``: the name, inert and without keys."""
    if data is None:
        large = Sentence(NOT_READ, limit=MOST_READ / 1e6)
        return _not_shown(large) if claims(name) else SeenFile()
    media = media_type(data)
    if not media:
        return _not_shown(OTHER_TYPE) if claims(name) else SeenFile()
    found = pdf_fault(data) if media == PDF else _image(data, media)
    kind = NAMES[media]
    why = found if isinstance(found, str) else _no_room(media, len(data), info, room)
    if why:
        return _not_shown(why, kind)
    room.size -= len(data)
    encoded = base64.b64encode(data).decode("ascii")
    if isinstance(found, tuple):
        room.images -= 1
        width, height = found
        words = f"{kind} of {width}x{height} pixels, shown below"
        return SeenFile(words, "", Image(ImageSource(media, encoded)))
    return SeenFile("PDF, shown below", "", Document(PdfSource(encoded), title))


def _not_shown(why: str, kind: str = "") -> SeenFile:
    what = f"{kind}, which" if kind else "it"
    return SeenFile(f"{what} is not shown to you: {why}; {BY_CODE}", why)


def pdf_fault(data: bytes) -> str | None:
    """What is wrong with a PDF, in words; None if it can be sent."""
    if len(data) > MOST_OF_PDF:
        return _too_large(data, MOST_OF_PDF)
    if b"%%EOF" not in data[-_NEAR_THE_END:]:
        return NOT_WHOLE
    return ENCRYPTED if _ENCRYPTED.search(data) else None


def _image(data: bytes, media: str) -> tuple[int, int] | str:
    """Width and height in pixels, or words on what is wrong."""
    if len(data) > MOST_OF_IMAGE:
        return _too_large(data, MOST_OF_IMAGE)
    found = size(data, media)
    if isinstance(found, tuple) and max(found) > MAX_EDGE:
        width, height = found
        return Sentence(TOO_WIDE, width=width, height=height, limit=MAX_EDGE)
    return found


def _too_large(data: bytes, most: int) -> str:
    return Sentence("{size:.1f} MB exceed {limit} MB", size=len(data) / 1e6, limit=most / 1e6)


def _no_room(media: str, size: int, info: ModelInfo, room: FileRoom) -> str:
    """Why the model cannot get the file; "" if it can."""
    if media not in info.takes or (media != PDF and info.images is False):
        return Sentence(NO_FILES, model=info.name or info.id, kind=NAMES[media])
    if size > room.size:
        return Sentence(MOST_FILES, limit=MOST_OF_ALL // 1_000_000)
    if media != PDF and room.images <= 0:
        return Sentence(MOST_IMAGES, limit=IMAGES_A_CONVERSATION)
    return ""


def weight(blocks: Sequence[object]) -> int:
    """Bytes of images and documents among the blocks."""
    shown = (block.source.data for block in blocks if isinstance(block, (Image, Document)))
    return sum(len(data) * 3 // 4 - data[-2:].count("=") for data in shown)
