"""What is shown, made of text of others: nothing in it is obeyed by the terminal."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from .inert import inert, line

MOST_LINES = 12
"""Of an output. The notebook has them all."""
TAIL = 8
"""Lines of what is being said just now."""


class Screen(Console):
    """Where nobody reads any more, that is said like for any file."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Inert:
    """What ``rich`` makes of text of others, with nothing in it that a terminal would obey,
    whichever way it has come there: Markdown knows entities, for one."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        for row in console.render_lines(self._renderable, options, pad=False):
            said = [Segment(inert(one.text), one.style) for one in row if not one.control]
            while said and not said[-1].text.strip():
                said.pop()
            if said:
                last = said.pop()
                said.append(Segment(last.text.rstrip(), last.style))
            yield from said
            yield Segment.line()


def beside(sign: Text, what: RenderableType) -> RenderableType:
    """A sign at the left of the first line."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(sign, what)
    return grid


class Barred:
    """A sign at the left of all lines."""

    def __init__(self, sign: Text, what: RenderableType) -> None:
        self._sign, self._what = sign, what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        inner = options.update_width(max(10, options.max_width - 2))
        bar = list(console.render(Text.assemble(self._sign, " ", end=""), options))
        for row in console.render_lines(self._what, inner, pad=False, new_lines=True):
            yield from bar
            yield from row


def going_on(doing: str, said: str) -> RenderableType:
    if said:
        return Text("\n".join(inert(said).split("\n")[-TAIL:]))
    return Spinner("dots", Text(line(doing), style="dim"), style="dim")


_TO_CELLS = re.compile(r"\[([^\[\]\n]*)\]\(#cell:[\w-]*\)")


def without_cells(text: str) -> str:
    """Links to cells lead nowhere in a terminal: their words stay."""
    return _TO_CELLS.sub(r"\1", text)


def difference(old: str, new: str) -> str:
    """All lines of both."""
    before, after = old.split("\n"), new.split("\n")
    found = list(difflib.unified_diff(before, after, lineterm="", n=len(before) + len(after)))
    return "\n".join(found[3:]) if found else "\n".join(f" {one}" for one in after)


def bounded(text: str) -> str:
    lines = inert(text).split("\n")
    left = len(lines) - MOST_LINES
    if left <= 1:
        return "\n".join(lines)
    head = lines[: MOST_LINES // 2]
    return "\n".join([*head, f"… {left} lines more …", *lines[-MOST_LINES // 2 :]])
