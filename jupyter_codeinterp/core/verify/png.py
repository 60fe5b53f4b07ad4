"""What an encoded image shows, without what its writer adds."""

from __future__ import annotations

import struct

_PNG = b"\x89PNG\r\n\x1a\n"
_SHOWN = (b"IHDR", b"PLTE", b"tRNS", b"IDAT")


def pixels(image: bytes) -> bytes:
    """The chunks of a PNG file that hold its size, colours and pixels; any other file whole.
    Writers add their version and the time in other chunks."""
    if not image.startswith(_PNG):
        return image
    at, kept = len(_PNG), []
    while at + 8 <= len(image):
        length, kind = struct.unpack(">I4s", image[at : at + 8])
        if kind in _SHOWN:
            kept.append(kind + image[at + 8 : at + 8 + length])
        at += length + 12
    return b"".join(kept)
