"""``%%ai`` and ``%ai`` in a real kernel and a real IPython: they mark prompts, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_codeinterp.magic import PROMPT, SHOWN, USAGE

LOAD = "%load_ext jupyter_codeinterp"
OTHERS = """\
from IPython.core.magic import register_cell_magic
@register_cell_magic
def ai(line, cell):
    print('from another package')"""


async def run(*cells: str) -> list[Any]:
    """The outputs of each cell, in a new kernel that has loaded the extension."""
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(source) for source in (LOAD, *cells)]
    client = NotebookClient(book, timeout=60, kernel_name="python3", allow_errors=True)
    await client.async_execute()
    nbformat.validate(book)
    return [cell["outputs"] for cell in book.cells[1:]]


@pytest.mark.parametrize(
    "prompt",
    ["%%ai\nadd {x} and $y", "%%ai add", "%ai add", "%ai what is a monoid?", "\n%ai why?\nx = 1"],
)
async def test_a_prompt_is_marked_and_nothing_else_happens(prompt: str) -> None:
    code = "sorted(n for n in dir() if n[0] not in '_x')"
    [shown], [names] = await run(prompt, code)
    assert shown["output_type"] == "display_data"
    assert shown["data"] == {"text/plain": SHOWN, PROMPT: {}}
    assert names["data"]["text/plain"] == "['In', 'Out', 'exit', 'get_ipython', 'open', 'quit']"


@pytest.mark.parametrize("prompt", ["%%ai", "%%ai\n \n", "%ai"])
async def test_an_empty_prompt_shows_the_usage(prompt: str) -> None:
    [[shown]] = await run(prompt)
    assert shown["text"] == f"{USAGE}\n"


async def test_the_magic_of_another_package_is_left_alone() -> None:
    _, [theirs], _, [still] = await run(
        OTHERS, "%%ai\nadd", "%unload_ext jupyter_codeinterp", "%%ai\nadd"
    )
    assert theirs["text"] == still["text"] == "from another package\n"


async def test_the_magics_go_with_the_extension() -> None:
    _, cell, line = await run("%unload_ext jupyter_codeinterp", "%%ai\nadd", "%ai add")
    assert "`%%ai` not found" in str(cell)
    assert "`%ai` not found" in str(line)


def test_a_terminal_shows_what_to_use_instead() -> None:
    code = f"get_ipython().run_line_magic('load_ext', '{LOAD.split()[1]}')\n"
    code += "get_ipython().run_line_magic('ai', 'add')"
    command = [sys.executable, "-m", "IPython", "--no-banner", "--colors=NoColor", "-c", code]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout.strip() == SHOWN


def test_loading_the_extension_imports_nothing_but_ipython() -> None:
    code = (
        "import sys, IPython, IPython.display; before = set(sys.modules)\n"
        "import jupyter_codeinterp.magic\n"
        "print(sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    ours = ["jupyter_codeinterp", "jupyter_codeinterp.magic"]
    assert ran.stdout.strip() == str(ours)
