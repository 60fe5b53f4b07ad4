"""Rates of the figure check on written answers: `python -m tests.truth.answers.rates`.

A file holds answers. `⟦7,412|7412.50⟧` is a figure and the text of its origin, `⟦7,421|✗⟧` one
that is wrong. Of each right number, wrong ones are also made by changing a digit.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from jupyter_codeinterp.features.figures.lookup import look_up
from jupyter_codeinterp.features.figures.outputs import OutputCell
from jupyter_codeinterp.wire.events import Figure

FOLDER = Path(__file__).parent
MARK = re.compile(r"⟦([^|⟧]+)\|([^⟧]+)⟧")
WRONG = "✗"


class Case(msgspec.Struct, frozen=True):
    name: str
    question: str
    cells: tuple[OutputCell, ...]
    marked: str


class Rates(msgspec.Struct):
    supported: int = 0
    found: int = 0
    planted: int = 0
    accepted: int = 0
    misses: list[str] = []

    def __str__(self) -> str:
        return (
            f"supported figures found: {self.found} of {self.supported} "
            f"({self.found / self.supported:.1%})\n"
            f"planted wrong figures accepted: {self.accepted} of {self.planted} "
            f"({self.accepted / self.planted:.1%})"
        )


def cases() -> list[Case]:
    texts = [path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.txt"))]
    return [_case(part) for text in texts for part in text.split("=== ") if part.strip()]


def _case(text: str) -> Case:
    name, _, rest = text.partition("\n")
    question = re.search(r"^\? (.*)$", rest, re.MULTILINE)
    parts = re.split(r"^--- (.+)\n", rest, flags=re.MULTILINE)
    cells: list[OutputCell] = []
    for kind, body in zip(parts[1::2], parts[2::2], strict=True):
        body = body.rstrip("\n")
        if kind.startswith("cell "):
            words = kind.split()
            cells.append(OutputCell(words[1], (), "earlier" not in words))
        elif kind != "answer":
            cells = cells or [OutputCell("c1", ())]
            cells[-1] = _with(cells[-1], kind, body)
    return Case(name, question[1] if question else "", tuple(cells), parts[-1].strip())


def _with(cell: OutputCell, kind: str, body: str) -> OutputCell:
    body = body.replace("␍", "\r").replace("␛", "\x1b")
    made: dict[str, dict[str, Any]] = {
        "print": {"output_type": "stream", "name": "stdout", "text": f"{body}\n"},
        "result": {"output_type": "execute_result", "data": {"text/plain": body}},
        "html": {
            "output_type": "display_data",
            "data": {"text/html": body, "text/plain": "<IPython.core.display.HTML object>"},
        },
        "image": {
            "output_type": "display_data",
            "data": {"image/png": "aWJtYWdl", "text/plain": body},
        },
        "error": {"output_type": "error", "ename": "ValueError", "evalue": body, "traceback": []},
    }
    return msgspec.structs.replace(cell, outputs=(*cell.outputs, made[kind]))


def written(marked: str) -> tuple[str, dict[int, tuple[str, str]]]:
    """The answer without marks; the figures and their origins by where they begin."""
    answer, place, figures = "", 0, {}
    for mark in MARK.finditer(marked):
        answer += marked[place : mark.start()]
        figures[len(answer)] = (mark[1], mark[2])
        answer += mark[1]
        place = mark.end()
    return answer + marked[place:], figures


def at(figures: tuple[Figure, ...], start: int, text: str) -> Figure | None:
    """The figure that covers most of a text, which begins at ``start``."""
    return next(
        (
            one
            for one in figures
            if one.start < start + len(text) and start < one.end and one.origin is not None
        ),
        None,
    )


def measure(some: list[Case] | None = None, seed: int = 1) -> Rates:
    """Of some cases, or of all that are written."""
    rates = Rates(misses=[])
    random_ = random.Random(seed)
    for case in cases() if some is None else some:
        answer, figures = written(case.marked)
        known = look_up(answer, case.question, case.cells)
        for start, (text, origin) in figures.items():
            found = at(known, start, text)
            value = found.origin.value if found is not None and found.origin else ""
            if origin == WRONG:
                rates.planted += 1
                if value:
                    rates.accepted += 1
                    rates.misses.append(f"{case.name}: accepted {text} as {value!r}")
            else:
                rates.supported += 1
                rates.found += value == origin
                if value != origin:
                    rates.misses.append(f"{case.name}: {text} is {origin}, found {value!r}")
        for start, (text, origin) in figures.items():
            if origin != WRONG and re.search(r"\d\D*\d", text):
                _plant(case, answer, start, text, random_, rates)
    return rates


def _plant(
    case: Case, answer: str, start: int, text: str, random_: random.Random, rates: Rates
) -> None:
    for wrong in _others(text, random_):
        planted = answer[:start] + wrong + answer[start + len(text) :]
        found = at(look_up(planted, case.question, case.cells), start, wrong)
        rates.planted += 1
        if found is not None:
            rates.accepted += 1
            value = found.origin.value if found.origin else ""
            rates.misses.append(f"{case.name}: accepted {wrong} for {text} as {value!r}")


def _others(text: str, random_: random.Random) -> Iterator[str]:
    """The figure with its first digit, another one and its last but one changed."""
    places = [found.start() for found in re.finditer(r"\d", text)]
    for place in dict.fromkeys((places[0], random_.choice(places[:-1]), places[-2])):
        digit = str((int(text[place]) + random_.randint(2, 7)) % 9 + 1)
        if digit != text[place]:
            yield text[:place] + digit + text[place + 1 :]


if __name__ == "__main__":
    measured = measure()
    print(*measured.misses, measured, sep="\n")
