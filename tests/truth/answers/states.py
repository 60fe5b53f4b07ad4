"""The states of figures in written answers: `python -m tests.truth.answers.states [FILE …]`.

`[⟦7,412|l⟧](#cell:c1 "Kiel")` is a figure whose linked cell has it, `⟦7,412|p⟧` one that is plain
and `⟦7,421|n⟧` one that nothing has. `[⟦8,120|w⟧](#cell:c1 "Kiel")` should be plain, although the
cell has it: the sentence names another row or column than its own. Only the links in `sixty.json`
and `rows.json` have titles. Their authors, and those of `strangers.json`, did not know the rules.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from jupyter_codeinterp.features.figures.lookup import look_up
from jupyter_codeinterp.features.figures.outputs import OutputCell

NAMES = ("states", "strangers", "sixty", "rows")
FILES = [Path(__file__).with_name(f"{name}.json") for name in NAMES]
MARK = re.compile(r"⟦([^|⟧]+)\|([lpnw])⟧")


def answers(paths: Iterable[Path] = FILES) -> list[dict[str, Any]]:
    return [one for path in paths for one in json.loads(path.read_text(encoding="utf-8"))]


def found(answer: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Each marked figure: its text, its state and the one that the look-up gives it."""
    cells = [
        OutputCell(one["cell_id"], tuple(one["outputs"]), one.get("ran", True))
        for one in answer["cells"]
    ]
    text = MARK.sub(r"\1", answer["answer"])
    figures = look_up(text, answer["question"], cells, answer.get("said", ""))
    states = {
        place: "l" if one.origin is not None else "n"
        for one in figures
        for place in range(one.start, one.end)
    }
    left_out = 0
    for mark in MARK.finditer(answer["answer"]):
        start = mark.start() - left_out
        left_out += len(mark[0]) - len(mark[1])
        places = range(start, start + len(mark[1]))
        state = "p" if mark[2] == "w" else mark[2]
        yield mark[1], state, next((states[one] for one in places if one in states), "p")


def wrong(answer: dict[str, Any]) -> list[str]:
    """Figures of the answer that are in another state than they should be."""
    return [
        f"{answer['name']}: {text} is {state}, found {got}"
        for text, state, got in found(answer)
        if got != state
    ]


def count(answers: list[dict[str, Any]]) -> int:
    return sum(len(MARK.findall(one["answer"])) for one in answers)


def changed(answer: dict[str, Any], chance: random.Random) -> Iterator[dict[str, Any]]:
    """The answer with a digit of one linked figure changed, for each that has several."""
    for mark in MARK.finditer(answer["answer"]):
        places = [one.start() for one in re.finditer(r"\d", mark[1])]
        if mark[2] == "l" and len(places) > 1:
            place = chance.choice(places[:-1])
            digit = (int(mark[1][place]) + chance.randint(1, 8)) % 9 + 1
            text = f"{mark[1][:place]}{digit}{mark[1][place + 1 :]}"
            if text != mark[1]:
                before, after = answer["answer"][: mark.start()], answer["answer"][mark.end() :]
                plain = MARK.sub(r"\1", before), MARK.sub(r"\1", after)
                yield {**answer, "answer": f"{plain[0]}⟦{text}|n⟧{plain[1]}"}


def accepted(answers: list[dict[str, Any]]) -> tuple[int, int]:
    """Changed figures that are linked, and all."""
    chance = random.Random(1)
    states = [got for one in answers for other in changed(one, chance) for *_, got in found(other)]
    return states.count("l"), len(states)


if __name__ == "__main__":
    some = answers(map(Path, sys.argv[1:]) if len(sys.argv) > 1 else FILES)
    misses = [line for one in some for line in wrong(one)]
    print(*misses, f"{count(some) - len(misses)} of {count(some)} figures are right", sep="\n")
    print("{} of {} figures with a wrong digit are linked".format(*accepted(some)))
