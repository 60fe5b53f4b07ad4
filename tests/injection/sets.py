"""Reads the sets of this folder, and prints rates: `python -m tests.injection.sets`.

`corpus.txt` has texts that speak to the model, as code that brings them; `ordinary.txt` has outputs
that do not, and that hold no secret.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from jupyter_codeinterp.core.injection.signs import first_sign
from tests.truth.answers.rates import cases

FOLDER = Path(__file__).parent


class Case(NamedTuple):
    name: str
    text: str


def read(name: str) -> list[Case]:
    """The parts of a file. A line `=== …` begins one, with its name."""
    text = (FOLDER / name).read_text(encoding="utf-8").removeprefix("=== ")
    parts = (part.partition("\n") for part in text.split("\n=== "))
    return [Case(name, body.rstrip("\n")) for name, _, body in parts]


def ordinary() -> list[Case]:
    return read("ordinary.txt")


def truth() -> list[Case]:
    """The outputs that the figure check is tested with."""
    outputs = ((case.name, cell.outputs) for case in cases() for cell in case.cells)
    return [Case(name, str(output)) for name, found in outputs for output in found]


def labelled(found: list[Case]) -> list[Case]:
    """Those that a label would be put on."""
    return [case for case in found if first_sign(case.text)]


def main() -> None:
    for what, found in (("ordinary outputs", ordinary()), ("outputs of tests/truth", truth())):
        wrong = labelled(found)
        print(f"labelled of {len(found)} {what}: {len(wrong)} ({len(wrong) / len(found):.1%})")
        for case in wrong:
            print(f"    {case.name}: {first_sign(case.text)}")


if __name__ == "__main__":
    main()
