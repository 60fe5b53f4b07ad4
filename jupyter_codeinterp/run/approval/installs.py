"""Finds code that installs or removes packages.

A person decides on each such run, in every mode. The check searches the text for commands of
package managers, wherever they are: in magics, shell lines, strings and lists of words. Code can
always hide what it does.
"""

from __future__ import annotations

import re

from ...base.sentences import Sentence
from ...base.visible import visible_line

_MOST = 5
"""Lines named on a card."""
_LONGEST = 100
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
        if len(said) == _MOST:
            break
    return tuple(said)


def _line_of(code: str, found: re.Match[str]) -> str:
    """The line of the code in which the match ends."""
    first = code.rfind("\n", 0, found.end()) + 1
    line = visible_line(code[first:].partition("\n")[0][: 2 * _LONGEST])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
