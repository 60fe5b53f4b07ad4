"""The walk of docs/architecture.md: each function in its table is called by one run of a cell, in
this order."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import FrameType

from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.site import Site

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text("utf-8")
SECTION = PAGE.split("## One cell, file by file")[1].split("\n## ")[0]
WALK = [tuple(row) for row in re.findall(r"^\| `(\S+\.py)` +\| `(\S+)` +\|", SECTION, re.MULTILINE)]
MOST_FILES = 18
MOST_OBJECTS = 7
"""Objects whose methods the table names: what a reader must keep in mind."""


def test_the_walk_is_short() -> None:
    assert 0 < len({file for file, _ in WALK}) <= MOST_FILES


async def test_a_cell_takes_this_walk(site: Site, api: FakeAnthropic) -> None:
    package = f"{ROOT / 'jupyter_codeinterp'}/"
    called: dict[tuple[str, str], object] = {}
    """Each function, and the object whose method it is."""

    def follow(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(package):
            owner = frame.f_locals.get("self")
            name = code.co_name if owner is None else f"{type(owner).__name__}.{code.co_name}"
            called.setdefault((code.co_filename.removeprefix(package), name), owner)

    api.play(in_order([answer(run_cell("21 * 2")), answer(text("It is 42."))]))
    window = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    before = sys.getprofile()
    sys.setprofile(follow)
    try:
        await window.ask("How much is it?")
        await window.decide(await window.draft())
        await window.ended()
    finally:
        sys.setprofile(before)
    assert [step for step in WALK if step not in called] == []
    objects = {id(called[step]) for step in WALK if called[step] is not None}
    assert 0 < len(objects) <= MOST_OBJECTS
    # Ops go to the notebook whenever there is one: while the code streams in, too.
    steps = [step for step in WALK if not step[0].startswith("notebook/")]
    assert sorted(steps, key=list(called).index) == steps
