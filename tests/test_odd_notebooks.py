"""Notebooks with anything in the place of anything: what JupyterLab opens can be worked in.

``odd_notebooks.json`` has a base, places in it and values for them; jest takes the same.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jupyter_codeinterp.base.errors import DocumentError
from jupyter_codeinterp.notebook.apply import apply
from jupyter_codeinterp.notebook.content import views
from jupyter_codeinterp.notebook.file import ContentsFile, FileDocument
from jupyter_codeinterp.view import outputs as seeing
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import ops as d
from tests.fake_anthropic import FakeAnthropic, answer, text
from tests.kernels import until
from tests.nightly import spread
from tests.reference_window import notebook
from tests.site import Site

_GIVEN = json.loads(Path(__file__).with_name("odd_notebooks.json").read_text())
PLACES, VALUES = _GIVEN["places"], _GIVEN["values"]
_ABSENT = object()
_frame = msgspec.json.Decoder(c.Command)

LONG = {"cells": [{**notebook("1")["cells"][0], "id": "i" * 1000}]}
DEEP: Any = json.loads('{"a":' * 400 + "1" + "}" * 400)
WHOLE = [
    {"cells": []},
    {"cells": notebook("1", "1")["cells"] * 2},
    LONG,
    {"metadata": {"deep": DEEP}},
    {"metadata": {"large": ["x" * 1000] * 1000}},
    {"nbformat_minor": 0},
    {"nbformat_minor": 4},
    {"nbformat_minor": 9},
]


def odd(*changes: tuple[list[Any], Any]) -> dict[str, Any]:
    book = copy.deepcopy(_GIVEN["base"])
    for place, value in changes:
        at: Any = book
        try:
            for key in place[:-1]:
                at = at[key]
            if value is _ABSENT:
                del at[place[-1]]
            else:
                at[place[-1]] = copy.deepcopy(value)
        except (KeyError, IndexError, TypeError):
            continue  # What it was in is odd itself.
    return dict(book)


def all_odd() -> Iterator[dict[str, Any]]:
    for place in PLACES:
        for value in [*VALUES, _ABSENT]:
            yield odd((place, value))
    for change in WHOLE:
        yield {**_GIVEN["base"], **change}


_changes = st.lists(
    st.tuples(st.sampled_from(PLACES), st.sampled_from([*VALUES, _ABSENT])), min_size=2, max_size=6
)

OPS: list[d.Op] = [
    d.Insert("new", "raw", "1 + 1", ("code",)),
    d.BeginRun("new", d.digest("1 + 1"), "run", tell=True),
    d.FinishRun("new", "run", ({"output_type": "stream", "name": "stdout", "text": "2"},), 2),
    d.SetSource("code", "x = 21", "x = 20"),
    d.BeginRun("code", d.digest("x = 21"), "again", tell=True),
    d.FinishRun("code", "again", (), 3),
    d.SetSource("note", "", "# Note", "raw"),
    d.Delete("bare", "raw"),
]
LEFT = {"new": "1 + 1", "code": "x = 21", "note": ""}
"""Their sources afterwards."""


def worked_in(book: dict[str, Any]) -> None:
    """Seen, sent, told, changed, put back: nothing of it raises, and the cells stay."""
    seen = views(book)
    assert len(seen) == len(book["cells"])
    sent = msgspec.json.encode(c.SnapshotTaken("a", 1, 1, seen))
    assert _frame.decode(sent).cells == seen
    for cell in seen:
        seeing.see(cell.outputs, images_left=0)
    receipts = []
    for op in OPS:
        book, receipt = apply(book, op)
        receipts.append((op, receipt))
    assert receipts[0][1].status == "done"
    for op, receipt in reversed(receipts):
        if receipt.before is not None:
            receipt = msgspec.json.decode(msgspec.json.encode(receipt), type=d.Receipt)
            assert receipt.before is not None
            expect = None if isinstance(op, d.Delete) else LEFT[op.cell_id]
            back = d.Restore(op.cell_id, receipt.before, expect, receipt.after)
            book, undone = apply(book, back)
            assert undone.status in ("done", "conflict", "refused")
    views(book)


def without_halves(book: dict[str, Any]) -> bool:
    """A page sends no half of a character, and no file holds one that can be written."""
    return "\\ud8" not in json.dumps(book)


def test_any_field_may_be_anything() -> None:
    books = list(filter(without_halves, all_odd()))
    assert len(books) > 400
    for book in books:
        worked_in(book)


@settings(
    max_examples=300, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
@given(_changes)
def test_several_fields_may_be_anything(changes: list[tuple[list[Any], Any]]) -> None:
    book = odd(*changes)
    if without_halves(book):
        worked_in(book)


def test_tags_in_one_word_are_private() -> None:
    for tags in ("codeinterp-private", "a, codeinterp-private", ["codeinterp-private", 3, None]):
        (code, *_) = views(odd((["cells", 0, "metadata", "tags"], tags)))
        assert (code.source, code.outputs, code.execution_count) == ("", (), None)


@pytest.mark.parametrize("part", spread(range(3), every=3))
async def test_a_file_that_jupyter_opens_is_worked_in(
    site: Site, jp_root_dir: Path, part: int
) -> None:
    """Through the real contents manager; what it does not open is said, and left as it is."""
    file, opened, unwritten = jp_root_dir / "a.ipynb", 0, 0

    async def stays(_: str) -> bool:
        return False

    contents: Any = site.app.contents_manager
    for book in list(all_odd())[part::3]:
        written = json.dumps(book)
        file.write_text(written)
        reader = ContentsFile(contents, lambda: "a.ipynb", stays)
        answers: list[Any] = []
        lost: list[str] = []
        document = FileDocument(reader, answers.append, lambda *_: None, partial(_noted, lost))
        try:
            await document.open({})
        except DocumentError as error:
            assert error.code in ("invalid_notebook", "unreadable")
            assert file.read_text() == written
            continue
        opened += 1
        for seq, op in enumerate(OPS[:3], 10):
            document.send(c.OpFrame("a.ipynb", 1, "new session", seq, op))
        document.send(c.ReadNotebook("a.ipynb", 1, 1))
        await until(lambda: len(answers) == 4 or bool(lost))  # noqa: B023
        await document.close()
        if lost:  # Nor can a page save it: Jupyter makes no signature of it.
            assert "Jupyter cannot write" in lost[0], book
            assert file.read_text() == written
            unwritten += 1
            continue
        cells = nbformat.read(file, as_version=nbformat.NO_CONVERT)["cells"]
        assert sum(cell.get("source") == "1 + 1" for cell in cells) == 1
    assert opened > 250 / 3 and unwritten < 15 / 3


@pytest.mark.parametrize("part", spread(range(4), every=4))
async def test_a_question_in_each(site: Site, api: FakeAnthropic, part: int) -> None:
    """A window has it open, and sends what it can; the model answers."""
    api.play(lambda request: answer(text("Yes.")))
    books = list(filter(without_halves, all_odd()))[part::12]
    for number, book in enumerate(books):
        window = await site.window(f"{number}.ipynb", book)
        assert (await window.ask("Is it well?")).error is None
        assert (await window.ended()).stop_reason == "end_turn", book
        await window.close()


def _noted(lost: list[str], why: str, gone: bool) -> None:
    lost.append(why)
