"""Rules of a person's: code like a cell that they saw runs without asking.

A rule names files and packages. Code matches if it reads no other files, imports no other packages
and has no label. Code that could do more by a name that nobody can follow never matches.
"""

from __future__ import annotations

import ast
import builtins
import posixpath
import re
from collections.abc import Collection, Iterable
from typing import Union

import msgspec

from ..checks.shared.source import Source, dotted, parsed
from ..labels import Rule
from . import reach
from .labelling import Reader, labels

MOST = 20
"""Files, or packages, of a rule."""
LONGEST = 200
"""Characters of one of them."""

_NAMES = """
    abs all any bool bytes chr dict divmod enumerate filter float format frozenset hash hex int
    isinstance issubclass iter len list map max min next oct ord pow print range repr reversed round
    set slice sorted str sum tuple zip display
"""
_HARMLESS = frozenset(_NAMES.split())
"""Functions that need no import."""
_READS = (reach.READS | reach.OF_PATHS) - {
    *("read_hdf", "read_sql", "read_sql_query", "read_sql_table", "memmap", "open_zarr"),
}
"""Methods that only read, and whose path the labels know."""
_REFUSED_NAMES = frozenset(("memmap", "allow_pickle"))
_EFFECTS = re.compile(
    r"(?:save|write|dump|export|upload|download|send|post|put|push|publish|submit|fetch|request"
    r"|connect|execute|run|install|remove_|delete|unlink|rename|spawn|fork|kill|popen|load|read"
    r"|open|scan|import|eval|exec|call|apply_async|start|register|set_|add_|hook|patch|pipe)"
)
"""How names of methods begin that may do more, unless ``reach`` knows what they read."""
_REFUSED = (
    *(ast.ClassDef, ast.AsyncFunctionDef, ast.Await, ast.Global, ast.Nonlocal, ast.Delete),
    *(ast.AsyncWith, ast.While, ast.Yield, ast.YieldFrom),
)
"""Kinds of code that no rule is for."""


class Reach(msgspec.Struct, frozen=True):
    """All that a piece of code reads and imports."""

    files: tuple[str, ...]
    imports: tuple[str, ...]


def reach_of(
    source: str, language: str, theirs: Collection[str] = (), modules: Collection[str] = ()
) -> Union[Reach, None]:
    """What code reads and imports; None if no rule can be for it. ``theirs`` are the person's
    variables, ``modules`` files next to the notebook. Never raises."""
    if "://" in source or any(line.lstrip()[:1] in ("%", "!") for line in source.split("\n")):
        return None
    if labels(source, language, theirs, modules):
        return None
    read = parsed(source) if source.strip() else None
    if read is None or not _is_plain(read):
        return None
    reader = Reader(read, frozenset(modules))
    for _ in reader.found():
        return None
    files = sorted({posixpath.normpath(path) for path in reader.files})
    imports = sorted(set(_imports(read.nodes)))
    names = (*files, *imports)
    if max(len(files), len(imports)) > MOST or not all(map(_is_readable, names)):
        return None
    return Reach(tuple(files), tuple(imports))


def _is_readable(name: str) -> bool:
    return len(name) <= LONGEST and name.isprintable()


def matching(rules: Iterable[Rule], found: Reach) -> Union[Rule, None]:
    """The first rule that allows this."""
    for rule in rules:
        if rule.tool:
            continue  # It is for a tool, and lets no code run.
        if set(found.files) <= set(rule.files) and set(found.imports) <= set(rule.imports):
            return rule
    return None


def _imports(nodes: Iterable[ast.AST]) -> Iterable[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def _is_plain(read: Source) -> bool:
    """Whether each call goes to a name that says what it is."""
    known = set(_HARMLESS) | {"open"}
    for node in read.nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.FunctionDef):
            known.add(node.name)
    stored = {
        node.id
        for node in read.nodes
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
    }
    # A known name that is given another meaning is not known any more.
    return not (known & stored) and all(_is_harmless(node, read, known) for node in read.nodes)


def _is_harmless(node: ast.AST, read: Source, known: Collection[str]) -> bool:
    if isinstance(node, _REFUSED):
        return False
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list and not hasattr(builtins, node.name)
    if isinstance(node, ast.With):
        return all(isinstance(item.context_expr, ast.Call) for item in node.items)
    if isinstance(node, ast.Name):
        return _is_harmless_name(node, read, known)
    if isinstance(node, ast.Attribute):
        loads = isinstance(node.ctx, ast.Load)
        return loads and not node.attr.startswith("_")
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return isinstance(node.value, ast.Name)
    if isinstance(node, ast.Call):
        return _is_harmless_call(node, known)
    return True


def _is_harmless_name(node: ast.Name, read: Source, known: Collection[str]) -> bool:
    if node.id.startswith("__"):
        return False
    if not hasattr(builtins, node.id) or node.id in _HARMLESS:
        return True
    parent = read.parents.get(node)
    is_called = isinstance(parent, ast.Call) and parent.func is node
    # Names such as ``ValueError`` and ``NotImplemented`` do nothing.
    return (node.id == "open" and is_called) or node.id[0].isupper()


def _is_harmless_call(call: ast.Call, known: Collection[str]) -> bool:
    function = call.func
    if isinstance(function, ast.Name):
        is_known = function.id in ("open", *_HARMLESS) or function.id in _READS
        return function.id in known and (is_known or not _EFFECTS.match(function.id))
    if not isinstance(function, ast.Attribute):
        return False
    name = function.attr
    if dotted(function) in ("json.load", "json.loads"):
        return "json" in known
    if name in _REFUSED_NAMES or any(one.arg in _REFUSED_NAMES for one in call.keywords):
        return False
    return name in _READS or name in _PLAIN_METHODS or not _EFFECTS.match(name)


_METHODS = """
    set_index set_axis set_title set_xlabel set_ylabel set_xlim set_ylim set_xticks set_yticks
    set_xticklabels set_yticklabels add_prefix add_suffix add_subplot add_patch set_categories
    remove read readline readlines startswith removeprefix removesuffix
"""
_PLAIN_METHODS = frozenset(_METHODS.split())
"""Methods of tables and plots whose names begin like others."""
