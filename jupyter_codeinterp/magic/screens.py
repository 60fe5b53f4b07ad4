"""Shows a turn in the outputs of the prompt's cell, or in a terminal.

The model's text is made safe to show: it loads nothing, runs nothing and hides nothing.
"""

from __future__ import annotations

import re
import sys
import uuid
from typing import Any, Union

from ..base.visible import visible
from ..run.approval.plain_markdown import markdown_risks
from ..view.plain_text import CELL_LINK

AT_ONCE = 2_000
"""Characters of a text up to which each addition is shown at once."""
BAR = "  │ "
_TICKS = re.compile(r"`+")


class NotebookScreen:
    """Streamed text is one display that is updated."""

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._displays: dict[str, str] = {}
        self._shown: dict[str, int] = {}
        """Characters of each text when it was shown last."""

    def _show(self, key: str, data: dict[str, Any]) -> None:
        """Show data, or update the display with the same key."""
        update = key in self._displays
        display_id = self._displays.setdefault(key, uuid.uuid4().hex)
        self._shell.display_pub.publish(
            data, {}, transient={"display_id": display_id}, update=update
        )

    def text(self, key: str, text: str, grows: bool = False) -> None:
        """Show a text. ``grows``: more follows, so a long text is updated only sometimes, because
        each update sends all of it."""
        if grows and len(text) - self._shown.get(key, 0) < (len(text) - AT_ONCE) / 4:
            return
        self._shown[key] = len(text)
        self._show(key, bundle(text))

    def drop(self, key: str) -> None:
        if key in self._displays:
            self._show(key, {"text/plain": ""})

    def code(self, key: str, source: str) -> None:
        self._show(key, code_bundle(source))

    def note(self, words: str) -> None:
        print(visible(words))

    def problem(self, words: str) -> None:
        print(visible(words), file=sys.stderr)


class TerminalScreen:
    def __init__(self) -> None:
        self._key = ""
        """Key of the text now being printed."""
        self._printed = ""
        self._shown: dict[str, str] = {}

    def text(self, key: str, text: str, grows: bool = False) -> None:
        text = visible(prose(text))
        if key != self._key:
            self._close()
            self._key, self._printed = key, self._shown.pop(key, "")
        if text.startswith(self._printed):
            self._write(text[len(self._printed) :])
            self._printed = self._shown[key] = text
        # A complete link is shown differently from its beginning, so only the rest is added.
        if not grows:
            self._close()

    def drop(self, key: str) -> None:
        self._close()

    def code(self, key: str, source: str) -> None:
        if self._shown.get(key) == source:
            return
        self._shown[key] = source
        self._close()
        lines = visible(source, code=True).rstrip("\n").split("\n")
        self._write("".join(f"{BAR}{line}\n" for line in lines))

    def note(self, words: str) -> None:
        self._close()
        self._write(f"{visible(words)}\n")

    def problem(self, words: str) -> None:
        self._close()
        print(visible(words), file=sys.stderr)

    def _close(self) -> None:
        if self._key and self._printed and not self._printed.endswith("\n"):
            self._write("\n")
        self._key = self._printed = ""

    def _write(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()


Screen = Union[NotebookScreen, TerminalScreen]


def screen_for(shell: Any) -> Screen:
    if getattr(shell, "kernel", None) is None:
        return TerminalScreen()
    return NotebookScreen(shell)


def prose(text: str) -> str:
    """Replace links to cells, which do not work here, by their text."""
    return CELL_LINK.sub(r"\1", text)


def bundle(text: str) -> dict[str, str]:
    """A MIME bundle: rendered Markdown if it has no risks, and the source text."""
    text = _spaces(prose(text))
    shown = {"text/plain": visible(text)}
    if text == shown["text/plain"] and _is_plain(text):
        shown["text/markdown"] = text
    return shown


def code_bundle(source: str) -> dict[str, str]:
    """A MIME bundle for code: highlighted if a Markdown renderer shows it safely."""
    seen = visible(source, code=True)
    longest = max(map(len, _TICKS.findall(seen)), default=0)
    fence = "`" * max(3, longest + 1)
    marked = f"{fence}python\n{seen}\n{fence}"
    if not _is_plain(marked):
        return {"text/plain": seen}
    return {"text/plain": seen, "text/markdown": marked}


def _spaces(text: str) -> str:
    """Replace unusual spaces, which look alike, by the normal one."""
    return text if text.isascii() else re.sub(r"[^\S\n\t ]", " ", text)


def _is_plain(text: str) -> bool:
    try:
        return not markdown_risks(text)
    except (ValueError, RecursionError):
        return False  # The parser failed.
