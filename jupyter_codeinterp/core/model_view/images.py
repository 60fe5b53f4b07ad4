"""Images that may be sent to a model: complete PNG and JPEG files within its limits.

For a broken image or a wrong media type, the API refuses the request and every later one, because
earlier messages never change. So each image is read to its end here.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib

from ..messages import Image, ImageSource

MAX_BYTES = 1_000_000
MAX_EDGE = 1_568
"""Pixels. The API scales longer edges down to this."""

_MOST_ENCODED = 20_000_000
"""Characters of base64 that are read: more than any stored output has."""
_MOST_PARTS = 10_000
"""Chunks or segments of one file. Those of 8 kB make 80 MB."""

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
    checked = _check(data)
    if checked == "too large":
        width, height = size(data) or (0, 0)
        return f"{width}x{height} pixels and {len(data):,} bytes are too large"
    if checked == "damaged":
        return "it is not a complete PNG or JPEG"
    return Image(ImageSource(checked, base64.b64encode(data).decode("ascii")))


def _check(data: bytes) -> str:
    """The media type, or ``damaged`` or ``too large``."""
    found = size(data)
    if found is None:
        return "damaged"
    if len(data) > MAX_BYTES or max(found) > MAX_EDGE:
        return "too large"
    return "image/png" if data.startswith(_PNG) else "image/jpeg"


def size(data: bytes) -> tuple[int, int] | None:
    """Width and height in pixels of a PNG or JPEG that is whole; None for anything else."""
    found = _png_size(data) if data.startswith(_PNG) else _jpeg_size(data)
    return found if found is not None and min(found) > 0 else None


_PNG = b"\x89PNG\r\n\x1a\n"


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
