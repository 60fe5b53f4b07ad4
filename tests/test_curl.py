"""docs/headless.sh, as somebody uses it who has curl and no browser."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import nbformat

from tests.fake_anthropic import FakeAnthropic, answer, in_order, run_cell, text
from tests.reference_window import notebook
from tests.site import Site

SCRIPT = Path(__file__).parent.parent / "docs" / "headless.sh"
CELLS = ("a = 20", "b = a + 1", "print(b * 2)")


async def script(site: Site, *arguments: str) -> tuple[int, str]:
    process = await asyncio.create_subprocess_exec(
        "bash",
        str(SCRIPT),
        site.url,
        *arguments,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, said.decode()


async def test_three_cells_by_curl(site: Site, api: FakeAnthropic, jp_root_dir: Path) -> None:
    api.play(in_order([*(answer(run_cell(source)) for source in CELLS), answer(text("It is 42."))]))
    file = jp_root_dir / "a b.ipynb"
    file.write_text(json.dumps(notebook("import math")))
    token = site.app.identity_provider.token
    code, said = await script(site, token, "a b.ipynb", "What is it?", "--yes")
    assert code == 0, said
    assert said.endswith("It is 42.\n") and said.count(": ok ") == 3
    book = nbformat.read(file, as_version=4)
    assert [cell.source for cell in book.cells] == ["import math", *CELLS]
    assert book.cells[3].outputs[0].text == "42\n"


async def test_a_notebook_that_is_not_there_by_curl(site: Site) -> None:
    token = site.app.identity_provider.token
    code, said = await script(site, token, "none.ipynb", "What is it?", "--yes")
    assert code == 1 and "No notebook 'none.ipynb'" in said


async def test_a_wrong_password_by_curl(site: Site) -> None:
    code, said = await script(site, "wrong", "none.ipynb", "What is it?", "--yes")
    assert (code, said) == (1, f"{site.url} does not accept this password or token.\n")


async def test_what_is_no_jupyter_server_by_curl(site: Site) -> None:
    site.url += "/nowhere"
    code, said = await script(site, "any", "none.ipynb", "What is it?", "--yes")
    assert code == 1 and "Check that it is a Jupyter server." in said, said
