"""Outputs of a run that nobody has decided on are not trusted: no script in them runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from jupyter_codeinterp.wire.events import Note
from jupyter_codeinterp.wire.ops import BeginRun, FinishRun
from tests import pretending
from tests.core.conftest import bench as bench
from tests.core.conftest import jp_asyncio_loop as jp_asyncio_loop
from tests.core.conftest import room as room
from tests.core.conftest import shared_room as shared_room
from tests.core.conftest import store as store
from tests.scripted import Bench, call, last_cell, run, say

Benches = Callable[..., Bench]


SCRIPT = "from IPython.display import HTML, display\ndisplay(HTML('<b>x</b><script>1</script>'))"


def trusts(b: Bench) -> list[bool]:
    """What each run was begun with; it has ended with the same."""
    begun = [op.trusted for op in b.document.ops if isinstance(op, BeginRun)]
    assert begun == ended(b)
    return begun


def ended(b: Bench) -> list[bool]:
    return [op.trusted for op in b.document.ops if isinstance(op, FinishRun)]


async def test_a_cell_that_auto_runs_is_not_trusted(bench: Benches) -> None:
    b = bench(run(SCRIPT), say("Done."))
    await b.turn(mode="auto")
    assert trusts(b) == [False]
    assert "Run the cell yourself" in (await b.event(Note)).text


async def test_a_table_and_a_value_from_auto_are_trusted_at_the_end(bench: Benches) -> None:
    html = "<table><td>1</td></table>"
    table = f"class Table:\n    def _repr_html_(self): return '{html}'\nTable()"
    b = bench(run(table), run("1 + 1"), run("print(1)"), run("a = 1"), say("Done."))
    await b.turn(mode="auto")
    assert [op.trusted for op in b.document.ops if isinstance(op, BeginRun)] == [False] * 4
    assert ended(b) == [True] * 4
    assert not [event for event in b.events if isinstance(event, Note)]


@pytest.mark.parametrize(("code", "signed"), [("1 + 1", True), (SCRIPT, False)])
async def test_the_server_signs_a_notebook_with_what_auto_has_shown_unless_a_script_is_in_it(
    bench: Benches, code: str, signed: bool, tmp_path: Path
) -> None:
    b = bench(run(code), say("Done."))
    await b.turn(mode="auto")
    notary = NotebookNotary(data_dir=str(tmp_path), db_file=":memory:", secret=b"x")
    assert notary.check_cells(nbformat.from_dict(b.document.notebook)) is signed
    notary.close()


async def test_a_trusted_output_is_not_given_a_script_by_a_run_of_auto(bench: Benches) -> None:
    shown = "from IPython.display import HTML, display\nh = display(HTML('x'), display_id=True)"
    update = "h.update(HTML('<script>1</script>'))"
    b = bench(run(shown), say("One."), run(update), say("Two."))
    b.send()
    b.decide(await b.draft())
    await b.ended()
    b.send(mode="auto")
    await b.ended(2)
    assert [list(data) for _, data in b.document.displays] == [["text/plain"]]


async def test_one_that_a_person_has_decided_on_may_change_it(bench: Benches) -> None:
    shown = "from IPython.display import HTML, display\nh = display(HTML('x'), display_id=True)"
    update = "h.update(HTML('<script>1</script>'))"
    b = bench(run(shown), run(update), say("Done."))
    b.send()
    b.decide(await b.draft())
    b.decide(await b.draft(2))
    await b.ended()
    assert [set(data) for _, data in b.document.displays] == [{"text/plain", "text/html"}]


async def test_a_cell_that_a_person_has_run_is_trusted_until_auto_runs_it_again(
    bench: Benches,
) -> None:
    b = bench(
        run(SCRIPT),
        say("One."),
        lambda r: call("edit_cell", cell_id=last_cell(r), source=SCRIPT + "\n"),
        say("Done."),
    )
    b.send()
    b.decide(await b.draft())
    await b.ended()
    cell = b.document.notebook["cells"][1]
    assert cell["metadata"]["trusted"] is True
    b.send(mode="auto")
    await b.ended(2)
    assert trusts(b) == [True, False]
    assert "trusted" not in b.document.notebook["cells"][1]["metadata"]


async def test_what_run_all_lets_run_is_not_trusted(bench: Benches) -> None:
    b = bench(run(SCRIPT), run(SCRIPT), say("Done."))
    b.send()
    b.decide(await b.draft(), run_all=True)
    await b.ended()
    assert trusts(b) == [False, False]


async def test_a_cell_that_asks_in_auto_is_trusted_once_a_person_has_decided(
    bench: Benches,
) -> None:
    b = bench(run("a = 1" + "\n" * 30), say("Done."))
    b.send(mode="auto")
    b.decide(await b.draft())
    await b.ended()
    assert trusts(b) == [True]


@pytest.mark.parametrize(("code", "trusted"), [(SCRIPT, False), ("1 + 1", True)])
async def test_a_script_of_a_sandboxed_kernel_is_not_trusted_though_a_person_decided(
    bench: Benches, monkeypatch: pytest.MonkeyPatch, code: str, trusted: bool
) -> None:
    pretending.sandboxed(monkeypatch)
    b = bench(run(code), say("Done."))
    b.send()
    b.decide(await b.draft())
    await b.ended()
    assert ended(b) == [trusted]
    notes = [event.text for event in b.events if isinstance(event, Note)]
    assert any("in a sandboxed kernel" in words for words in notes) is not trusted
