"""Names a conversation: by its first answer if that holds a good title, else by its question.

What reads best in a list of conversations is a topic, then a finding. A title costs no request:
the model has already written headings, titles of cells and a first sentence. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

TITLE_LENGTH = 60
"""Characters of an automatic title. A longer heading or sentence is none."""
_READ = 4_000
"""Characters of an answer that are searched."""
_FEWEST_WORDS = {"heading": 2, "cell": 2, "sentence": 3}

_HEADING = re.compile(r"#{1,6} ")
_LIST = re.compile(r"^(?:[-*+>]|\d{1,3}[.)]) +")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\n]{0,500}\)")
_MARKS = re.compile(r"[*_]{2,3}|`")
_END = re.compile(r"(?<=[.!?:])(?:\s|$)")
_CODE = re.compile(r"[=(){}\[\]]|^(?:import|from) ")
_GENERIC = {
    *("answer", "analysis", "conclusion", "conclusions", "findings", "overview"),
    *("result", "results", "summary"),
}
_QUALIFIERS = {"brief", "final", "key", "main", "short", "the", "your"}
_NO_TOPIC = {
    *("i", "i'll", "i've", "i'm", "let's", "we", "you", "it", "its", "it's", "this", "that"),
    *("these", "those", "they", "there", "here", "here's", "sure", "ok", "okay", "yes", "no"),
    *("as", "done", "great", "certainly", "of", "let", "first", "now", "next", "finally", "all"),
    *("everything", "nothing", "please", "sorry", "unfortunately"),
}
"""First words of sentences that are about the work or point elsewhere."""


def from_question(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_LENGTH else line[: TITLE_LENGTH - 1] + "…"


def from_answer(text: str, cells: Sequence[str]) -> str:
    """The answer's first heading, the title of its only cell, its first sentence, or the title of
    its last cell; "" if all are too long or name no topic. ``cells`` are titles of cells."""
    lines = _prose(text[:_READ])
    titles = [title for title in map(_plain, cells) if _names_cell(title)]
    only = titles if len(cells) == 1 else []
    candidates = [*filter(_names_topic, _headings(lines)), *only, *_sentence(lines), *titles[-1:]]
    return next(iter(candidates), "")


def _prose(text: str) -> list[str]:
    """Lines with text, outside code blocks and tables."""
    lines: list[str] = []
    fenced = False
    for line in map(str.strip, text.splitlines()):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif line and not fenced and not line.startswith("|"):
            lines.append(line)
    return lines


def _headings(lines: Sequence[str]) -> list[str]:
    return [_plain(line.lstrip("#")) for line in lines if _HEADING.match(line)]


def _names_topic(title: str) -> bool:
    rest = [word for word in _words(title) if word not in _QUALIFIERS]
    return _fits(title, "heading") and not _GENERIC.issuperset(rest)


def _names_cell(title: str) -> bool:
    return _fits(title, "cell") and not _CODE.search(title)


def _sentence(lines: Sequence[str]) -> list[str]:
    """The first sentence, if it is a title."""
    first = next((line for line in lines if not _HEADING.match(line)), "")
    plain = _plain(_LIST.sub("", first, count=1))
    sentence = _END.split(plain, maxsplit=1)[0].rstrip(" .:")
    words = _words(sentence)
    good = _fits(sentence, "sentence") and words[0] not in _NO_TOPIC
    return [sentence] if good else []


def _plain(text: str) -> str:
    """One line without Markdown."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())


def _words(text: str) -> list[str]:
    return [word.strip(".,:;!?").replace("\u2019", "'").lower() for word in text.split()]


def _fits(title: str, kind: str) -> bool:
    words = [word for word in title.split() if any(map(str.isalpha, word))]
    return len(title) <= TITLE_LENGTH and len(words) >= _FEWEST_WORDS[kind]
