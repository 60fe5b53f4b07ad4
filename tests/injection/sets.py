"""Reads the sets of this folder, and prints rates: `python -m tests.injection.sets`.

`corpus.txt` has texts that speak to the model, as code that brings them; `ordinary.txt` has outputs
that do not, and that hold no secret. `canaries.txt` has a secret a line, with random characters in
place of `{A20}` (20 letters and digits), `{U20}` (capitals), `{h20}` (hexadecimal), `{B20}`
(base64) and `{d20}` (digits): no key is in the file.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from jupyter_codeinterp.view.injection.signs import signs
from jupyter_codeinterp.view.redaction.found_secrets import without_secrets
from tests.truth.answers.states import answers

FOLDER = Path(__file__).parent
SIGNS = {
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "h": "0123456789abcdef",
    "B": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
}


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
    outputs = [(one["name"], cell["outputs"]) for one in answers() for cell in one["cells"]]
    return [Case(name, str(output)) for name, found in outputs for output in found]


def labelled(found: list[Case]) -> list[Case]:
    """Those that a label would be put on."""
    return [case for case in found if signs(case.text)]


class Canary(NamedTuple):
    text: str
    parts: tuple[str, ...]
    """What was put into it, if long enough to be secret."""


def canaries(seed: int = 1) -> Iterator[Canary]:
    chance = random.Random(seed)
    for group in read("canaries.txt"):
        for line in group.text.split("\n"):
            parts: list[str] = []

            def fill(found: re.Match[str], parts: list[str] = parts) -> str:
                parts.append("".join(chance.choices(SIGNS[found[1]], k=int(found[2]))))
                return parts[-1]

            text = re.sub(r"\{([AUhBd])(\d+)\}", fill, line.replace("\\n", "\n"))
            yield Canary(text, tuple(part for part in parts if len(part) > 8))


def escaped(found: list[Canary]) -> list[Canary]:
    """Those of which something is left, in one of several surroundings."""
    around = ("{}", "ok\n{}\n3 rows", "<td>{}</td>", "note = {!r}", "x = 1  # {}")
    return [
        one
        for one in found
        for form in around
        if any(part in without_secrets(form.format(one.text)) for part in one.parts)
    ]


def changed(found: list[Case]) -> list[Case]:
    """Those from which something would be removed."""
    return [case for case in found if without_secrets(case.text) != case.text]


def main() -> None:
    known = list(canaries())
    left = escaped(known)
    print(f"canaries removed: {len(known) - len({one.text for one in left})} of {len(known)}")
    for canary in left:
        print(f"    {canary.text}")
    wrong = changed(ordinary())
    rate = len(wrong) / len(ordinary())
    print(f"ordinary outputs changed: {len(wrong)} of {len(ordinary())} ({rate:.1%})")
    for case in wrong:
        print(f"    {case.name}: {without_secrets(case.text)}")
    for what, found in (("ordinary outputs", ordinary()), ("outputs of tests/truth", truth())):
        wrong = labelled(found)
        print(f"labelled of {len(found)} {what}: {len(wrong)} ({len(wrong) / len(found):.1%})")
        for case in wrong:
            print(f"    {case.name}: {signs(case.text)}")


if __name__ == "__main__":
    main()
