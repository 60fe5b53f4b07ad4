"""Permission modes are rows of one table, and nothing outside its room knows one by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import get_args

from jupyter_codeinterp.run.approval import modes, policy
from jupyter_codeinterp.run.approval.modes import ASKING, BY_RANK, HIGHEST, MODES, RUN_ALL
from jupyter_codeinterp.wire.events import Mode

PACKAGE = Path(policy.__file__).parents[2]
ROOM = Path(policy.__file__).parent
FILES = [path for path in PACKAGE.rglob("*.py") if ROOM not in path.parents]


def test_the_table_has_every_mode_of_the_wire() -> None:
    assert set(MODES) == set(get_args(Mode))
    assert len({row.rank for row in MODES.values()}) == len(MODES)


def test_who_may_more_may_all_that_others_may() -> None:
    rows = [MODES[mode] for mode in BY_RANK]
    for lower, higher in pairwise(rows):
        assert lower.changes <= higher.changes and lower.unasked <= higher.unasked
    assert all(row.changes or not row.unasked for row in rows)


def test_what_the_table_says_today() -> None:
    assert BY_RANK == ("plan", "review", "auto")
    assert (HIGHEST, ASKING, RUN_ALL) == ("auto", "review", "auto")
    assert [modes.may_run_all(mode) for mode in BY_RANK] == [False, False, True]


# --- nobody else knows a mode by its name ------------------------------------------------


def decisions_on_modes(tree: ast.AST) -> Iterator[ast.AST]:
    """Where code goes another way for one mode than for another, or names one.

    To ask whether two modes are the same, and a default in a declaration that says it is a
    mode, is neither.
    """
    declared: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.annotation, ast.Name):
            if node.annotation.id == "Mode" and node.value is not None:
                declared.add(node.value)
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Literal":
            declared.update(ast.walk(node.slice))
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            named = [_is_a_mode(operand) for operand in operands]
            if any(named) and not all(named) and not any(map(_is_other_text, operands)):
                yield node
        elif isinstance(node, ast.Match):
            if _is_a_mode(node.subject):
                yield node
        elif isinstance(node, ast.Constant) and node.value in MODES and node not in declared:
            yield node


def _is_a_mode(node: ast.expr) -> bool:
    name: str = getattr(node, "id", "") or getattr(node, "attr", "")
    return name == "mode" or name.endswith("_mode")


def _is_other_text(node: ast.expr) -> bool:
    """A text that is no mode's name: so what it is compared with is no permission mode."""
    return isinstance(node, ast.Constant) and node.value not in MODES


OTHERS = {
    "models/openai/responses.py": '"auto"',
}
"""Where a word that is a mode's name means something else: `tool_choice`, how much there is to
be of a summary or of an image."""


def test_no_file_outside_the_room_decides_by_a_mode() -> None:
    assert len(FILES) > 200
    found: list[tuple[str, str]] = []
    for path in FILES:
        name = path.relative_to(PACKAGE).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        codes = (ast.unparse(node) for node in decisions_on_modes(tree))
        found += [(name, code) for code in codes if code.replace("'", '"') != OTHERS.get(name)]
    assert found == []
