"""``%%ai`` and ``%ai``: magics that mark a cell as a prompt for the conversation of its notebook.

They run nothing and ask no model. When a person runs such a cell in a page with the panel, the page
sends the cell's source as a message (``src/notebook/runs/prompt-cells.ts``). The output only tells
the page that these magics ran, and not another package's: code can make any output.
"""

from __future__ import annotations

import re
from typing import Any

from IPython.core.magic import no_var_expand
from IPython.display import publish_display_data

NAME = "ai"
PROMPT = "application/vnd.jupyter-codeinterp.prompt+json"
"""The MIME type in the output of a prompt."""
SHOWN = "A prompt for the Code Interpreter panel. Elsewhere: jupyter codeinterp chat NOTEBOOK"
USAGE = "Write the question after %ai in the first line of a cell, or below %%ai."


@no_var_expand
def ai(line: str, cell: str = "") -> None:
    """Send the text below ``%%ai``, or behind ``%ai``, to the Code Interpreter panel."""
    if f"{line}{cell}".strip():
        publish_display_data({"text/plain": SHOWN, PROMPT: {}})  # type: ignore[no-untyped-call]
    else:
        print(USAGE)


def load(shell: Any) -> None:
    unload(shell)
    shell.register_magic_function(ai, "line_cell", NAME)
    shell.input_transformers_cleanup.append(_as_prompt)


def unload(shell: Any) -> None:
    """Remove the magics, unless another package has replaced them."""
    transformers = shell.input_transformers_cleanup
    if _as_prompt in transformers:
        transformers.remove(_as_prompt)
    for kind in ("line", "cell"):
        magics = shell.magics_manager.magics[kind]
        if magics.get(NAME) is ai:
            del magics[NAME]


_ALONE = re.compile(r"%%ai(?:\s|$)")
_QUESTION = re.compile(r"%ai[ \t]+(\S.*\?)\s*")


def _as_prompt(lines: list[str]) -> list[str]:
    """Prepare a prompt for IPython, which requires a line below ``%%ai``, and takes the question
    mark behind ``%ai`` for a request for help."""
    if len(lines) == 1 and _ALONE.match(lines[0]):
        return [*lines, "\n"]
    if asked := _QUESTION.fullmatch(lines[0]):
        return [f"get_ipython().run_line_magic({NAME!r}, {asked[1]!r})\n", *lines[1:]]
    return lines


# A terminal skips this transformer when it checks for complete input, so it asks for more lines.
_as_prompt.has_side_effects = True  # type: ignore[attr-defined]
