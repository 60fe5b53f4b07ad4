"""Whether two images look the same."""

from __future__ import annotations

import io
import logging

SIDE = 48
"""Pixels of the small copies that are compared."""
FARTHEST = 10
"""Of 255: the most by which a pixel of the small copies may differ."""
MOST_PIXELS = 20_000_000

log = logging.getLogger(__name__)


def alike(one: bytes, other: bytes) -> bool:
    """Compare small grey copies. Without Pillow, which comes with matplotlib, only equal bytes are
    alike."""
    try:
        from PIL import Image, ImageChops
    except ImportError:
        return one == other
    try:
        small = []
        for data in (one, other):
            with Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "GIF", "WEBP")) as image:
                if image.width * image.height > MOST_PIXELS:
                    return one == other
                small.append((image.size, image.convert("L").resize((SIDE, SIDE))))
    except Exception as error:
        # Pillow raises anything for damaged images.
        log.info("Could not read an image: %r", error)
        return one == other
    (size, first), (other_size, second) = small
    if size != other_size:
        return False
    farthest = max(ImageChops.difference(first, second).tobytes())
    return farthest <= FARTHEST
