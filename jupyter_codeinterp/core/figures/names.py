"""Names that label numbers (regions, years, measures), found in outputs and in sentences."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import msgspec

from .tables import Label

LONGEST = 5
"""Words of a name; longer labels are texts."""
MOST = 20_000
_WORD = re.compile(
    r"(?:19|20)\d\d(?=Q[1-4]\b)|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+[.,]\d+"
    r"|[^\W_]+(?:['\u2019]s\b)?"
)
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)-(\d\d)(?:-(\d\d))?(?![\d-])")
_YEAR = re.compile(r"(?:19|20)\d\d")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th)?(?: of)? $|^\.? (\d{1,2})(?:st|nd|rd|th)?\b")
COMMON = frozenset(
    re.split(
        " ",
        "a all an and as at by false for from i in is it nan no none not of on or other others "
        "the this to true we with yes",
    )
)
TIMES = ("year", "quarter", "month", "day", "weekday")
_MONTHS = "january february march april may june july august september october november december"
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MEASURES = {
    **{"average": "mean", "avg": "mean", "minimum": "min", "maximum": "max", "median": "50"},
    **{"total": "sum", "totals": "sum", "deviation": "std", "training": "train", "testing": "test"},
}
_STATISTICS = frozenset(("mean", "std", "min", "max", "50", "count", "sum"))


class Mention(msgspec.Struct, frozen=True):
    """A name of ``kind``, such as the column that has it."""

    kind: str
    name: str
    start: int
    end: int


class Names:
    """All names that label numbers of some outputs."""

    def __init__(self) -> None:
        self.words: set[str] = set()
        """All words of labels."""
        self._kinds: dict[tuple[str, ...], dict[str, str]] = {}
        self._measures: dict[str, set[tuple[str, ...]]] = {}
        """By kind: its statistics; an empty name if its labels are no entities."""
        for number, month in enumerate(_MONTHS.split(), 1):
            for word in (month, month[:3]):
                self._add((_stem(word),), "month", f"{number:02}")
        for day in _WEEKDAYS.split():
            for word in (day, day[:3]):
                self._add((_stem(word),), "weekday", day)
        for quarter in range(1, 5):
            self._add((f"q{quarter}",), "quarter", f"q{quarter}")

    def learn(self, label: Label) -> None:
        words = tuple(_stems(label.text))
        self.words.update(words, _stems(label.column))
        if not words or len(words) > LONGEST or len(self._kinds) > MOST:
            return
        kind = label.column
        if len(words) == 1 and words[0].isdigit() and words[0] != "50":
            # A number is a name with what it counts: “cluster 3”.
            words = (*_stems("class" if ":" in kind else kind), *words)
        if not label.is_entity or set(words) <= _STATISTICS:
            self._measures.setdefault(kind, set()).add(words if label.is_entity else ())
        self._add(words, kind, " ".join(words))

    def finish(self) -> None:
        """Know names also by the one word in which they differ: “train” and “test” RMSE."""
        alike: dict[tuple[str, int, tuple[str, ...]], set[tuple[str, str]]] = {}
        for words, kinds in self._kinds.items():
            for place, word in enumerate(words if 1 < len(words) < 4 else ()):
                for kind, name in kinds.items():
                    rest = (*words[:place], *words[place + 1 :])
                    alike.setdefault((kind, place, rest), set()).add((word, name))
        for (kind, _, _), differing in alike.items():
            for word, name in sorted(differing) if len(differing) > 1 else ():
                if not word.isdigit():
                    self._add((word,), kind, name)

    def is_measure(self, kind: str) -> bool:
        found = self._measures.get(kind, set())
        return () in found or len(found) > 1

    def _add(self, words: tuple[str, ...], kind: str, name: str) -> None:
        if len(words) > 1 or words[0] not in COMMON:
            self._kinds.setdefault(words, {}).setdefault(kind, name)

    def of(self, labels: Iterable[Label]) -> dict[str, set[str]]:
        """The names in some labels, by kind."""
        found: dict[str, set[str]] = {}
        for label in labels:
            text = label.text
            if text.isdigit():
                text = f"{'class' if ':' in label.column else label.column} {text}"
            elif len(text) > 2 and text.islower():
                text = text.capitalize()  # Months and weekdays have a capital.
            for one in self.find(text):
                if one.kind != label.column and self.is_measure(one.kind):
                    continue
                found.setdefault(one.kind, set()).add(one.name)
        return found

    def find(self, text: str) -> list[Mention]:
        """The longest ones of each kind, in order."""
        dates = list(_DATE.finditer(text))
        found = [
            Mention(kind, date[group], date.start(), date.end())
            for date in dates
            for group, kind in enumerate(("year", "month", "day"), 1)
            if date[group]
        ]
        text = _DATE.sub(lambda date: " " * len(date[0]), text)
        words = [(match.start(), match.end(), _stem(match[0])) for match in _WORD.finditer(text)]
        last: dict[str, int] = {}
        counted = ""
        for place, (start, end, stem) in enumerate(words):
            if _YEAR.fullmatch(stem):
                found.append(Mention("year", stem, start, end))
            for size in range(min(LONGEST, len(words) - place), 0, -1):
                key = tuple(word[2] for word in words[place : place + size])
                if size == 1 and stem.isdigit() and counted:
                    key = (counted, stem)  # “orders 17 and 18”
                for kind, name in self._kinds.get(key, {}).items():
                    if last.get(kind, -1) < place and not (
                        kind in ("month", "weekday") and text[start].islower()
                    ):
                        last[kind] = place + size - 1
                        if len(key) == 2 and key[1].isdigit():
                            counted = key[0]
                        found.append(Mention(kind, name, start, words[place + size - 1][1]))
                        found += _day(text, found[-1])
        return sorted(found, key=lambda one: one.start)


def _day(text: str, month: Mention) -> Iterator[Mention]:
    if month.kind == "month":
        near = _DAY.search(text[max(0, month.start - 8) : month.start]) or _DAY.search(
            text[month.end : month.end + 6]
        )
        if near is not None:
            yield Mention("day", f"{int(near[1] or near[2]):02}", month.start, month.end)


def stems(text: str) -> set[str]:
    return set(_stems(text))


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    """One form of a word. Codes of one or two capitals stay as they are: IT is not “it”."""
    word = re.sub("['\u2019]s$", "", word)
    if len(word) <= 2 and word.isupper():
        return word
    word = word.lower().replace(",", "")
    word = _MEASURES.get(word, word)
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
