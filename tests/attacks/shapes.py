"""Texts that are made to be slow to read, each for any length."""

from __future__ import annotations

from collections.abc import Callable


def repeated(unit: str, before: str = "", after: str = "") -> Callable[[int], str]:
    return lambda n: before + (unit * (n // len(unit) + 1))[:n] + after


def halves(first: str, second: str) -> Callable[[int], str]:
    return lambda n: (first * n)[: n // 2] + (second * n)[: n - n // 2]


SHAPES: dict[str, Callable[[int], str]] = {
    "less-than signs": repeated("<"),
    "less-than signs and blanks": repeated("< "),
    "a less-than sign and blanks": repeated(" ", "<", "x"),
    "blanks": repeated(" ", "x", "x"),
    "blank lines": repeated("\n", "x", "x"),
    "lines of blanks": repeated(" " * 50 + "\n"),
    "tabs and blanks": repeated("\t ", "x", "x"),
    "erased beginnings of lines": repeated("abcdefgh\x1b[1K"),
    "a long line, then erased over and over": halves("x", "\x1b[1K"),
    "a long line, then a backspace, a letter and an erasure": halves("x", "\bx\x1b[1K"),
    "a long line, then up and a letter": lambda n: (
        "\n" * (n // 4) + "x" * (n // 4) + ("\x1b[Ay" * n)[: n // 2]
    ),
    "escapes without an end": repeated("\x1b["),
    "an escape of digits": repeated("1", "\x1b["),
    "operating system commands": repeated("\x1b]"),
    "carriage returns": repeated("ab\r"),
    "backspaces": repeated("ab\b\b"),
    "open tags": repeated("<a "),
    "open tags with quotes": repeated("<a b='\" "),
    "declarations": repeated("<![ x"),
    "comments": repeated("<!-- "),
    "end tags": repeated("</td"),
    "scripts": repeated("<script>"),
    "deep silent elements": repeated("<svg><template>", "", "</title>"),
    "slashes after a tag": repeated("/", "<zz", ""),
    "open brackets": repeated("["),
    "images": repeated("![]("),
    "links to cells": repeated("[a](#cell:"),
    "backticks": repeated("`"),
    "runs of backticks": lambda n: "".join("`" * (i % 90) + " " for i in range(n // 45))[:n],
    "fences": repeated("```\n"),
    "quotes in quotes": repeated("> ", "", "x"),
    "asterisks": repeated("*a_"),
    "ampersands": repeated("&#0"),
    "a number that is no character": repeated("9", "&#", ";"),
    "entities": repeated("&amp;lt;"),
    "invisible characters": repeated("<\u200b"),
    "marks in disorder": repeated("\u0315\u0300", "a"),
    "emoji joiners": repeated("\u200d\ufe0f", "x"),
    "digits, as in a key": repeated("0123456789"),
    "numbers, as the bytes of a key": repeated("48, 49, 50, 97, "),
    "words": repeated("word "),
    "one word": repeated("w"),
    "dots": repeated("a.", "", ")"),
    "names and equal signs": repeated("a = ", "", "%"),
    "magics within magics": repeated("%time "),
    "options": repeated("-a 1 ", "%timeit "),
    "addresses": repeated("0x"),
    "colons": repeated(":1", "File x", "y"),
    "rules": repeated("-" * 19 + " "),
    "tracebacks": repeated(" Traceback (most"),
    "frames": repeated("File x.py:1, in f\n    g()\n"),
    "data addresses": repeated("data:"),
    "base64": repeated("QUJD"),
    "marks of a cut": repeated("[… 1 characters left out …]"),
    "ellipses": repeated("sk-…"),
    "backslashes": repeated("\\"),
    "number signs": repeated("#"),
    "table": repeated("|a"),
    "addresses of sites": repeated("http://"),
    "notes": repeated("[a]\n"),
}
