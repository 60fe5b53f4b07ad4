"""Checks attached files by their bytes: images and PDFs that a model's API accepts, complete.

For a broken file, an API refuses the request and every later one, because earlier messages never
change. So each file is read to its end here; nothing is decoded.
"""

from __future__ import annotations

import base64
import re
import struct
from collections.abc import Mapping, Sequence
from typing import Union

import msgspec

from ..messages import IMAGES_A_REQUEST, PDF, Document, Image, ImageSource, PdfSource
from ..ports import ModelInfo
from . import images
from .outputs import IMAGES_A_RESULT

GIF, WEBP = "image/gif", "image/webp"
NAMES: Mapping[str, str] = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    GIF: "GIF",
    WEBP: "WebP",
    PDF: "PDF",
}
"""Names for people, by media type."""
ANIMATED = "it is animated"
NOT_WHOLE = "it is damaged or incomplete"
ENCRYPTED = "it is password-protected"

_MOST_PARTS = 50_000
"""Blocks of a GIF, chunks of a WebP."""
_NEAR_THE_END = 2_048
"""Last bytes of a PDF in which its end marker must be: some programs write more behind it."""
_ENCRYPTED = re.compile(rb"/Encrypt\s{1,20}\d{1,10}\s{1,20}\d{1,5}\s{1,20}R")


def media_type(data: bytes) -> str:
    """The media type by the first 16 bytes; "" if no model can read the file."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    return PDF if data.startswith(b"%PDF-") else ""


def size(data: bytes, media: str) -> tuple[int, int] | str:
    """Width and height in pixels of a complete, still image, or words on what is wrong."""
    if media == GIF:
        return _gif_size(data)
    found = _webp_size(data) if media == WEBP else images.size(data)
    return found or NOT_WHOLE


def fault_of_pdf(data: bytes) -> str:
    """What is wrong with a PDF, in words; "" if it can be sent."""
    if b"%%EOF" not in data[-_NEAR_THE_END:]:
        return NOT_WHOLE
    return ENCRYPTED if _ENCRYPTED.search(data) else ""


def _gif_size(data: bytes) -> tuple[int, int] | str:
    """Walk the blocks up to the trailer."""
    if len(data) < 13:
        return NOT_WHOLE
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    place, frames = 13 + _colours(flags), 0
    for _ in range(_MOST_PARTS):
        kind = data[place : place + 1]
        if kind == b";":
            return (width, height) if frames and width and height else NOT_WHOLE
        if kind == b"!":
            place += 2
        elif kind == b"," and place + 10 < len(data):
            frames += 1
            if frames > 1:
                return ANIMATED
            place += 11 + _colours(data[place + 9])
        else:
            return NOT_WHOLE
        end = _end_of_blocks(data, place)
        if end < 0:
            return NOT_WHOLE
        place = end
    return NOT_WHOLE


def _colours(flags: int) -> int:
    """Bytes of a table of colours."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(data: bytes, place: int) -> int:
    """The offset behind the blocks that begin at ``place``; -1 if they do not end."""
    for _ in range(_MOST_PARTS):
        if place >= len(data):
            return -1
        length = data[place]
        place += 1 + length
        if not length:
            return place
    return -1


