"""What the model sees of a cell's outputs: text in order, then images; everything bounded.

``full_text`` is the whole of it as plain text; ``see`` is what a tool result carries, cut
once, when it is created; ``read`` is a later look at the part that was cut.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Union

import msgspec

from . import images, tracebacks
from .document import Output
from .images import Scale
from .messages import Image
from .plain_text import clean, cut, ends, strip_html

BUDGET = 10_000
"""Characters of a tool result."""
IMAGES_A_RESULT = 3
IMAGES_A_CONVERSATION = 19
"""The API halves the size of images once there are more than 20 in a request."""

_WIDGET = "application/vnd.jupyter.widget-view+json"
_BARE = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>")
"""A text/plain that says nothing: `<IPython.core.display.HTML object>`."""
_WIDGET_LIMIT = 300


class Seen(msgspec.Struct, frozen=True):
    text: str
    images: tuple[Image, ...] = ()


class _Piece(msgspec.Struct, frozen=True):
    """One output. ``image`` is base64, with ``text`` as its stand-in; ``error`` the output."""

    text: str
    image: str = ""
    error: Union[Output, None] = None


def see(
    outputs: Sequence[Output],
    *,
    images_left: int | None,
    budget: int = BUDGET,
    scale: Scale | None = None,
) -> Seen:
    """The outputs as a tool result shows them, in at most ``budget`` characters.

    ``images_left`` is how many more images the conversation may have (None: only text is
    wanted, and an image is a line); ``scale`` makes an image that is too large fit.
    """
    allowed = min(images_left or 0, IMAGES_A_RESULT)
    shown: list[Image] = []
    texts: list[str] = []
    closing = 0
    pieces = list(_pieces(outputs))
    for piece in pieces:
        text, closing = piece.text, 0
        if piece.error is not None:
            text = tracebacks.folded(piece.error, min(tracebacks.LIMIT, budget))
            closing = len(text)
        elif piece.image and images_left is not None:
            image = _show(piece.image, allowed - len(shown), allowed, scale)
            if isinstance(image, str):
                text = image
            else:
                shown.append(image)
        texts.append(text)
    return Seen(_cut("\n".join(texts), _whole(pieces), budget, closing), tuple(shown))


def full_text(outputs: Sequence[Output]) -> str:
    """All outputs as plain text, tracebacks unfolded, a line for each image."""
    return _whole(_pieces(outputs))


def _whole(pieces: Iterable[_Piece]) -> str:
    return "\n".join(piece.text for piece in pieces)


def excerpt(text: str, start: int, length: int = BUDGET) -> str:
    """``length`` characters of ``text`` from ``start`` (negative: from the end), at most
    10,000, under a line that says which they are."""
    first, end = _span(text, start, length)
    if first >= len(text):
        return f"[nothing at {first:,}: the output has {len(text):,} characters]"
    return f"[characters {first:,} to {end:,} of {len(text):,}]\n{text[first:end]}"


def _span(text: str, start: int, length: int) -> tuple[int, int]:
    first = max(0, len(text) + start) if start < 0 else start
    return first, min(len(text), first + max(1, min(length, BUDGET)))


def read(
    outputs: Sequence[Output],
    start: int = 0,
    length: int = BUDGET,
    *,
    images_left: int,
    scale: Scale | None = None,
) -> Seen:
    """An excerpt of ``full_text`` with the images whose lines begin in it."""
    pieces = list(_pieces(outputs))
    text = _whole(pieces)
    first, end = _span(text, start, length)
    allowed = min(images_left, IMAGES_A_RESULT)
    shown: list[Image] = []
    notes: list[str] = []
    place = 0
    for piece in pieces:
        if piece.image and first <= place < end:
            image = _show(piece.image, allowed - len(shown), allowed, scale)
            if isinstance(image, str):
                notes.append(image)
            else:
                shown.append(image)
        place += len(piece.text) + 1
    return Seen("\n".join([excerpt(text, start, length), *notes]), tuple(shown))


def result_text(
    *,
    status: str,
    cell_id: str | None = None,
    execution_count: int | None = None,
    elapsed: float | None = None,
    body: str = "",
    notes: Sequence[str] = (),
) -> str:
    """A tool result: the line of facts (unknown ones left out), notes, then the outputs."""
    facts: dict[str, object] = {
        "status": status,
        "cell_id": cell_id or None,
        "execution_count": execution_count,
        "elapsed": None if elapsed is None else f"{elapsed:.1f}s",
    }
    line = " ".join(f"{name}={fact}" for name, fact in facts.items() if fact is not None)
    return "\n".join([line, *notes, *([body] if body else [])])


def error_signature(outputs: Sequence[Output], source: str) -> str | None:
    """Equal for the same error at the same line of code; None when nothing failed.

    Addresses (`0x7f…`) do not count, nor what the message says after its first line.
    """
    error = next((o for o in reversed(outputs) if o.get("output_type") == "error"), None)
    if error is None:
        return None
    message = clean(str(error.get("evalue") or "")).split("\n")[0][:200]
    line = tracebacks.user_line(error) or source.strip()
    return f"{error.get('ename')}: {re.sub('0x[0-9a-fA-F]+', '0x…', message)} | {line}"


# --- one output ----------------------------------------------------------------------


def _pieces(outputs: Sequence[Output]) -> Iterator[_Piece]:
    place = 0
    while place < len(outputs):
        output = outputs[place]
        place += 1
        kind = output.get("output_type")
        if kind == "stream":
            # One message may end in the middle of a progress bar that the next goes on with.
            texts = [_text(output.get("text"))]
            while place < len(outputs) and _continues(outputs[place], output):
                texts.append(_text(outputs[place].get("text")))
                place += 1
            text = clean("".join(texts)).rstrip("\n")
            label = "[stderr]\n" if output.get("name") == "stderr" else ""
            piece = _Piece(label + text if text.strip() else "")
        elif kind == "error":
            piece = _Piece(tracebacks.whole(output), error=output)
        else:
            piece = _rich(output.get("data") or {})
        if piece.text:
            yield piece


def _continues(output: Output, stream: Output) -> bool:
    return output.get("output_type") == "stream" and output.get("name") == stream.get("name")


def _rich(data: dict[str, Any]) -> _Piece:
    """The one representation of a MIME bundle that tells a model most."""
    plain = clean(_text(data.get("text/plain"))).strip("\n")
    if _WIDGET in data:
        return _Piece(f"[widget: {cut(plain, _WIDGET_LIMIT)}]" if plain else "[widget]")
    for media in ("image/png", "image/jpeg"):
        if media in data:
            title = media if not plain or _BARE.fullmatch(plain) else " ".join(plain.split())
            return _Piece(f"[image: {title[:100]}]", _text(data[media]))
    for media in ("text/markdown", "text/latex"):
        if media in data:
            return _Piece(clean(_text(data[media])).strip("\n"))
    if plain and not _BARE.fullmatch(plain):
        return _Piece(plain)
    if "text/html" in data and (text := clean(strip_html(_text(data["text/html"])))):
        return _Piece(text)
    if "application/json" in data:
        return _Piece(clean(json.dumps(data["application/json"], indent=1, ensure_ascii=False)))
    others = [media for media in data if media != "text/plain"]
    return _Piece(plain or (f"[{others[0]} not shown]" if others else ""))


def _text(value: Any) -> str:
    """A string of nbformat, which on disk may be a list of lines."""
    return "".join(value) if isinstance(value, list) else str(value or "")


def _show(encoded: str, left: int, allowed: int, scale: Scale | None) -> Image | str:
    """The image, or the line that stands for it."""
    if left <= 0:
        why = f"a result has at most {IMAGES_A_RESULT}"
        if allowed < IMAGES_A_RESULT:
            why = f"a conversation has at most {IMAGES_A_CONVERSATION}"
        return f"[image not shown: {why}; read_output can fetch it]"
    image = images.load(encoded, scale)
    return image if isinstance(image, Image) else f"[image not shown: {image}]"


def _cut(text: str, full: str, budget: int, closing: int) -> str:
    """``text`` within ``budget``, saying from where ``read_output`` reads on in ``full``.

    The last ``closing`` characters, a traceback, stay whole.
    """
    if len(text) <= budget:
        return text
    head, foot = ends(text, max(0, budget - 120), closing)
    left_out = len(text) - len(head) - len(foot)
    start = next((i for i, (a, b) in enumerate(zip(head, full, strict=False)) if a != b), len(head))
    how = f"read_output(cell_id, start={start}, length={BUDGET}) reads on"
    return f"{head}\n[… {left_out:,} characters left out; {how} …]\n{foot}"[:budget]
