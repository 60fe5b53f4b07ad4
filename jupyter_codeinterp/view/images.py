"""The formats of images that a model's API accepts: PNG, JPEG, GIF and WebP files, complete.

For a broken image or a wrong media type, the API refuses the request and every later one, because
earlier messages never change. So each image is read to its end here; nothing is decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib

from ..base.sentences import Sentence
from ..wire.messages import PDF, Image, ImageSource

PNG, JPEG, GIF, WEBP = "image/png", "image/jpeg", "image/gif", "image/webp"
ANIMATED = Sentence("it is animated")
NOT_WHOLE = Sentence("it is damaged or incomplete")

MAX_BYTES = 1_000_000
MAX_EDGE = 8_000
"""Pixels. The API refuses longer edges, and scales down long ones itself. Above
``IMAGES_A_REQUEST`` images its limit is smaller."""

_MOST_ENCODED = 20_000_000
"""Characters of base64 that are read: more than any stored output has."""
_MOST_PARTS = 10_000
"""Chunks or segments of a PNG or JPEG; with 8 kB each, 80 MB."""
_MOST_BLOCKS = 50_000
"""Blocks of a GIF, chunks of a WebP."""
_PNG = b"\x89PNG\r\n\x1a\n"

_FILL = re.compile(b"\xff+")
_SOF = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


def load(encoded: str) -> Image | str:
    """The image for the model, or words on why it cannot be shown."""
    if len(encoded) > _MOST_ENCODED:
        return f"{len(encoded):,} characters of base64 are too large"
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except (binascii.Error, ValueError):
        return "its data is damaged"
    media = media_type(data)
    found = size(data, media) if media in (PNG, JPEG) else NOT_WHOLE
    if isinstance(found, str):
        return "it is not a complete PNG or JPEG"
    if len(data) > MAX_BYTES or max(found) > MAX_EDGE:
        return f"{found[0]}x{found[1]} pixels and {len(data):,} bytes are too large"
    return Image(ImageSource(media, base64.b64encode(data).decode("ascii")))


def media_type(data: bytes) -> str:
    """The media type by the first 16 bytes; "" if no model can read the file."""
    if data.startswith(_PNG):
        return PNG
    if data.startswith(b"\xff\xd8\xff"):
        return JPEG
    if data.startswith((b"GIF87a", b"GIF89a")):
        return GIF
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return WEBP
    return PDF if data.startswith(b"%PDF-") else ""


def size(data: bytes, media: str) -> tuple[int, int] | str:
    """Width and height in pixels of a complete, still image, or words on what is wrong."""
    read = {PNG: _png_size, JPEG: _jpeg_size, GIF: _gif_size, WEBP: _webp_size}.get(media)
    found = read(data) if read is not None else None
    return found if isinstance(found, str) or (found and min(found) > 0) else NOT_WHOLE


def _png_size(data: bytes) -> tuple[int, int] | None:
    """Walk the chunks with their checksums up to IEND."""
    place, found, pixels = len(_PNG), None, False
    for _ in range(_MOST_PARTS):
        if place + 12 > len(data):
            return None
        length, kind = struct.unpack_from(">I4s", data, place)
        end = place + 8 + length
        if end + 4 > len(data):
            return None
        (checksum,) = struct.unpack_from(">I", data, end)
        if zlib.crc32(memoryview(data)[place + 4 : end]) != checksum:
            return None
        if kind == b"IHDR" and length == 13:
            width, height = struct.unpack_from(">II", data, place + 8)
            found = (width, height)
        pixels = pixels or kind == b"IDAT"
        if kind == b"IEND":
            return found if pixels else None
        place = end + 4
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Walk the segments to the frame header; the scan must be there and come to an end."""
    if not data.startswith(b"\xff\xd8\xff") or b"\xff\xd9" not in data[-1024:]:
        return None
    place, found = 2, None
    for _ in range(_MOST_PARTS):
        filled = _FILL.match(data, place)
        if filled is None or filled.end() + 3 > len(data):
            return None
        place = filled.end() - 1
        marker = data[place + 1]
        if marker == 0xDA:
            return found
        (length,) = struct.unpack_from(">H", data, place + 2)
        if marker in _SOF and place + 9 <= len(data):
            height, width = struct.unpack_from(">HH", data, place + 5)
            found = (width, height)
        place += 2 + length
    return None


def _gif_size(data: bytes) -> tuple[int, int] | str:
    """Walk the blocks up to the trailer."""
    if len(data) < 13:
        return NOT_WHOLE
    width, height, flags = struct.unpack_from("<HHB", data, 6)
    place, frames = 13 + _colours(flags), 0
    for _ in range(_MOST_BLOCKS):
        kind = data[place : place + 1]
        if kind == b";":
            return (width, height) if frames else NOT_WHOLE
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
    """The size of a GIF's color table, in bytes."""
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _end_of_blocks(data: bytes, place: int) -> int:
    """The offset behind the blocks that begin at ``place``; -1 if they do not end."""
    for _ in range(_MOST_BLOCKS):
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
    for _ in range(_MOST_BLOCKS):
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
