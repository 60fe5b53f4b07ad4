"""Warnings on code before it runs: what a reader cannot see, and what else it does.

Hidden characters, code out of sight, saved keys and packages make a run ask in every mode, so in
doubt they warn.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial

import msgspec

from ...base.off_loop import off_loop
from ...base.sentences import Sentence
from ...base.visible import visible_line
from .notices import notices
from .out_of_sight import out_of_sight


class CodeWarnings(msgspec.Struct, frozen=True):
    """Lines for the card. ``ask``: a person must decide in every mode. ``refusal``: why this may
    not run, whoever decides; "" if it may."""

    lines: tuple[Sentence, ...] = ()
    ask: bool = False
    refusal: Sentence = Sentence()


NOT_CHECKED = Sentence("Could not check what else this runs.")


async def warnings_on(
    source: str, language: str, files: tuple[str, ...], unread: bool
) -> CodeWarnings:
    """All warnings on code. ``files``: names of files and folders (with a slash) beside the
    notebook; ``unread``: no person can read the code before it runs, so code out of sight does not
    ask."""
    hidden = await checked(hidden_characters, source)
    apart = await checked(out_of_sight, source)
    packages = await checked(partial(installs, language=language), source)
    others = await checked(partial(notices, language=language, modules=files), source)
    asks = hidden or packages or (apart and not unread)
    return CodeWarnings((*hidden, *apart, *packages, *others), ask=bool(asks))


async def checked(check: Callable[[str], tuple[Sentence, ...]], text: str) -> tuple[Sentence, ...]:
    """The warnings of ``check`` on a text of any length; ``NOT_CHECKED`` if it fails."""
    return await off_loop(partial(check, text), len(text), lambda: (NOT_CHECKED,))


_MOST_NOTICES = 8
HIDDEN = Sentence("Hidden character in line {lines}: {name} ({code}).")
HIDDEN_IN_LINES = Sentence("Hidden character in lines {lines}: {name} ({code}).")
SAVED_KEY = Sentence("Contains a saved key, or a part of one.")

# --- keys ----------------------------------------------------------------------------


def keys(scrub: Callable[[str], str], source: str) -> tuple[Sentence, ...]:
    """A warning if ``source`` has a saved key: history and model get it redacted, but the kernel
    does not."""
    return (SAVED_KEY,) if scrub(source) != source else ()


# --- hidden characters ---------------------------------------------------------------

# Invisible letters, marks and blanks; control and format characters are found by category.
_INVISIBLE = frozenset(
    (
        *(0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0),
        *(*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0000, 0xE1000)),
    )
)
_JOINER, _EMOJI_STYLE = "\u200d", "\ufe0f"


_MOST_KINDS = 100
_MOST_LOOKED_AT = 5_000
"""Most joiners and style selectors checked, one by one."""
_LINES = 6
"""Lines searched for a character: one more than a sentence names."""


def hidden_characters(source: str) -> tuple[Sentence, ...]:
    """A warning with line numbers for each kind of character in ``source`` that is invisible,
    reverses the text or looks like a space."""
    if source.isascii() and source.replace("\n", "").isprintable():
        return ()
    unseen = (char for char in set(source) if not char.isprintable() or ord(char) in _INVISIBLE)
    kinds = [char for char in unseen if char != "\n" and _hides(char)]
    kinds.sort(key=source.index) if len(kinds) <= _MOST_KINDS else kinds.sort()
    said: list[Sentence] = []
    for char in kinds[:_MOST_KINDS]:
        lines = _lines_with(char, source)
        if lines:
            said.append(_sentence(char, lines))
    more = len(said) + max(0, len(kinds) - _MOST_KINDS) - _MOST_NOTICES
    if more > 0:
        return (
            *said[: _MOST_NOTICES - 1],
            Sentence("{count} more kinds of hidden characters.", count=more + 1),
        )
    return tuple(said)


def _lines_with(char: str, source: str) -> list[int]:
    """The first lines, from 1, in which ``char`` hides something."""
    lines: list[int] = []
    counted, number, place = 0, 1, source.find(char)
    in_words = char in (_JOINER, _EMOJI_STYLE)
    for _ in range(_MOST_LOOKED_AT):
        if place < 0 or len(lines) == _LINES:
            return lines
        if not (in_words and _in_emoji(source, place)):
            number += source.count("\n", counted, place)
            counted = place
            lines.append(number)
            end = source.find("\n", place)
            place = -1 if end < 0 else source.find(char, end)
        else:
            place = source.find(char, place + 1)
    return lines or [number]  # So many joiners are suspicious, even if each is harmless.


def _hides(char: str) -> bool:
    if char in " \t":
        return False
    kind = unicodedata.category(char)
    return kind in ("Cc", "Cf", "Co", "Cs", "Zl", "Zp", "Zs") or ord(char) in _INVISIBLE


def _in_emoji(line: str, index: int) -> bool:
    """Whether a joiner or style selector is part of an emoji: 👩‍💻, ✔️."""
    char, before, after = line[index], line[index - 1 : index], line[index + 1 : index + 2]
    if char == _EMOJI_STYLE:
        return bool(before) and unicodedata.category(before) in ("So", "Sm", "Sk")
    if char == _JOINER and before and after:
        pictures = ("So", "Sk")
        if before == _EMOJI_STYLE:
            before = line[index - 2 : index - 1]
        return bool(before) and all(unicodedata.category(c) in pictures for c in before + after)
    return False


def _sentence(char: str, lines: list[int]) -> Sentence:
    name = unicodedata.name(char, "CONTROL CHARACTER").capitalize()
    listed = ", ".join(map(str, lines[:5])) + (", …" if len(lines) > 5 else "")
    words = HIDDEN if len(lines) == 1 else HIDDEN_IN_LINES
    return Sentence(words, lines=listed, name=name, code=f"U+{ord(char):04X}")


# --- packages ------------------------------------------------------------------------
#
# Searches the text for commands of package managers, wherever they are: in magics, shell lines,
# strings and lists of words. Code can always hide what it does.

_MOST_INSTALLS = 5
"""Lines named on a card."""
_LONGEST_LINE = 100
"""Characters of a line on a card."""
_INSTALLS = frozenset(("install", "add", "update", "upgrade", "sync"))

_COMMENT = re.compile(r"^([^'\"!%#\n]*)#.*$", re.MULTILINE)
"""A comment in a line without quotes and magics, where the ``#`` may mean something else."""
_BETWEEN = r"[\s'\",\\]{1,99}"
_COMMAND = re.compile(
    r"(?:(?<![\w.-])(?:pip3?(?:\.\d{1,3})?|conda|mamba|micromamba|uv)(?:\.exe)?"
    rf"{_BETWEEN}(?:(?:pip|env|tool|-[\w=-]{{1,40}}){_BETWEEN}){{0,5}}"
    r"|\bmain\(\s{0,9}\[\s{0,9}['\"])"
    r"(install|add|update|upgrade|sync|uninstall|remove)(?![\w-])"
)
_ELSEWHERE = {
    "r": re.compile(r"\b(install)(?:\.packages|_\w{1,40})?\s{0,9}\(|\bpak\s{0,9}\("),
    "julia": re.compile(r"\bPkg\.(add|rm)\s{0,9}\("),
}
INSTALLS = Sentence("Installs packages: {line}")
REMOVES = Sentence("Removes packages: {line}")


def installs(source: str, language: str) -> tuple[Sentence, ...]:
    """A sentence for each line of the code that installs or removes packages."""
    if language.lower() == "python":
        code, pattern = _COMMENT.sub(r"\1", source), _COMMAND
    elif language.lower() in _ELSEWHERE:
        code, pattern = source, _ELSEWHERE[language.lower()]
    else:
        return ()
    said: dict[Sentence, None] = {}
    for found in pattern.finditer(code):
        words = INSTALLS if found[1] in (None, *_INSTALLS) else REMOVES
        said[Sentence(words, line=_line_of(code, found))] = None
        if len(said) == _MOST_INSTALLS:
            break
    return tuple(said)


def _line_of(code: str, found: re.Match[str]) -> str:
    """The line of the code in which the match ends."""
    first = code.rfind("\n", 0, found.end()) + 1
    line = visible_line(code[first:].partition("\n")[0][: 2 * _LONGEST_LINE])
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"
