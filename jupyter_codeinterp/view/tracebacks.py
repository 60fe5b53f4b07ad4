"""Tracebacks for the model: library frames folded, the person's own frames kept.

Reads IPython's formats (Context, Verbose and Plain) and Python's own, without colours.
Other text stays as it is, bounded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from ..wire.ops import Output
from .plain_text import clean, cut

LIMIT = 4_000
"""Characters of a traceback that the model sees."""
_MESSAGE_LIMIT = 1_500
"""Characters of the exception's own message: pydantic writes pages."""

# `File x.py:3, in f(a)` · `File "x.py", line 3, in f` · `Cell In[3], line 5`
_HEADER = re.compile(
    r"""\s*(?:
        File\ "(?P<python>[^"\n]+)",\ line\ \d+
      | File\ (?P<path>\S[^\n]*?):\d+(?:,?\ in\ .*)?$
      | Cell\ In\[\d+\],
    )""",
    re.VERBOSE,
)
# IPython cuts the arrow for numbers of five digits, and leaves it out above.
_INSIDE = re.compile(r"\s|-*>|\d{6}|$")
_LIBRARY = re.compile(
    r"(?:site|dist)-packages/([^/]+)"
    r"|(?:/lib/python[\d.]+|^[A-Za-z]:/(?:.*/)?Lib)/(?!site-packages|dist-packages)([^/]+)"
)
_COMPILED = re.compile(r"([^/]+)/.*\.(?:pyx|pxi|pxd)$")
_RULE = re.compile(r"-{20,}\n?")
_LONGEST_HEADER = 2_000
"""Characters of a frame's first line."""
_BEGINNING = "Traceback (most"
_NAME = 200
"""Characters of an exception's name, which code can choose."""


class _StackFrame(msgspec.Struct):
    """Lines of a traceback: a frame (``header`` set), or the lines between frames.

    ``package`` is the library that a frame is in, "" for the person's own code.
    """

    lines: list[str]
    header: bool = False
    package: str = ""


def whole(error: Output) -> str:
    """The traceback of an ``error`` output as plain text, not folded."""
    lines = error.get("traceback")
    raw = "\n".join(map(str, lines)) if isinstance(lines, (list, tuple)) else str(lines or "")
    text = _RULE.sub("", clean(raw)).strip("\n")
    ename = clean(str(error.get("ename") or "Error"))[:_NAME]
    if not any(ename in line and _BEGINNING not in line for line in text.split("\n")):
        last = f"{ename}: {clean(str(error.get('evalue') or ''))}".rstrip(" :")
        text = f"{text}\n{last}".lstrip("\n")
    return text


def folded(error: Output, limit: int = LIMIT, scrub: Callable[[str], str] = str) -> str:
    """The traceback with library frames folded to one line a run, at most ``limit`` long.

    The exception's message at the end survives any cut, its own head and tail if need be.
    ``scrub`` is applied before anything is cut.
    """
    parts = list(_parts(scrub(whole(error))))
    closing = parts.pop() if parts and not parts[-1].header else _StackFrame([])
    message = cut("\n".join(closing.lines).strip("\n"), min(_MESSAGE_LIMIT, limit))
    body = "\n".join(_fold(parts))
    room = limit - len(message) - 1
    return message if room < 80 or not body else f"{cut(body, room)}\n{message}"


def _parts(text: str) -> Iterator[_StackFrame]:
    part = _StackFrame([])
    for line in text.split("\n"):
        header = _HEADER.match(line[:_LONGEST_HEADER])
        if header:
            if part.lines:
                yield part
            part = _StackFrame([line], True, _package(header))
        elif part.header and not _INSIDE.match(line):
            yield part
            part = _StackFrame([line])
        else:
            part.lines.append(line)
    if part.lines:
        yield part


def _package(header: re.Match[str]) -> str:
    """The library of a frame: `pandas`, `json`; "" for a cell or a file of the person's."""
    place = header["python"] or header["path"] or ""
    place = place.replace("\\", "/")
    if place.startswith(("<frozen ", "<__array_function__")):
        return place.strip("<>").removeprefix("frozen ").split(".")[0].split(" ")[0]
    match = _LIBRARY.search(place) or _COMPILED.match(place)
    if match is None:
        return ""
    return next(group for group in match.groups() if group).removesuffix(".py")


def _fold(parts: list[_StackFrame]) -> Iterator[str]:
    """Texts of the parts; runs of library frames become one line."""
    place = 0
    while place < len(parts):
        part = parts[place]
        end = place + 1
        if part.package:
            while end < len(parts) and parts[end].package:
                end += 1
            names = dict.fromkeys(frame.package for frame in parts[place:end])
            count = end - place
            frames = "frame" if count == 1 else "frames"
            yield f"… {count} {frames} in {', '.join(list(names)[:4])} …"
        else:
            yield "\n".join(part.lines).rstrip("\n")
        place = end
