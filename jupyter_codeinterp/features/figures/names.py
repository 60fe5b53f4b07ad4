"""Names that label numbers (regions, years, measures), found in outputs and in sentences."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from .tables import STATISTICS, ValueLabel

LONGEST = 5
"""Words of a name; longer labels are texts."""
MOST = 20_000
PREFIX = 4
_WORD = re.compile(
    r"(?:19|20)\d\d(?=Q[1-4]\b)|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+[.,]\d+"
    r"|[^\W_]+(?:['\u2019]s\b)?"
)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?![\d-])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?(?: of)? $|^\.? (\d{1,2})(?:st|nd|rd|th)?\b")
_CODE = re.compile(r"`([^`\n]{1,60})`")
_COMMON = (
    "a all an and as at by false for from i in is it nan no none not of on or other others "
    "the this to true we with yes"
)
COMMON = frozenset(_COMMON.split())
_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_SYNONYMS = {
    "mean": "average avg mittel schnitt moyenne",
    "min": "minimum lowest smallest shortest",
    "max": "maximum highest largest longest",
    "50": "median",
    "sum": "total totals",
    "std": "deviation",
    "val": "validation",
}
_MEASURES = {word: name for name, words in _SYNONYMS.items() for word in words.split()}


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
        self._prefixes: dict[str, str] = {}
        """The only label word with this prefix; "" if several have it."""
        self._kinds: dict[tuple[str, ...], dict[str, str]] = {}
        self._exact: dict[str, dict[str, str]] = {}
        self._measures: dict[str, set[tuple[str, ...]]] = {}
        """Statistics by kind; () if the labels of the kind are measures."""
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
            self._measures.setdefault(kind, set()).add(words if label.is_entity else ())
        self._add(words, kind, " ".join(words))
        self._exact.setdefault(label.text, {}).setdefault(kind, " ".join(words))

    def finish(self) -> None:
        """Let a word stand for a name if no other of its kind has it: “train” RMSE, “test” RMSE."""
        for word in self.words:
            if len(word) >= PREFIX and word.isalpha():
                one = self._prefixes.setdefault(word[:PREFIX], word)
                if one != word:
                    self._prefixes[word[:PREFIX]] = ""
        having: dict[tuple[str, str], set[str]] = {}
        for words, kinds in self._kinds.items():
            for kind, name in kinds.items():
                for word in () if words[-1].isdigit() else words:
                    having.setdefault((kind, word), set()).add(name)
        for (kind, word), names in having.items():
            if len(names) == 1 and word[0].isalpha() and (len(word) > 2 or word.isupper()):
                self._add((word,), kind, *names)

    def is_measure(self, kind: str) -> bool:
        found = self._measures.get(kind, set())
        return () in found or len(found) > 1

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
                if one.kind != label.column and self.is_measure(one.kind):
                    continue
                found.setdefault(one.kind, set()).add(one.name)
        return found

    def stem(self, word: str) -> str:
        """The label word of which ``word`` is a form: “German” gives “germany”."""
        stem = _stem(word)
        if stem in self.words or (stem,) in self._kinds:
            return stem
        label = self._prefixes.get(stem[:PREFIX], "")
        same = max(PREFIX, min(len(label), len(stem)) * 7 // 10 + 1)
        return label if label[:same] == stem[:same] else stem

    def stems(self, text: str) -> set[str]:
        return {self.stem(word) for word in _WORD.findall(text)}

    def find(self, text: str, offset: int = 0) -> list[Mention]:
        """The longest names of each kind, in order. ``offset`` is added to their places."""
        dates = list(_DATE.finditer(text))
        found = [
            Mention(kind, date[group], date.start(), date.end())
            for date in dates
            for group, kind in enumerate((":year", ":month", ":day"), 1)
            if date[group]
        ]
        text = _DATE.sub(lambda date: " " * len(date[0]), text)
        words = [
            (match.start(), match.end(), self.stem(match[0])) for match in _WORD.finditer(text)
        ]
        for code in _CODE.finditer(text):
            for kind, name in self._exact.get(code[1], {}).items():
                found.append(Mention(kind, name, code.start(), code.end()))
        last: dict[str, int] = {}
        counted = ""
        for place, (start, end, stem) in enumerate(words):
            if _YEAR.fullmatch(stem):
                found.append(Mention(":year", stem, start, end))
            for size in range(min(LONGEST, len(words) - place), 0, -1):
                key = tuple(word[2] for word in words[place : place + size])
                if size == 1 and counted and text[start:end].isdigit():
                    key = (counted, stem)  # “orders 17 and 18”
                for kind, name in self._kinds.get(key, {}).items():
                    if last.get(kind, -1) < place and not (
                        kind in (":month", ":weekday") and text[start].islower()
                    ):
                        last[kind] = place + size - 1
                        if len(key) == 2 and key[1].isdigit():
                            counted = key[0]
                        found.append(Mention(kind, name, start, words[place + size - 1][1]))
                        found += _day(text, found[-1])
        found.sort(key=lambda one: one.start)
        return [Mention(m.kind, m.name, m.start + offset, m.end + offset) for m in found]


def _day(text: str, month: Mention) -> Iterator[Mention]:
    if month.kind == ":month":
        near = _DAY.search(text[max(0, month.start - 8) : month.start]) or _DAY.search(
            text[month.end : month.end + 6]
        )
        if near is not None:
            yield Mention(":day", f"{int(near[1] or near[2]):02}", month.start, month.end)


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
