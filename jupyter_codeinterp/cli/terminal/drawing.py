"""Renders untrusted text, without control sequences for the terminal."""

from __future__ import annotations

import difflib
import time
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markdown import Markdown
from rich.segment import Segment
from rich.spinner import Spinner
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from ...base.visible import visible, visible_line

MAX_LINES = 40
"""Shown lines of an output. The notebook has them all."""
LEAST_LEFT_OUT = 5
"""Fewer left-out lines are shown, too."""
TAIL = 8
"""Shown lines of text that is still streaming."""


class Screen(Console):
    """Raises BrokenPipeError for a closed pipe, like any file."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class Inert:
    """Removes control characters from what ``rich`` rendered. Removing them from its input is not
    enough: Markdown entities, for example, can produce them."""

    def __init__(self, renderable: RenderableType) -> None:
        self._renderable = renderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        for row in console.render_lines(self._renderable, options, pad=False):
            kept = [Segment(visible(one.text), one.style) for one in row if not one.control]
            while kept and not kept[-1].text.strip():
                kept.pop()
            if kept:
                last = kept.pop()
                kept.append(Segment(last.text.rstrip(), last.style))
            yield from kept
            yield Segment.line()


def beside(sign: Text, what: RenderableType) -> RenderableType:
    """Put a sign to the left of the first line."""
    grid = Table.grid(padding=(0, 1))
    grid.add_row(sign, what)
    return grid


class Barred:
    """Puts a sign to the left of all lines."""

    def __init__(self, sign: Text, what: RenderableType) -> None:
        self._sign, self._what = sign, what

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        inner = options.update_width(max(10, options.max_width - 2))
        bar = list(console.render(Text.assemble(self._sign, " ", end=""), options))
        for row in console.render_lines(self._what, inner, pad=False, new_lines=True):
            yield from bar
            yield from row


def code_text(source: str, language: str) -> Syntax:
    """Code of any length: long lines are wrapped."""
    return Syntax(source, language, theme="ansi_dark", background_color="default", word_wrap=True)


class MarkdownText(Markdown):
    """Markdown with links written out: a terminal hyperlink hides its target."""

    def __init__(self, text: str) -> None:
        super().__init__(visible(text), code_theme="ansi_dark", hyperlinks=False)


def going_on(doing: str, text: str) -> RenderableType:
    if text:
        return Text("\n".join(visible(text).split("\n")[-TAIL:]))
    return Spinner("dots", Text(visible_line(doing), style="dim"), style="dim")


class Running:
    """A running cell: its elapsed time, and the last line that it printed."""

    def __init__(self, doing: str) -> None:
        self.line = ""
        self._doing = doing
        self._since = time.monotonic()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[Segment]:
        words = f"{self._doing}  {time.monotonic() - self._since:.0f} s"
        if self.line:
            words += f"  {visible_line(self.line)}"
        shown = Text(words[: max(20, options.max_width - 4)], style="dim", no_wrap=True)
        yield from console.render(Spinner("dots", shown, style="dim"), options)


def difference(old: str, new: str) -> str:
    """A diff with all lines of both texts."""
    before, after = old.split("\n"), new.split("\n")
    found = list(difflib.unified_diff(before, after, lineterm="", n=len(before) + len(after)))
    return "\n".join(found[3:]) if found else "\n".join(f" {one}" for one in after)


def bounded(text: str) -> str:
    lines = visible(text).split("\n")
    left = len(lines) - MAX_LINES
    if left < LEAST_LEFT_OUT:
        return "\n".join(lines)
    head = lines[: MAX_LINES // 2]
    return "\n".join([*head, f"… {left} lines more …", *lines[-MAX_LINES // 2 :]])
