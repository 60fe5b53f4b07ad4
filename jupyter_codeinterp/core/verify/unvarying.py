"""Texts without what differs from run to run: addresses, times, memory sizes, temporary paths and
progress bars."""

from __future__ import annotations

import re
from typing import Union

from ..model_view.plain_text import clean

Moved = Union[tuple[str, str], None]
"""The temporary copy of a folder that the code ran in, and the folder; None if it ran there."""
READ = 200_000
"""Characters of a text that are compared."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_UUID = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b")
_TEMPORARY = re.compile(
    r"(?:/private)?(?:/tmp|/var/folders|/var/tmp|/dev/shm)/[^\s'\",;:)\]>]{1,300}"
    r"|\b[A-Za-z]:\\[^\s'\",;:)\]>]{0,200}\\Temp\\[^\s'\",;:)\]>]{1,300}"
)
_DURATION = re.compile(
    r"(?<![\w.])\d{1,12}(?:\.\d{1,12})?[ \t]?"
    r"(?:ns|\u00b5s|\u03bcs|us|ms|s|sec|secs|seconds?|min|mins|minutes?|h|hours?)\b"
)
_CLOCK = re.compile(
    r"(?<![\w:.-])(?:(?:19|20)\d\d-\d\d-\d\d[T ])?\d{1,2}:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?![\w:])"
)
_TIMED = re.compile(
    r"\b(?:elapsed|took|cpu times?|wall time|runtime|run time|finished in|done in|completed in"
    r"|per loop|it/s|s/it|eta|s/step|ms/step|started at|finished at|timestamp)\b",
    re.IGNORECASE,
)
"""Words of a line whose times tell how long or when the code ran. Elsewhere a time is data."""
_LOGGED = re.compile(
    r"\s{0,20}\[?(?:[A-Z]{1,20}:[\w.]{0,80}:)?(?:19|20)\d\d-\d\d-\d\d[T ]\d\d:\d\d:\d\d"
    r"(?:[.,]\d{1,9})?\]?[ \t:|-]{0,8}\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL|[a-z_.]{1,60}:)"
)
"""The beginning of a line that a logger wrote."""
_MEMORY_LINE = re.compile(r"\b(?:memory|mem|ram|rss|peak|allocated|heap)\b", re.IGNORECASE)
_MEMORY = re.compile(r"(?<![\w.])\d{1,12}(?:\.\d{1,6})?\+?[ \t]?(?:bytes|[kKMGT]i?B)\b")
_PROGRESS = re.compile(
    r"\d{1,3}%\|[^|\n]{0,300}\||[\u2501\u2588\u2589-\u258f]{3}|\[[=>#.-]{10,300}\]"
)
_ID = re.compile(r"\bid\s{0,3}=\s{0,3}[\"']([\w-]{1,200})[\"']")
_WORD = re.compile(r"[\w-]{1,200}")
_MADE = re.compile(r"<dc:date>[^<]{0,40}</dc:date>")
"""When an SVG picture was made."""
_TIMING_LINES = ("CPU times:", "Wall time:", "Compiler time:", "Compiler :", "Parser   :")


def normal_lines(text: str, moved: Moved = None) -> list[str]:
    """The lines of a text, without what differs from run to run."""
    text = clean(text[:READ])
    if moved is not None:
        text = text.replace(*moved)
    lines = (_line(line) for line in text.split("\n"))
    return [line for line in lines if line]


def without_ids(markup: str) -> str:
    """HTML or SVG with the ids of its elements counted: libraries draw them at random."""
    markup = _MADE.sub("", markup[:READ])
    ids: dict[str, str] = {}
    for name in _ID.findall(markup):
        ids.setdefault(name, f"id-{len(ids)}")
    return _WORD.sub(lambda word: ids.get(word[0], word[0]), markup)


def _line(line: str) -> str:
    line = line.rstrip()
    if not line or _PROGRESS.search(line) is not None:
        return ""
    if line.lstrip().startswith(_TIMING_LINES):
        return ""
    line = _ADDRESS.sub("0x…", line)
    line = _UUID.sub("<id>", line)
    line = _TEMPORARY.sub("<temporary>", line)
    if _TIMED.search(line) is not None:
        line = _DURATION.sub("<time>", _CLOCK.sub("<time>", line))
    elif _LOGGED.match(line) is not None:
        line = _CLOCK.sub("<time>", line, count=1)
    if _MEMORY_LINE.search(line) is not None:
        line = _MEMORY.sub("<size>", line)
    return line
