"""The code stands in rooms, one a folder: none is crowded, and no two know each other in a circle.

A file beside rooms (`src/tokens.ts`, `api.py`) counts as a room of its own. Otherwise its imports
would make a circle of all the rooms around it.
"""

from __future__ import annotations

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST = 12
"""Files in a room, tests and generated ones left out."""
LONGEST_CLASS, LONGEST_FUNCTION = 350, 60
"""Lines, comments and docstrings included."""
GENERATED = {"__init__.py", "_version.py", "protocol.ts", "formula-names.ts"}
VERSION = ROOT / "jupyter_codeinterp" / "__init__.py"
"""The way in, which knows the server extension; what asks here asks for the version."""
IMPORTED = re.compile(r"""\b(?:from|import)\s*\(?\s*'(\.[^']*)'""")


def _files(root: Path, *suffixes: str) -> list[Path]:
    left_out = {"__tests__", "__pycache__", "labextension"}
    found = (path for path in root.rglob("*") if path.suffix in suffixes)
    return sorted(path for path in found if not left_out.intersection(path.parts))


SOURCES = {
    "src": _files(ROOT / "src", ".ts", ".tsx"),
    "jupyter_codeinterp": _files(ROOT / "jupyter_codeinterp", ".py"),
}


@pytest.mark.parametrize("root", SOURCES)
def test_no_room_is_crowded(root: str) -> None:
    rooms: dict[Path, list[str]] = {}
    for path in SOURCES[root]:
        if path.name not in GENERATED:
            rooms.setdefault(path.parent.relative_to(ROOT), []).append(path.name)
    assert len(rooms) > 1
    assert not {str(room): len(names) for room, names in rooms.items() if len(names) > MOST}


@pytest.mark.parametrize("root", SOURCES)
def test_no_two_rooms_know_each_other_in_a_circle(root: str) -> None:
    graph: dict[str, set[str]] = {}
    for path in SOURCES[root]:
        imported = _typescript(path) if root == "src" else _python(path)
        known = {_room(other) for other in imported if other != VERSION}
        graph.setdefault(_room(path), set()).update(known - {_room(path)})
    assert any(graph.values()), "no imports were found"
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(reversed(error.args[1])))


def test_no_two_classes_share_a_name() -> None:
    classes = Counter(
        node.name
        for path in SOURCES["jupyter_codeinterp"]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    )
    # Jupyter names a section of its configuration by the class, also without a server.
    assert [name for name, number in classes.items() if number > 1] == ["CodeInterp"]


def test_no_class_and_no_function_is_long() -> None:
    sizes: dict[str, int] = {}
    for path in SOURCES["jupyter_codeinterp"]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or 0) - node.lineno + 1
                most = LONGEST_CLASS if isinstance(node, ast.ClassDef) else LONGEST_FUNCTION
                sizes[f"{path.name} {node.name}"] = lines - most
    assert sizes
    assert {name: over for name, over in sizes.items() if over > 0} == {}


def _room(path: Path) -> str:
    """The folder, or the file itself where it stands beside rooms at the top."""
    package = ROOT / "jupyter_codeinterp"
    beside = path.parent in (ROOT / "src", package, package / "server")
    return (path if beside else path.parent).relative_to(ROOT).as_posix()


def _typescript(path: Path) -> Iterator[Path]:
    for name in IMPORTED.findall(path.read_text(encoding="utf-8")):
        if name.endswith(".css"):
            continue
        stem = os.path.normpath(path.parent / name)
        found = [Path(f"{stem}{end}") for end in (".ts", ".tsx", "/index.ts")]
        yield next(file for file in found if file.is_file())


def _python(path: Path) -> Iterator[Path]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [ROOT.joinpath(*alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            start = path.parents[node.level - 1] if node.level else ROOT
            module = start.joinpath(*(node.module or "").split("."))
            modules = [module, *(module / alias.name for alias in node.names)]
        else:
            continue
        files = (
            file for module in modules for file in (Path(f"{module}.py"), module / "__init__.py")
        )
        yield from filter(Path.is_file, files)
