"""The tools that a model may call. Add one with a line in ``BUILT_IN``, or from another package
with the entry-point group ``jupyter_codeinterp.tools``.
"""

from __future__ import annotations

from .built_in.add_markdown import ADD_MARKDOWN
from .built_in.arrange import DELETE_CELL, MOVE_CELL
from .built_in.ask_user import ASK_USER
from .built_in.edit_cell import EDIT_CELL
from .built_in.inspect_variables import INSPECT_VARIABLES
from .built_in.kernel import KERNEL
from .built_in.read_notebook import READ_NOTEBOOK
from .built_in.read_output import READ_OUTPUT, READ_SKILL
from .built_in.run_cell import RUN_CELL, SCRATCH
from .built_in.run_cells import RUN_CELLS
from .built_in.verify import VERIFY
from .shared.base import ToolRegistry

BUILT_IN = (
    RUN_CELL,
    RUN_CELLS,
    EDIT_CELL,
    SCRATCH,
    ADD_MARKDOWN,
    MOVE_CELL,
    DELETE_CELL,
    READ_NOTEBOOK,
    READ_OUTPUT,
    READ_SKILL,
    INSPECT_VARIABLES,
    KERNEL,
    VERIFY,
    ASK_USER,
)


def built_in_tools() -> ToolRegistry:
    return ToolRegistry(BUILT_IN)
