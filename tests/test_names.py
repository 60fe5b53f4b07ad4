"""What a message can name: variables and files, from a kernel that may be busy or hostile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.app.notebooks.names import (
    MAX_NAMES,
    MAX_NOTEBOOKS,
    File,
    NotebookVariable,
    ReferenceNames,
)
from jupyter_codeinterp.base.errors import KernelError
from jupyter_codeinterp.wire.ports import KernelInfo
from tests.fake_anthropic import FakeAnthropic, answer, in_order, text
from tests.kernels import Gate
from tests.reference_window import notebook
from tests.site import Site


class Kernel:
    """Tells what a test has put here; without a start there is none."""

    def __init__(self) -> None:
        self.told: list[Any] | None = []
        self.start: int | None = 1

    async def info(self) -> KernelInfo:
        if self.start is None:
            raise KernelError("no_kernel", "There is none.")
        return KernelInfo("k", self.start, "python", "3")

    async def outline(self, names: tuple[str, ...] = (), keys: bool = False) -> Any:
        return self.told


def names(kernel: Kernel, private: str = "", scrub: Callable[[str], str] = str) -> ReferenceNames:
    async def files(path: str, most: int) -> list[tuple[str, int]]:
        return [("a.csv", 3)]

    return ReferenceNames(lambda path: kernel, files, lambda path, name: name == private, scrub)


async def test_a_busy_kernel_tells_what_was_known_last_until_it_is_another() -> None:
    kernel = Kernel()
    kernel.told = [{"name": "df", "type": "DataFrame", "shape": [3, 2]}]
    asked = names(kernel)
    df = NotebookVariable("df", "DataFrame", (3, 2))
    found = await asked.of("a.ipynb")
    assert (found.variables, found.files, found.earlier) == ((df,), (File("a.csv", 3),), False)
    kernel.told = None
    found = await asked.of("a.ipynb")
    assert (found.variables, found.earlier) == ((df,), True)
    assert (await asked.of("b.ipynb")).variables == ()
    kernel.start = 2
    assert (await asked.of("a.ipynb")).variables == ()
    kernel.start = None
    found = await asked.of("a.ipynb")
    assert (found.variables, found.earlier) == ((), False)


async def test_all_columns_of_one_table_but_not_of_a_private_one() -> None:
    kernel = Kernel()
    kernel.told = [{"name": "df", "type": "DataFrame", "columns": [["'a'", "int64"]]}]
    asked = names(kernel, private="secret")
    df = NotebookVariable("df", "DataFrame", (), (("'a'", "int64"),))
    assert (await asked.columns("a.ipynb", "df")).variables == (df,)
    kernel.told = [{"name": "secret", "type": "DataFrame", "columns": [["'a'", "int64"]]}]
    assert (await asked.columns("a.ipynb", "secret")).variables == ()
    kernel.told = []
    assert (await asked.columns("a.ipynb", "gone")).variables == ()
    kernel.told = None
    assert (await asked.columns("a.ipynb", "df")).earlier


async def test_a_key_of_a_dictionary_that_is_an_api_key_is_not_listed() -> None:
    kernel = Kernel()
    kernel.told = [{"name": "d", "type": "dict", "columns": [["'sk-1'", "int"], ["'a'", "int"]]}]
    asked = names(kernel, scrub=lambda text: text.replace("sk-1", "[key]"))
    assert (await asked.of("a.ipynb")).variables[0].columns == (("'a'", "int"),)


async def test_what_is_known_of_many_notebooks_is_bounded() -> None:
    kernel = Kernel()
    asked = names(kernel)
    for number in range(MAX_NOTEBOOKS + 10):
        await asked.of(f"{number}.ipynb")
    assert len(asked._known) == MAX_NOTEBOOKS


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ({"name": "x", "type": "list", "len": 3}, NotebookVariable("x", "list", (3,))),
        ({"name": "x", "type": "a" * 500}, NotebookVariable("x", "a" * 100)),
        ({"name": "x", "type": 7, "shape": "wide"}, NotebookVariable("x", "")),
        ({"name": "x", "type": "t", "shape": [1, True]}, NotebookVariable("x", "t")),
        ({"name": "x", "type": "t", "shape": [-1, 2**60, 4]}, NotebookVariable("x", "t", (4,))),
        ({"name": "x", "type": "t", "value": "a value"}, NotebookVariable("x", "t")),
        (
            {"name": "x", "type": "dict", "columns": [["'a'", "int"], ["3", "t" * 500]]},
            NotebookVariable("x", "dict", (), (("'a'", "int"), ("3", "t" * 100))),
        ),
        (
            {"name": "x", "type": "t", "columns": [["'a'"], ["", "t"], ["\n", "t"], [1, "t"], 7]},
            NotebookVariable("x", "t"),
        ),
        ({"name": "x", "type": "t", "columns": [["k" * 101, "t"]]}, NotebookVariable("x", "t")),
        ({"name": "x", "type": "t", "columns": "'a'"}, NotebookVariable("x", "t")),
        ({"name": "a b", "type": "t"}, None),
        ({"name": "x" * 101, "type": "t"}, None),
        ({"name": "<system>", "type": "t"}, None),
        ({"name": None}, None),
        ({}, None),
        ("x", None),
        (None, None),
    ],
)
async def test_a_kernel_may_tell_anything(told: Any, shown: NotebookVariable | None) -> None:
    kernel = Kernel()
    kernel.told = [told, {"name": "y", "type": "int"}]
    found = (await names(kernel).of("a.ipynb")).variables
    assert found == tuple(one for one in (shown, NotebookVariable("y", "int")) if one is not None)


async def test_there_are_at_most_2_000_and_no_private_ones() -> None:
    kernel = Kernel()
    kernel.told = [{"name": f"v{i}", "type": "int"} for i in range(5_000)]
    found = (await names(kernel, private="v4999").of("a.ipynb")).variables
    assert len(found) == MAX_NAMES - 1
    assert found[-1].name == "v4998"


# --- the route, with a real kernel -------------------------------------------------------


async def asked_for(site: Site, notebook: str = "a.ipynb") -> Any:
    return await site.get("names", params={"notebook": notebook})


async def test_a_window_gets_names_and_no_values(
    site: Site, tmp_path: Path, api: FakeAnthropic
) -> None:
    (Path(site.app.root_dir) / "sales.csv").write_text("a,b\n")
    book = notebook("token = 'horse'", "x = 20")
    book["cells"][0]["metadata"]["tags"] = ["codeinterp-private"]
    kernel_id = await site.kernel()
    await site.window("a.ipynb", book, kernel_id)
    await site.guarded(kernel_id)
    person = await site.watch(kernel_id)
    await person.run("token = 'horse'; few = ['horse'] * 3")
    found = await asked_for(site)
    few = {"name": "few", "type": "list", "shape": [3], "columns": []}
    assert few in found["variables"]
    assert {"name": "sales.csv", "size": 4} in found["files"]
    assert found["earlier"] is False
    assert "horse" not in json.dumps(found)
    # Its name is left out once a conversation has seen the private cell.
    api.play(in_order([answer(text("Done."))]))
    w = await site.window("a.ipynb", book, kernel_id)
    await w.ask("Go")
    await w.ended()
    assert [one["name"] for one in (await asked_for(site))["variables"]] == ["few"]
    # A busy kernel is not waited for.
    gate = Gate(tmp_path / "open")
    running = asyncio.ensure_future(person.run(gate.source))
    await site.until(lambda: site.extension.workbench._kernels.get(kernel_id)[0].busy)
    assert (await asked_for(site))["variables"][0]["name"] == "few"
    gate.open()
    await running


async def test_no_kernel_is_started_and_no_other_folder_looked_into(site: Site) -> None:
    for path in ("a.ipynb", "../../etc/a.ipynb", "nowhere/a.ipynb"):
        found = await asked_for(site, path)
        assert found["variables"] == []
        assert all("passwd" not in one["name"] for one in found["files"])
    assert site.app.kernel_manager.list_kernel_ids() == []
    assert (await asked_for(site, ""))["code"] == "malformed"
