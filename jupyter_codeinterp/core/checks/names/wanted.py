"""What a cell uses of the names that it does not define: attributes and arguments.

It leaves out what may be defined in a way that the code alone does not show, and code that may
not run: branches, what ``try`` covers, functions that nobody calls.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TypeVar

import msgspec

from ...cell_code.cell_names import BRING_ANY, bound_by
from ...cell_code.parsing import base
from ...findings import Place
from ..shared.source import Source, is_true

Node = TypeVar("Node", bound=ast.AST)

MOST = 60
DEFINES = {*BRING_ANY, "eval", "locals", "vars", "setattr", "run_cell"}
"""Names of functions with which code may define any name."""
HARMLESS_MAGICS = ("%matplotlib", "%config", "%%time", "%time ", "!")
AUTOMAGICS = {"cd", "dirs", "env", "hist", "history", "ll", "ls", "lsmagic", "magic", "pwd", "who",
              "whos"}  # fmt: skip
ONLY_LOOK = {"print", "len", "display", "list", "type", "isinstance", "repr", "str", "sorted"}


class Wanted(msgspec.Struct, frozen=True):
    """``root`` is a variable's name, or with ``module`` that of a module. ``text`` is the code."""

    root: str
    module: bool = False
    path: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    text: str = ""
    place: Place | None = None


class Needs(msgspec.Struct, frozen=True):
    """``imports`` are the modules that the cell imports."""

    wanted: tuple[Wanted, ...] = ()
    imports: tuple[str, ...] = ()


def needs(code: str, source: Source) -> Needs:
    if not _is_plain(code, source):
        return Needs()
    imports = [name for node in source.nodes for name in _modules(node)]
    found = {(one.root, one.path, one.keywords): one for one in reversed([*_Reader(source).read()])}
    wanted = tuple(reversed(list(found.values())))[:MOST]
    return Needs(wanted, tuple(dict.fromkeys(imports))[:MOST])


def _is_plain(code: str, source: Source) -> bool:
    """Whether the code shows all names that it defines."""
    for line in code.split("\n"):
        if line.lstrip().startswith("%") and not line.lstrip().startswith(HARMLESS_MAGICS):
            return False
    if DEFINES & source.names.keys() or DEFINES & {n.attr for n in _of(source, ast.Attribute)}:
        return False
    stars = (alias.name == "*" for alias in _of(source, ast.alias))
    futures = (node.module == "__future__" for node in _of(source, ast.ImportFrom))
    return not any(stars) and not any(futures)


def _of(source: Source, kind: type[Node]) -> Iterator[Node]:
    return (node for node in source.nodes if isinstance(node, kind))


def _modules(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield node.module


class _Reader:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.bound = Counter(
            name for node in source.nodes for name in (*bound_by(node), *_shared(node))
        )
        self.words = {
            node.value
            for node in source.nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }
        """Texts in the code. A column, or an accessor, may come from one."""
        stored = [n for n in source.nodes if isinstance(n, (ast.Attribute, ast.Subscript))]
        stored = [node for node in stored if not isinstance(node.ctx, ast.Load)]
        self.words |= {node.attr for node in stored if isinstance(node, ast.Attribute)}
        self.changed = set(map(base, filter(_may_add, stored)))
        for node in source.nodes:
            if isinstance(node, ast.Call):
                self.changed |= self._changed_by(node)
        self.extends = any(
            isinstance(node, ast.Attribute) and node.attr == "pandas" for node in source.nodes
        )
        """Whether it calls something like ``tqdm.pandas()``, which adds methods."""
        self.suppressing = {
            node
            for node in source.nodes
            if isinstance(node, (ast.With, ast.AsyncWith))
            if any("suppress" in ast.unparse(item.context_expr) for item in node.items)
        }
        self.origins = {name: origin for node in source.nodes for name, origin in _origins(node)}

    def _changed_by(self, call: ast.Call) -> set[str]:
        """Tables that a call may add columns to."""
        if any(word.arg == "inplace" and is_true(word.value) for word in call.keywords):
            return {base(call)}
        plain = isinstance(call.func, ast.Name) and call.func.id not in ONLY_LOOK
        return {arg.id for arg in call.args if isinstance(arg, ast.Name)} if plain else set()

    def read(self) -> Iterator[Wanted]:
        for node in self.source.nodes:
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                if self._runs(node):
                    for alias in node.names:
                        words = f"from {node.module} import {alias.name}"
                        place = self.source.place(node)
                        yield Wanted(node.module, True, (alias.name,), (), words, place)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                wanted = self._of_name(node)
                if wanted is not None and self._runs(node):
                    yield wanted

    def _of_name(self, node: ast.Name) -> Wanted | None:
        name = node.id
        path, keywords, whole = self._use(node)
        if self.extends or self.words & set(path):
            path, keywords = (), ()
        place = self.source.place(whole)
        text = self.source.text(whole)
        if name in self.origins:
            module, first = self.origins[name]
            if self.bound[name] != 1 or (not path and not keywords):
                return None
            return Wanted(module, True, (*first, *path), keywords, text, place)
        if self.bound[name]:
            return None
        parent = self.source.parents.get(node)
        if isinstance(parent, ast.Expr) and name in AUTOMAGICS:
            return None
        if name in self.changed:
            path, keywords = (), ()
        return Wanted(name, False, path, keywords, text, place)

    def _use(self, node: ast.expr) -> tuple[tuple[str, ...], tuple[str, ...], ast.expr]:
        """The attributes read of a name, the arguments of the call, and the whole expression."""
        path: list[str] = []
        parent = self.source.parents.get(node)
        while isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Load):
            path.append(parent.attr)
            node, parent = parent, self.source.parents.get(parent)
        keywords: tuple[str, ...] = ()
        if isinstance(parent, ast.Call) and parent.func is node:
            keywords = tuple(word.arg for word in parent.keywords if word.arg)
        return tuple(path), keywords, node

    def _runs(self, node: ast.AST) -> bool:
        """Whether it certainly runs, if all before it does."""
        parent = self.source.parents.get(node)
        while parent is not None:
            if self._may_skip(parent, node):
                return False
            node, parent = parent, self.source.parents.get(parent)
        return True

    def _may_skip(self, parent: ast.AST, node: ast.AST) -> bool:
        """Whether ``parent`` may leave out this part of itself, or deal with its errors."""
        if isinstance(parent, (ast.If, ast.IfExp)):
            return node is not parent.test
        if isinstance(parent, (ast.With, ast.AsyncWith)):
            return parent in self.suppressing
        if isinstance(parent, (ast.FunctionDef, ast.AsyncFunctionDef)):
            return isinstance(node, ast.stmt) and parent.name not in self.source.names
        return isinstance(parent, ast.Try) and bool(parent.handlers)


def _may_add(node: ast.Attribute | ast.Subscript) -> bool:
    """Whether an assignment may add columns that no text in the code names."""
    return isinstance(node, ast.Attribute) or not isinstance(node.slice, ast.Constant)


def _shared(node: ast.AST) -> list[str]:
    return node.names if isinstance(node, (ast.Global, ast.Nonlocal)) else []


def _origins(node: ast.AST) -> Iterator[tuple[str, tuple[str, tuple[str, ...]]]]:
    """The module, and what of it, that an import gives a name."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            whole = alias.name if alias.asname else alias.name.split(".")[0]
            yield alias.asname or whole, (whole, ())
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        for alias in node.names:
            yield alias.asname or alias.name, (node.module, (alias.name,))
