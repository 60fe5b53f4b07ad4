"""A file that a message names, as the model gets it: shown as an image or a document, or told
in words why it is not, and what can be done.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Union

import msgspec

from ..messages import IMAGES_A_REQUEST, PDF, Document, Image, ImageSource, PdfSource
from ..model_view.outputs import IMAGES_A_RESULT
from ..ports import ModelInfo
from . import kinds

MOST_OF_IMAGE = 3_750_000
"""Bytes: 5 MB of base64, the least that a provider of Claude takes (docs of vision)."""
MOST_OF_PDF = 4_500_000
"""Bytes. A PDF of a hundred pages has fewer; all of it is read again with each step."""
MOST_READ = max(MOST_OF_IMAGE, MOST_OF_PDF)
MOST_OF_ALL = 9_000_000
"""Bytes of all that a conversation shows: a request may have 20 MB at Bedrock, as base64."""
LONGEST_EDGE = 8_000
"""Pixels; the API refuses longer ones."""
IMAGES_A_MESSAGE = 10
IMAGES_A_CONVERSATION = IMAGES_A_REQUEST - IMAGES_A_RESULT
"""Results have room for some, too."""

_CLAIMS = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".pdf")
"""How the names of files end that are thought to be shown."""
BY_CODE = "open it with code"

Shown = Union[Image, Document]


class Seen(msgspec.Struct, frozen=True):
    """Of one file. ``words`` for the model say what it is or why it is not shown, "" if there
    is nothing to say but its name and size; ``why`` is for the person, "" if it is as they
    thought."""

    words: str = ""
    why: str = ""
    shown: Union[Shown, None] = None


class Room(msgspec.Struct):
    """How much more may be shown."""

    images: int
    """In the conversation."""
    size: int = MOST_OF_ALL
    """Bytes in the conversation."""
    in_message: int = IMAGES_A_MESSAGE


def claims(name: str) -> bool:
    """Whether the person thinks, by its name, that it is shown. What it is, its bytes say."""
    return name.lower().endswith(_CLAIMS)


def see(name: str, title: str, data: bytes | None, info: ModelInfo, room: Room) -> Seen:
    """Takes from ``room`` what it needs. ``data`` is None where the file is too large, or could
    not be read. ``title`` is the name, inert and without keys."""
    if data is None:
        why = f"it is larger than {MOST_READ / 1e6} MB, or could not be read"
        return _not_shown(why) if claims(name) else Seen()
    media = kinds.media_type(data)
    if not media:
        return _not_shown("it is not a PNG, JPEG, WebP, GIF or PDF") if claims(name) else Seen()
    found = _pdf(data) if media == PDF else _image(data, media)
    kind = kinds.NAMES[media]
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
        return Seen(words, "", Image(ImageSource(media, encoded)))
    return Seen("PDF, shown below", "", Document(PdfSource(encoded), title))


def _not_shown(why: str, kind: str = "") -> Seen:
    what = f"{kind}, which" if kind else "it"
    return Seen(f"{what} is not shown to you: {why}; {BY_CODE}", why)


def _pdf(data: bytes) -> str | None:
    if len(data) > MOST_OF_PDF:
        return _too_large(data, MOST_OF_PDF)
    return kinds.fault_of_pdf(data) or None


def _image(data: bytes, media: str) -> tuple[int, int] | str:
    """Its pixels, or what is wrong with it."""
    if len(data) > MOST_OF_IMAGE:
        return _too_large(data, MOST_OF_IMAGE)
    found = kinds.size(data, media)
    if isinstance(found, tuple) and max(found) > LONGEST_EDGE:
        width, height = found
        return f"{width}x{height} pixels exceed {LONGEST_EDGE} per side"
    return found


def _too_large(data: bytes, most: int) -> str:
    return f"{len(data) / 1000000.0:.1f} MB exceed {most / 1000000.0} MB"


def _no_room(media: str, size: int, info: ModelInfo, room: Room) -> str:
    """Why the model cannot be shown it, "" if it can."""
    if media != PDF and info.images is False:
        return f"the model {info.name or info.id} does not support images"
    if media not in info.takes:
        return f"the model {info.name or info.id} does not accept {kinds.NAMES[media]} files"
    if size > room.size:
        return f"a conversation shows at most {MOST_OF_ALL / 1e6:.0f} MB of files"
    if media != PDF and room.images <= 0:
        return f"a conversation shows at most {IMAGES_A_CONVERSATION} images"
    if media != PDF and room.in_message <= 0:
        return f"a message shows at most {IMAGES_A_MESSAGE} images"
    return ""


def weight(blocks: Sequence[object]) -> int:
    """Bytes of what is shown."""
    shown = (block.source.data for block in blocks if isinstance(block, (Image, Document)))
    return sum(len(data) * 3 // 4 - data[-2:].count("=") for data in shown)
