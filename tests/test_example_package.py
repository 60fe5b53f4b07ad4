"""The example of a package with tools: installed by pip, then used."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_codeinterp.wire import events as e
from tests.fake_anthropic import FakeAnthropic, answer, call, in_order, run_cell, text
from tests.site import Site

EXAMPLE = Path(__file__).parent.parent / "examples" / "describe_table"
TABLE = """
import pandas
sales = pandas.DataFrame({"id": [1, 2, 2, 4], "amount": [1.5, None, 2.5, None]})
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    place = tmp_path / "site-packages"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(place)]
    subprocess.run([*pip, str(EXAMPLE)], check=True)
    monkeypatch.syspath_prepend(str(place))
    yield
    sys.modules.pop("describe_table", None)


async def test_the_example_package_works(site: Site, api: FakeAnthropic) -> None:
    api.play(
        in_order(
            [
                answer(run_cell(TABLE)),
                answer(call("describe_table", {"name": "sales"})),
                answer(call("describe_table", {"name": "exec('1')"})),
                answer(call("count_duplicates", {"table": "sales", "columns": ["id"]})),
                answer(text("Two rows share an id.")),
            ]
        )
    )
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Describe the table")
    for number in (1, 2, 3):
        await w.decide(await w.draft(number))
    assert (await w.ended()).stop_reason == "end_turn"
    results = {done.name: done.detail for done in w.of(e.ToolDone) if done.status == "ok"}
    assert "amount  float64  0.5" in results["describe_table"]
    assert "2.5" in results["count_duplicates"] and "1.5" not in results["count_duplicates"]
    assert w.cells[-1]["source"].startswith("sales[sales.duplicated(['id'], keep=False)]")
    (refused,) = (done.detail for done in w.of(e.ToolDone) if done.status != "ok")
    assert "is not the name of a variable" in refused
