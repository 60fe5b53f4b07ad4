"""What a file is, by its bytes alone: an image or a PDF that a model's API takes, and whole.

A file that is not what it is sent as makes an API refuse the request, and every later one, as
earlier messages never change. So it is read to its end here; nothing is decoded.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping

from ..messages import PDF
from ..model_view import images

GIF, WEBP = "image/gif", "image/webp"
NAMES: Mapping[str, str] = {
    "image/png": "PNG",
    "image/jpeg": "JPEG",
    GIF: "GIF",
    WEBP: "WebP",
    PDF: "PDF",
}
"""For people, by media type."""
ANIMATED = "it is animated"
NOT_WHOLE = "it is damaged or incomplete"
ENCRYPTED = "it is password-protected"

_MOST_PARTS = 50_000
"""Blocks of a GIF, chunks of a WebP."""
_NEAR_THE_END = 2_048
"""Bytes in which a PDF says that it ends; some programs write a little more behind that."""
_ENCRYPTED = re.compile(rb"/Encrypt\s{1,20}\d{1,10}\s{1,20}\d{1,5}\s{1,20}R")


def media_type(data: bytes) -> str:
    """By the first bytes (16 are enough); "" for what no model is shown."""
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
    """Width and height in pixels of a whole, still image, else in words what is wrong."""
    if media == GIF:
        return _gif_size(data)
    found = _webp_size(data) if media == WEBP else images.size(data)
    return found or NOT_WHOLE


def fault_of_pdf(data: bytes) -> str:
    """In words; "" if it can be sent."""
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
    """Where the blocks that begin at ``place`` have ended; -1 if they do not."""
    for _ in range(_MOST_PARTS):
        if place >= len(data):
            return -1
        length = data[place]
        place += 1 + length
        if not length:
            return place
    return -1


def _webp_size(data: bytes) -> tuple[int, int] | str:
    """Walk the chunks. Pixels must be there, and all of them."""
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
