"""The states of figures in written answers: `python -m tests.truth.answers.states [FILE …]`.

`⟦7,412|l⟧` is a figure that is linked, `⟦7,412|p⟧` one that is plain and `⟦7,421|n⟧` one that
nothing has. The answers of `strangers.json` are by authors who did not know the rules.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jupyter_codeinterp.features.figures.lookup import look_up
from jupyter_codeinterp.features.figures.outputs import OutputCell

FILES = [Path(__file__).with_name(f"{name}.json") for name in ("states", "strangers")]
MARK = re.compile(r"⟦([^|⟧]+)\|([lpn])⟧")


def answers(paths: Iterable[Path] = FILES) -> list[dict[str, Any]]:
    return [one for path in paths for one in json.loads(path.read_text(encoding="utf-8"))]


def wrong(answer: dict[str, Any]) -> list[str]:
    """Figures of the answer that are in another state than they should be."""
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
    found, left_out = [], 0
    for mark in MARK.finditer(answer["answer"]):
        start = mark.start() - left_out
        left_out += len(mark[0]) - len(mark[1])
        end = start + len(mark[1])
        state = next((states[place] for place in range(start, end) if place in states), "p")
        if state != mark[2]:
            found.append(f"{answer['name']}: {mark[1]} is {mark[2]}, found {state}")
    return found


def count(answers: list[dict[str, Any]]) -> int:
    return sum(len(MARK.findall(one["answer"])) for one in answers)


if __name__ == "__main__":
    some = answers(map(Path, sys.argv[1:]) if len(sys.argv) > 1 else FILES)
    misses = [line for one in some for line in wrong(one)]
    print(*misses, f"{count(some) - len(misses)} of {count(some)} figures are right", sep="\n")