def _webp_size(data: bytes) -> tuple[int, int] | str:
    """Walk the chunks. The pixel data must be complete."""
    end = 8 + int.from_bytes(data[4:8], "little")
    if end > len(data):
        return NOT_WHOLE
    place, found = 12, None
    for _ in range(_MOST_PARTS):
        if place + 8 > end:
            return NOT_WHOLE
        kind, length = struct.unpack_from("<4sI", data, place)
        start = place + 8
        if start + length > end:
            return NOT_WHOLE
        if kind == b"VP8X" and length >= 10:
            if data[start] & 0x02:
                return ANIMATED
            found = (_three(data, start + 4) + 1, _three(data, start + 7) + 1)
        elif kind == b"VP8 " and length >= 10 and data[start + 3 : start + 6] == b"\x9d\x01\x2a":
            width, height = struct.unpack_from("<HH", data, start + 6)
            own = (width & 0x3FFF, height & 0x3FFF)
            return (found or own) if min(own) else NOT_WHOLE
        elif kind == b"VP8L" and length >= 5 and data[start] == 0x2F:
            bits = int.from_bytes(data[start + 1 : start + 5], "little")
            return found or ((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        place = start + length + (length & 1)
    return NOT_WHOLE


def _three(data: bytes, place: int) -> int:
    return int.from_bytes(data[place : place + 3], "little")


# -------------------------------------------------------------------------------------------------
# A file that a message names, for the model: an image, a document, or words on why it is not shown.

MOST_OF_IMAGE = 3_750_000
"""Bytes: 5 MB of base64, the smallest limit among providers of Claude (docs on vision)."""
MOST_OF_PDF = 4_500_000
"""Bytes. A PDF of a hundred pages has fewer. Each step sends all of it again."""
MOST_READ = max(MOST_OF_IMAGE, MOST_OF_PDF)
MOST_OF_ALL = 9_000_000
"""Bytes of all files in a conversation: Bedrock accepts requests of 20 MB, as base64."""
LONGEST_EDGE = 8_000
"""Pixels; the API refuses longer ones."""
IMAGES_A_MESSAGE = 10
IMAGES_A_CONVERSATION = IMAGES_A_REQUEST - IMAGES_A_RESULT
"""Images from the person's files; the rest of a request's images is for results."""

_CLAIMS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
"""Endings of file names that a person expects to be shown."""
BY_CODE = "open it with code"

ShownFile = Union[Image, Document]


class SeenFile(msgspec.Struct, frozen=True):
    """The result for one file. ``words`` tell the model what it is or why it is not shown, "" for a
    file of another type; ``why`` tells the person why it is not shown, "" if it is."""

    words: str = ""
    why: str = ""
    shown: Union[ShownFile, None] = None


class FileRoom(msgspec.Struct):
    """FileRoom left for files."""

    images: int
    """Images left in the conversation."""
    size: int = MOST_OF_ALL
    """Bytes left in the conversation."""
    in_message: int = IMAGES_A_MESSAGE


def claims(name: str) -> bool:
    """Whether a person expects a file with this name to be shown."""
    return name.lower().endswith(_CLAIMS)


def see(name: str, title: str, data: bytes | None, info: ModelInfo, room: FileRoom) -> SeenFile:
    """Check a file, and take its size from ``room``. ``data``: None if the file is too large or
    could not be read. ``title``: the name, inert and without keys."""
    if data is None:
        why = f"it is larger than {MOST_READ / 1e6} MB, or could not be read"
        return _not_shown(why) if claims(name) else SeenFile()
    media = media_type(data)
    if not media:
        return _not_shown("it is not a PNG, JPEG, WebP, GIF or PDF") if claims(name) else SeenFile()
    found = _pdf(data) if media == PDF else _image(data, media)
    kind = NAMES[media]
    why = found if isinstance(found, str) else _no_room(media, len(data), info, room)
    if why:
        return _not_shown(why, kind)
    room.size -= len(data)
    encoded = base64.b64encode(data).decode("ascii")
    if isinstance(found, tuple):
        room.images -= 1
        room.in_message -= 1
        width, height = found
        words = f"{kind} of {width}x{height} pixels, shown below"
        return SeenFile(words, "", Image(ImageSource(media, encoded)))
    return SeenFile("PDF, shown below", "", Document(PdfSource(encoded), title))


def _not_shown(why: str, kind: str = "") -> SeenFile:
    what = f"{kind}, which" if kind else "it"
    return SeenFile(f"{what} is not shown to you: {why}; {BY_CODE}", why)


def _pdf(data: bytes) -> str | None:
    if len(data) > MOST_OF_PDF:
        return _too_large(data, MOST_OF_PDF)
    return fault_of_pdf(data) or None


def _image(data: bytes, media: str) -> tuple[int, int] | str:
    """Width and height in pixels, or words on what is wrong."""
    if len(data) > MOST_OF_IMAGE:
        return _too_large(data, MOST_OF_IMAGE)
    found = size(data, media)
    if isinstance(found, tuple) and max(found) > LONGEST_EDGE:
        width, height = found
        return f"{width}x{height} pixels exceed {LONGEST_EDGE} per side"
    return found


def _too_large(data: bytes, most: int) -> str:
    return f"{len(data) / 1000000.0:.1f} MB exceed {most / 1000000.0} MB"


def _no_room(media: str, size: int, info: ModelInfo, room: FileRoom) -> str:
    """Why the model cannot get the file; "" if it can."""
    if media != PDF and info.images is False:
        return f"the model {info.name or info.id} does not support images"
    if media not in info.takes:
        return f"the model {info.name or info.id} does not accept {NAMES[media]} files"
    if size > room.size:
        return f"a conversation shows at most {MOST_OF_ALL / 1e6:.0f} MB of files"
    if media != PDF and room.images <= 0:
        return f"a conversation shows at most {IMAGES_A_CONVERSATION} images"
    if media != PDF and room.in_message <= 0:
        return f"a message shows at most {IMAGES_A_MESSAGE} images"
    return ""


def weight(blocks: Sequence[object]) -> int:
    """Bytes of images and documents among the blocks."""
    shown = (block.source.data for block in blocks if isinstance(block, (Image, Document)))
    return sum(len(data) * 3 // 4 - data[-2:].count("=") for data in shown)
