"""A cell's outputs for the model: text in order, then images; everything bounded.

``full_text`` is all of it as plain text; ``see`` makes the cut version of a tool result; ``read``
returns a part that was cut. ``scrub`` removes keys before any cut. ``Seen.text`` is inert: it
contains none of our tags.

Outputs are untrusted. A field of the wrong type counts as absent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, Union

import msgspec

from ..wire.messages import PICTURE_OF, Image
from ..wire.ops import Output
from . import images, tracebacks
from .html_text import LIMIT, strip_html
from .plain_text import READ, clean, cut, ends
from .untrusted import escaped

Scrub = Callable[[str], str]

BUDGET = 10_000
"""Characters of a tool result."""
_CUT_LINE = 120
"""Characters of the line that says what was cut."""
IMAGES_A_RESULT = 3

_WIDGET = "application/vnd.jupyter.widget-view+json"
_BARE = re.compile(r"<[\w.]+(?: object)?(?: at 0x[0-9a-fA-F]+)?>")
"""A text/plain without information: `<IPython.core.display.HTML object>`."""
_DRAWN = re.compile(r"<((?:Figure|PIL\.[\w.]+) [^<>\n]{1,200})>|<VegaLite [^<]*", re.DOTALL)
"""The text/plain of a picture."""
_DATA_URL = re.compile(r"data:image/(?:png|jpeg);base64,([A-Za-z0-9+/=\\\s]{64,})")
_NOT_SHOWN = "[not shown to you: {}]"
_KINDS = (
    *(("image/svg+xml", "SVG"), ("application/vnd.vega", "Altair chart")),
    *(("application/vnd.plotly", "Plotly chart"), ("application/vnd.bokeh", "Bokeh chart")),
    *(("application/geo+json", "map"), ("application/pdf", "PDF")),
    *(("image/", "picture"), ("video/", "video"), ("audio/", "audio")),
)
"""Names of media types that show a picture or play, by prefix."""
_WIDGETS = {
    **{"FigureWidget": "Plotly chart", "Image": "picture", "Video": "video", "Audio": "audio"},
    **{"JupyterChart": "Altair chart"},
}
"""By type of widget: what it shows, where its text/plain is only data."""
_ELEMENTS = (
    *(("<video", "video"), ("<audio", "audio"), ("<svg", "SVG"), ("<iframe", "embedded page")),
    *(("<canvas", "drawing"), ("<img", "picture")),
)
_SCRIPT = "interactive HTML"
_WIDGET_LIMIT = 300
_JSON_LIMIT = 50_000
"""Characters of JSON data."""
MOST_OUTPUTS = 1_000
"""Outputs read of a cell: as many as a run keeps."""
_MARKUP = 1_000_000
"""Characters of HTML read of all outputs; of each at least ten times ``_LEAST``."""
_LEAST = 300
"""Characters read of an output when others have used up the limit."""
_LAST, _LEAST_OF_LAST = 3, 20_000
"""The last outputs, which include the error, get more."""


class Seen(msgspec.Struct, frozen=True):
    """``title`` replaces a tool's label on its card. ``is_delimited``: the text is inert and has
    delimiters of its own."""

    text: str
    images: tuple[Image, ...] = ()
    title: str = ""
    is_delimited: bool = False


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
    scrub: Scrub = str,
    most: int = READ,
) -> Seen:
    """The outputs for a tool result, in at most ``budget`` characters and some backslashes.

    ``images_left``: images that the result may still have (None: text only, an image is a line).
    ``most``: characters to read.
    """
    allowed = min(images_left or 0, IMAGES_A_RESULT)
    shown: list[Image] = []
    texts: list[str] = []
    closing = 0
    pieces = list(_pieces(outputs, scrub, most))
    for piece in pieces:
        text, closing = piece.text, 0
        if piece.error is not None:
            text = tracebacks.folded(piece.error, min(tracebacks.LIMIT, budget), scrub)
            closing = len(text)
        elif piece.image and images_left is not None:
            image = _show(piece.image, allowed - len(shown))
            if isinstance(image, str):
                text = image
            else:
                shown.append(image)
        texts.append(text)
    text = "\n".join(texts)
    if len(text) > budget:
        text = _cut(text, _whole(pieces), budget, closing)
    return Seen(escaped(text), tuple(shown))


def full_text(outputs: Sequence[Output], scrub: Scrub = str) -> str:
    """All outputs as plain text, tracebacks unfolded, a line for each image. Not inert."""
    return _whole(_pieces(outputs, scrub, READ))


def _whole(pieces: Iterable[_Piece]) -> str:
    return "\n".join(piece.text for piece in pieces)


def excerpt(text: str, start: int, length: int = BUDGET) -> str:
    """``length`` characters of ``text`` from ``start`` (negative: from the end), at most 10,000
    and some backslashes, under a line with their range. Inert."""
    first, end = _span(text, start, length)
    if first >= len(text):
        return f"[nothing at {first:,}: the output has {len(text):,} characters]"
    return f"[characters {first:,} to {end:,} of {len(text):,}]\n{escaped(text[first:end])}"


def _span(text: str, start: int, length: int) -> tuple[int, int]:
    first = max(0, len(text) + start) if start < 0 else start
    return first, min(len(text), first + max(1, min(length, BUDGET)))


def read(
    outputs: Sequence[Output],
    start: int = 0,
    length: int = BUDGET,
    *,
    scrub: Scrub = str,
) -> Seen:
    """An excerpt of ``full_text`` with the images whose lines begin in it."""
    pieces = list(_pieces(outputs, scrub, READ))
    text = _whole(pieces)
    first, end = _span(text, start, length)
    shown: list[Image] = []
    notes: list[str] = []
    place = 0
    for piece in pieces:
        if piece.image and first <= place < end:
            image = _show(piece.image, IMAGES_A_RESULT - len(shown))
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
    place: str = "",
    execution_count: int | None = None,
    elapsed: float | None = None,
    body: str = "",
    notes: Sequence[str] = (),
) -> str:
    """A tool result: a line of known facts, notes, then ``body``, which is our own text or
    outputs between delimiters. ``place`` is "3/12" for the third of twelve cells."""
    facts: dict[str, object] = {
        "status": status,
        "cell_id": _one_word(cell_id) if cell_id else None,
        "place": place or None,
        "execution_count": execution_count,
        "elapsed": None if elapsed is None else f"{elapsed:.1f}s",
    }
    line = " ".join(f"{name}={fact}" for name, fact in facts.items() if fact is not None)
    return "\n".join([line, *notes, *([body] if body else [])])


def picture_text(cell_id: str, execution_count: int | None) -> str:
    """The text before a picture of a run."""
    of = f"cell {_one_word(cell_id)}" if cell_id else "this run"
    return f"{PICTURE_OF}{of}{f' [{execution_count}]' if execution_count is not None else ''}]"


def _one_word(cell_id: str) -> str:
    """The id, quoted if it could pass for more than an id."""
    return (
        cell_id if re.fullmatch(r"[\w.-]{1,100}", cell_id) else escaped(json.dumps(cell_id[:100]))
    )


def summary(outputs: Sequence[Output], scrub: Scrub = str) -> str:
    """The error as one line for a card; "" without one."""
    for output in outputs:
        if output.get("output_type") == "error":
            ename, evalue = _text(output.get("ename")), _text(output.get("evalue"))
            return scrub(": ".join(filter(None, (ename[:_LEAST], evalue[:10_000]))))[:200]
    return ""


# --- one output ----------------------------------------------------------------------


def _pieces(outputs: Sequence[Output], scrub: Scrub, most: int) -> Iterator[_Piece]:
    """The text of each output without keys, from ``most`` characters at most."""
    left_out = max(0, len(outputs) - MOST_OUTPUTS)
    if left_out:
        half = MOST_OUTPUTS // 2
        note = {"output_type": "stream", "text": f"[… {left_out:,} outputs left out …]"}
        outputs = [*outputs[:half], note, *outputs[-half:]]
    reader = _OutputReader(scrub, most)
    place = 0
    while place < len(outputs):
        output = outputs[place]
        reader.least = _LEAST_OF_LAST if len(outputs) - place <= _LAST else _LEAST
        place += 1
        if not isinstance(output, dict):
            continue
        kind = output.get("output_type")
        if kind == "stream":
            # A progress bar may continue in the next message.
            texts = [_text(output.get("text"))]
            while place < len(outputs) and _continues(outputs[place], output):
                texts.append(_text(outputs[place].get("text")))
                place += 1
            text = reader.plain("".join(texts)).rstrip("\n")
            label = "[stderr]\n" if output.get("name") == "stderr" else ""
            piece = _Piece(label + text if text.strip() else "")
        elif kind == "error":
            bounded = reader.error(output)
            piece = _Piece(scrub(tracebacks.whole(bounded)), error=bounded)
        else:
            piece = _rich(_mapping(output.get("data")), reader)
        if piece.text:
            yield piece


def _continues(output: Output, stream: Output) -> bool:
    return (
        isinstance(output, dict)
        and output.get("output_type") == "stream"
        and output.get("name") == stream.get("name")
    )


class _OutputReader:
    """Reads texts while there is room; scrubs and cuts longer ones."""

    def __init__(self, scrub: Scrub, room: int) -> None:
        self._scrub = scrub
        self._room = room
        self._markup = _MARKUP
        self.least = _LEAST

    def plain(self, text: str) -> str:
        # Scrub after cleaning, too: a terminal may show a key that the raw text hid.
        return self._scrub(clean(self._fitted(text)))

    def html(self, text: str) -> str:
        most = min(LIMIT, max(self._markup, 10 * self.least))
        self._markup -= min(len(text), most)
        return self.plain(strip_html(text, most))

    def error(self, output: Output) -> Output:
        lines = output.get("traceback")
        traceback = self._fitted("\n".join(map(str, lines)) if isinstance(lines, list) else "")
        evalue = self._fitted(_text(output.get("evalue")))
        ename = _text(output.get("ename"))[:_LEAST]
        return {**output, "ename": ename, "evalue": evalue, "traceback": [traceback]}

    def _fitted(self, text: str) -> str:
        most = max(self._room, self.least)
        if len(text) > most:
            text = cut(self._scrub(text), most)
        self._room -= len(text)
        return text


def _rich(data: dict[str, Any], reader: _OutputReader) -> _Piece:
    """The most informative representation of a MIME bundle."""
    plain = reader.plain(_text(data.get("text/plain"))).strip("\n")
    drawn = _DRAWN.fullmatch(plain)
    says_nothing = not plain or drawn or _BARE.fullmatch(plain)
    title = plain if drawn or not says_nothing else ""
    for media in ("image/png", "image/jpeg"):
        if media in data:
            words = " ".join((title or media).split())
            return _Piece(f"[image: {words[:100]}]", _text(data[media]))
    html = _text(data.get("text/html"))
    if (says_nothing or _WIDGET in data) and (found := _DATA_URL.search(html)):
        # Frames of an animation continue on the next line after a backslash.
        words = " ".join((title or "the first one in HTML").split())
        return _Piece(f"[image: {words[:100]}]", re.sub(r"[\\\s]", "", found[1]))
    if _WIDGET in data:
        return _Piece(_widget(plain))
    given = [str(media) for media in islice(data, 20)]
    for begins, kind in _KINDS:
        if any(media.startswith(begins) for media in given):
            more = "" if says_nothing else f"\n{cut(plain, _WIDGET_LIMIT)}"
            return _Piece(_NOT_SHOWN.format(kind) + more)
    for media in ("text/markdown", "text/latex"):
        if media in data:
            return _Piece(reader.plain(_text(data[media])).strip("\n"))
    if drawn and not html:
        return _Piece(_NOT_SHOWN.format(drawn[1] or "Altair chart"))
    low = html[:READ].casefold()
    if not says_nothing:
        # A chart that only a script draws, as Altair's, has the text of its object.
        drawn_by_script = "<script" in low and not reader.html(html)
        return _Piece(f"{_NOT_SHOWN.format(_SCRIPT)}\n{plain}" if drawn_by_script else plain)
    if html:
        text = reader.html(html)
        hidden = [kind for element, kind in _ELEMENTS if element in low]
        if not text and not hidden and "<script" in low:
            hidden = [_SCRIPT]
        note = _NOT_SHOWN.format(", ".join(hidden)) if hidden else ""
        if text or note:
            return _Piece("\n".join(filter(None, (text, note))))
    if "application/json" in data:
        return _Piece(reader.plain(_json(data["application/json"])))
    others = [reader.plain(media)[:100] for media in given if media != "text/plain"]
    return _Piece(plain or (f"[{others[0]} not shown]" if others else ""))


def _widget(plain: str) -> str:
    """A widget in words: type, value and label are in its text/plain."""
    if not plain:
        return "[widget]"
    bare = _BARE.fullmatch(plain)
    kind = re.split(r"[ (>]", plain.lstrip("<"), maxsplit=1)[0].rpartition(".")[2]
    if kind in _WIDGETS or bare:
        shown = _NOT_SHOWN.format(_WIDGETS.get(kind, f"widget {kind}"))
        return f"{shown}\n{cut(plain, _WIDGET_LIMIT)}" if kind == "FigureWidget" else shown
    return f"[widget: {cut(plain, _WIDGET_LIMIT)}]"


def _json(value: Any) -> str:
    try:
        return cut(json.dumps(value, indent=1, ensure_ascii=False), _JSON_LIMIT)
    except (RecursionError, TypeError, ValueError):
        return "[application/json not shown: it is nested too deep]"


def _text(value: Any) -> str:
    """An nbformat string; on disk it may be a list of lines."""
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _show(encoded: str, left: int) -> Image | str:
    """The image, or a line in its place."""
    if left <= 0:
        return (
            f"[image not shown: a result has at most {IMAGES_A_RESULT}; read_output can fetch it]"
        )
    image = images.load(encoded)
    return image if isinstance(image, Image) else f"[image not shown: {image}]"


def _cut(text: str, full: str, budget: int, closing: int) -> str:
    """``text`` within ``budget``, with the place from which ``read_output`` continues in
    ``full``. The last ``closing`` characters, a traceback, stay whole."""
    head, foot = ends(text, max(0, budget - _CUT_LINE), closing)
    left_out = len(text) - len(head) - len(foot)
    start = next((i for i, (a, b) in enumerate(zip(head, full, strict=False)) if a != b), len(head))
    how = f"read_output(cell_id, start_char={start}) reads on, of {len(full):,} kept"
    return f"{head}\n[… {left_out:,} characters left out; {how} …]\n{foot}"[:budget]
