"""Names that label numbers (regions, years, measures), found in outputs and in sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

import msgspec

from .tables import STATISTICS, ValueLabel

LONGEST = 5
"""Words of a name; longer labels are texts."""
MOST = 20_000
_WORD = re.compile(
    r"(?:19|20)\d\d(?=Q[1-4]\b)|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+[.,]\d+"
    r"|[^\W_]+(?:['\u2019]s\b)?"
)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?![\d-])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th|\.)?(?: of)? [A-Z][a-z]{2}|[a-z]{2}\.? (\d{1,2})(?:st|nd|rd|th)?\b"
)
_CODE = re.compile(r"`([^`\n]{1,60})`")
_COMMON = (
    "a all an and as at by false for from i in is it nan no none not of on or other others "
    "the this to true we with yes"
)
COMMON = frozenset(_COMMON.split())
_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_STATISTICS = {
    "mean": "average avg mittel schnitt moyenne",
    "min": "minimum lowest smallest shortest",
    "max": "maximum highest largest longest",
    "50": "median",
    "sum": "total totals",
    "std": "deviation",
}
_MEASURES = {word: name for name, words in _STATISTICS.items() for word in words.split()}
"""The words of answers for the statistics that pandas prints."""


class Mention(msgspec.Struct, frozen=True):
    """A name in a text. ``kind`` is its group, such as the column that has it."""

    kind: str
    name: str
    start: int
    end: int


class LabelNames:
    """All names that label numbers of some outputs."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        """All words of labels."""
        self._kinds: dict[tuple[str, ...], dict[str, str]] = {}
        """The names of each kind by their words."""
        self._exact: dict[str, dict[str, str]] = {}
        self._measures: set[str] = set()
        """Kinds whose labels are measures or statistics."""
        for kind, words in ((":month", _MONTHS), (":weekday", _WEEKDAYS)):
            for number, word in enumerate(words.split(), 1):
                self._add((_stem(word),), kind, f"{number:02}")
                self._add((word[:3],), kind, f"{number:02}")

    def learn(self, label: ValueLabel) -> None:
        words, kind = _key(label), label.column
        self.words.update(words, _stems(kind))
        if not words or len(words) > LONGEST or len(self._kinds) > MOST:
            return
        if not label.is_entity or set(words) <= STATISTICS:
            self._measures.add(kind)
        self._add(words, kind, " ".join(words))
        self._exact.setdefault(label.text, {}).setdefault(kind, " ".join(words))

    def finish(self) -> None:
        """Let a word stand for a name if no other of its kind has it: “train” RMSE, “test” RMSE."""
        having: dict[tuple[str, str], set[str]] = {}
        for words, kinds in self._kinds.items():
            for kind, name in kinds.items():
                for word in () if words[-1].isdigit() else words:
                    having.setdefault((kind, word), set()).add(name)
        for (kind, word), names in having.items():
            if len(names) == 1 and word[0].isalpha() and (len(word) > 2 or word.isupper()):
                self._add((word,), kind, *names)

    def is_measure(self, kind: str) -> bool:
        return kind in self._measures

    def _add(self, words: tuple[str, ...], kind: str, name: str) -> None:
        if len(words) > 1 or words[0] not in COMMON:
            self._kinds.setdefault(words, {}).setdefault(kind, name)

    def of(self, labels: Iterable[ValueLabel]) -> dict[str, set[str]]:
        """The names in some labels, by kind."""
        found: dict[str, set[str]] = {}
        for label in labels:
            text = label.text
            name = self._kinds.get(_key(label), {}).get(label.column)
            if name is not None:
                found.setdefault(label.column, set()).add(name)
            if len(text) > 2 and text.islower():
                text = text.capitalize()  # Months and weekdays have a capital.
            for one in self.find(text):
                if one.kind == label.column or not self.is_measure(one.kind):
                    found.setdefault(one.kind, set()).add(one.name)
        return found

    def stems(self, text: str) -> set[str]:
        return set(_stems(text))

    def find(self, text: str, offset: int = 0) -> list[Mention]:
        """The longest names of each kind, in order. ``offset`` is added to their places."""
        found = [
            Mention(kind, date[group], date.start(), date.end())
            for date in _DATE.finditer(text)
            for group, kind in enumerate((":year", ":month", ":day"), 1)
            if date[group]
        ]
        for code in _CODE.finditer(text):
            for kind, name in self._exact.get(code[1], {}).items():
                found.append(Mention(kind, name, code.start(), code.end()))
        text = _DATE.sub(lambda date: " " * len(date[0]), text)
        words = [(match.start(), match.end(), _stem(match[0])) for match in _WORD.finditer(text)]
        last: dict[str, int] = {}
        for place, (start, _, stem) in enumerate(words):
            if _YEAR.fullmatch(stem):
                found.append(Mention(":year", stem, start, start + len(stem)))
            for size in range(min(LONGEST, len(words) - place), 0, -1):
                key = tuple(word[2] for word in words[place : place + size])
                for kind, name in self._kinds.get(key, {}).items():
                    is_small = kind in (":month", ":weekday") and text[start].islower()
                    if last.get(kind, -1) < place and not is_small:
                        last[kind] = place + size - 1
                        end = words[place + size - 1][1]
                        found.append(Mention(kind, name, start, end))
                        day = _DAY.search(text[max(0, start - 8) : end + 6])
                        if kind == ":month" and day is not None:
                            found.append(Mention(":day", f"{int(day[1] or day[2]):02}", start, end))
        found.sort(key=lambda one: one.start)
        return [Mention(m.kind, m.name, m.start + offset, m.end + offset) for m in found]


def _key(label: ValueLabel) -> tuple[str, ...]:
    """The words of a label. A number gets its column's words before it: “cluster 3”."""
    words = tuple(_stems(label.text))
    if len(words) > 1 or not words or not words[0].isdigit() or words[0] == "50":
        return words
    return (*_stems("class" if ":" in label.column else label.column), *words)


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text)]


@lru_cache(maxsize=10_000)
def _stem(word: str) -> str:
    """A word's normal form. Codes of one or two capitals are unchanged: IT is not “it”."""
    word = re.sub("['\u2019]s$", "", word)
    if len(word) <= 2 and word.isupper():
        return word
    word = unicodedata.normalize("NFKD", word.lower().replace(",", ""))
    word = "".join(one for one in word if not unicodedata.combining(one))
    word = _MEASURES.get(word, word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
