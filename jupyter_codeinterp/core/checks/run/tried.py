"""An example of the person's message that the code does not give."""

from __future__ import annotations

from collections.abc import Iterator

from ...findings import Finding
from ..shared.check import Check, SeenRun
from ..shared.reading import listed

NAME = "Example"


def read(run: SeenRun) -> Iterator[Finding]:
    untried = tuple(f"`{one.call}`" for one in run.examples if one.untried)
    if untried:
        noun, verb = ("example", "was") if len(untried) == 1 else ("examples", "were")
        yield Finding(NAME, f"The {noun} {listed(untried)} of the question {verb} not tried.")
    for one in run.examples:
        call, says = f"`{one.call}`", f"the question says {one.expected}"
        if one.late:
            yield Finding(NAME, f"{call} did not end within 1 second; {says}.")
        elif one.same or one.untried:
            continue
        elif one.raised:
            yield Finding(NAME, f"{call} raised {one.raised}; {says}.")
        else:
            yield Finding(NAME, f"{call} gave {one.got}; {says}.")


CHECK = Check(NAME, after_run=read)
