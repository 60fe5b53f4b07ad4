"""A conversation as Markdown: what was asked, said and run, for people to read."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timezone

from .commands import SessionInfo
from .events import Event
from .transcript import Item, Line, Said, turns


def markdown(info: SessionInfo, events: Iterable[Event]) -> str:
    """The conversation to read: what was asked, said and run, and what came out of it."""
    date = datetime.fromtimestamp(info.created, timezone.utc)
    parts = [
        f"# {_plain(info.title) or 'Conversation'}",
        f"Notebook: {_code(' '.join(info.notebook.split()))}  \nDate: {date:%Y-%m-%d %H:%M} UTC",
    ]
    for turn in turns(events):
        if turn.asked:
            parts += ["## You", quoted(_harmless(turn.asked)), "## Answer"]
        for step in turn.steps:
            parts += [text for item in step.items for text in _in_markdown(item)]
    return "\n\n".join(part for part in parts if part.strip()) + "\n"


def _in_markdown(item: Item) -> list[str]:
    if isinstance(item, Said):
        return [_harmless(item.text)]
    if isinstance(item, Line):
        return [f"*{_plain(item.text)}*"]
    words = item.status.replace("_", " ")
    parts = [f"### {_plain(item.title or item.name)} ({words})"]
    if item.question:
        parts += [_harmless(item.question), quoted(_harmless(item.answer))]
    elif item.ran or (item.kind == "markdown" and item.status == "ok"):
        parts += [_fenced(item.source), _fenced(item.result) if item.result else ""]
    elif item.result:
        parts += [_fenced(item.result)]
    return parts


_CELL_LINK = re.compile(r"\[([^\]\n]*)\]\(#cell:[\w-]+\)")
_LINE_END = re.compile(r"\r\n|\r|\n")
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")
"""Begins HTML, or an image, which a viewer would fetch: a tag is shown, an image is a link."""


def _harmless(text: str) -> str:
    """Markdown that shows what it says and does nothing, whoever opens the file. In fenced
    code nothing is changed; a fence that is left open is closed. (One that is indented may
    end sooner than it seems: what is in it counts as text.)"""
    lines: list[str] = []
    fence = ""
    for line in _LINE_END.split(text.strip()):
        found = re.match(r"(`{3,}(?!.*`)|~{3,})", line)
        if fence:
            closes = found and found[1].startswith(fence) and not line.strip(fence[0] + " \t")
            fence = "" if closes else fence
            lines.append(line)
        elif found:
            fence = found[1]
            lines.append(line)
        else:
            lines.append(_ACTIVE.sub(r"\\\g<0>", _CELL_LINK.sub(r"\1", line)))
    return "\n".join([*lines, *([fence] if fence else [])])


def _fenced(text: str) -> str:
    """In a fence longer than any run of backticks inside."""
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}\n{text}\n{fence}" if not text.endswith("\n") else f"{fence}\n{text}{fence}"


def _code(text: str) -> str:
    ticks = "`" * (_longest_run(text) + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{space}{text}{space}{ticks}"


def _longest_run(text: str) -> int:
    return max(map(len, re.findall("`+", text)), default=0)


def quoted(text: str) -> str:
    """As Markdown's block quote."""
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _plain(text: str) -> str:
    """One line that Markdown takes as it is written."""
    return re.sub(r"([\\`*_\[\]<>#&|~])", r"\\\1", " ".join(text.split()))
