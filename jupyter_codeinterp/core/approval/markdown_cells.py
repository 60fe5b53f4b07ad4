"""What the agent's Markdown cells may hold, decided before they are shown.

JupyterLab renders them as soon as they are Markdown cells, and so does whoever opens the file
later. Plain Markdown is written as it is; what may load or run something is put before the
person; and what is nested beyond any sense is not written at all.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

from ..off_loop import off_loop

MarkdownRisks = Callable[[str], tuple[str, ...]]
"""What may load, run or overwhelm a page when a text is shown, a line each; () if it is plain."""

NOT_CHECKED = "Could not check whether this text loads or runs something when shown."
TOO_DEEP = 60
"""Levels. MathJax and browsers take time that grows fast with the depth, and fail at 100."""
_COST = 20
"""How much longer a parser takes for a character than a pattern does."""

_START = re.compile(r"(?:[ \t>*+-]|\d{1,9}[.)])*")
_CONTAINER = re.compile(r"[>*+-]|\d[.)]")
_TEX = re.compile(r"\\(?:begin|end|left|right)(?![A-Za-z])|\\[\s\S]|[{}%\n]")
_OPENS = ("{", "\\begin", "\\left")
_CLOSES = ("}", "\\end", "\\right")


def not_checked(text: str) -> tuple[str, ...]:
    """The answer where there is nobody to check: the person is asked."""
    return (NOT_CHECKED,)


async def risks(check: MarkdownRisks, text: str) -> tuple[str, ...]:
    """``check``'s answer, without holding up the event loop for a long text. Whatever goes
    wrong with it, the person is asked."""
    return await off_loop(partial(check, text), _COST * len(text), lambda: (NOT_CHECKED,))


def too_deep(text: str) -> str:
    """What the model is told of text that nobody could be shown; "" if it is not so deep."""
    deepest = nesting(text)
    if deepest <= TOO_DEEP:
        return ""
    return (
        f"This text is nested {deepest} levels deep (formulas, quotes, lists). Browsers cannot "
        "show that. Use at most 40 levels."
    )


def nesting(text: str) -> int:
    """How deep quotes, lists and formulas may be nested, at most. Linear in the length."""
    return max(_containers(text), _braces(text))


def _containers(text: str) -> int:
    deepest = 0
    for line in text.splitlines():
        start = _START.match(line)
        signs = len(_CONTAINER.findall(start[0])) if start else 0
        if start and signs:
            # A list needs two columns a level. Blanks alone are the indent of code.
            blanks = start[0].count(" ") + 4 * start[0].count("\t")
            deepest = max(deepest, signs, blanks // 2)
    return deepest


def _braces(text: str) -> int:
    """Levels of a formula; a blank line ends it. What follows a % may be a comment, in which
    nothing is closed."""
    deepest = 0
    levels = [0, 0, 0]
    comment = False
    end = -1
    for sign in _TEX.finditer(text):
        if sign[0] == "\n":
            if not text[end + 1 : sign.start()].strip():
                levels = [0, 0, 0]
            comment, end = False, sign.start()
        elif sign[0] == "%":
            comment = True
        elif sign[0] in _OPENS:
            levels[_OPENS.index(sign[0])] += 1
            deepest = max(deepest, sum(levels))
        elif sign[0] in _CLOSES and not comment:
            kind = _CLOSES.index(sign[0])
            levels[kind] = max(0, levels[kind] - 1)
    return deepest
