"""The formats of images that the model gets: PNG and JPEG files, complete.

For a broken image or a wrong media type, the API refuses the request and every later one, because
earlier messages never change. So each image is read to its end here; nothing is decoded.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib

from ..wire.messages import PDF, Image, ImageSource

PNG, JPEG = "image/png", "image/jpeg"

MAX_BYTES = 1_000_000
MAX_EDGE = 8_000
"""Pixels. The API refuses longer edges, and scales down long ones itself. Above
``IMAGES_A_REQUEST`` images its limit is smaller."""

_MOST_ENCODED = 20_000_000
"""Characters of base64 that are read: more than any stored output has."""
_MOST_PARTS = 10_000
"""Chunks or segments of a PNG or JPEG; with 8 kB each, 80 MB."""
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
    found = size(data, media)
    if found is None:
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
    return PDF if data.startswith(b"%PDF-") else ""


def size(data: bytes, media: str) -> tuple[int, int] | None:
    """Width and height in pixels; None if it is no complete image."""
    read = {PNG: _png_size, JPEG: _jpeg_size}.get(media)
    found = read(data) if read is not None else None
    return found if found is not None and min(found) > 0 else None


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
