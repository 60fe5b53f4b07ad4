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
                answer(call("describe_table", {"name": "nothing"})),
                answer(text("It has two columns.")),
            ]
        )
    )
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Describe the table")
    await w.decide(await w.draft())
    assert (await w.ended()).stop_reason == "end_turn"
    told, refused = [done.detail for done in w.of(e.ToolDone) if done.name == "describe_table"]
    assert "id  int64\namount  float64" in told
    assert "is not the name of a table" in refused
