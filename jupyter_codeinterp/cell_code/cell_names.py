"""The names that a cell reads, binds, imports and changes, found without running it.

In doubt a name is left out. A cell that does not parse as Python, is too long or is nested too
deep has no names.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import lru_cache

import msgspec

from .parsing import base, parse

PARSED = 10_000
"""Characters of a cell, parsed in at most about 30 ms. A longer cell has no names."""

_LISTS = ("append", "extend", "insert", "remove", "sort", "reverse", "appendleft", "extendleft")
_CHANGE = frozenset((*_LISTS, "update", "add", "discard", "clear", "fill"))
"""Methods that change their object if their result is unused; pandas and others have methods of
these names that return a copy."""
_ALWAYS_CHANGE = frozenset(("pop", "popitem", "setdefault", "fit", "partial_fit", "fit_transform"))

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_PATTERNS = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
_NAMED = (*_FUNCTIONS, ast.ClassDef, *_PATTERNS)


class Function(msgspec.Struct, frozen=True):
    """The global names that a call of the function may read and change."""

    reads: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()


class Names(msgspec.Struct, frozen=True):
    """The names in a cell. ``reads``: needed before it runs. ``binds``: names that it assigns,
    imports, defines or deletes at the top level. ``changes``: objects that it changes in place,
    such as ``df`` in ``df["x"] = 1``. ``functions``: functions and classes that it defines.
    ``imports``: imported names, with what they import. ``deletes``: bound names that are deleted
    at its end."""

    reads: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    functions: dict[str, Function] = {}
    imports: dict[str, str] = {}
    deletes: frozenset[str] = frozenset()

    @property
    def defines(self) -> frozenset[str]:
        """Names that exist after the run with a value from this cell."""
        return self.binds - self.deletes


@lru_cache(maxsize=5_000)
def names_of(source: str) -> Names:
    """The names of a cell's source."""
    found = parse(source, PARSED)
    return Names() if found is None else _Reader().read(found[1].body)


def is_plain(source: str) -> bool:
    """Whether the source parses as Python without magics."""
    found = parse(source, PARSED)
    return found is not None and found[0] == source


class _Reader:
    def __init__(self) -> None:
        self._reads: set[str] = set()
        self._binds: set[str] = set()
        self._deletes: set[str] = set()
        self._changes: set[str] = set()
        self._functions: dict[str, Function] = {}
        self._imports: dict[str, str] = {}

    def read(self, statements: Iterable[ast.stmt]) -> Names:
        self._statements(statements)
        return Names(
            frozenset(self._reads),
            frozenset(self._binds),
            frozenset(self._changes),
            self._functions,
            self._imports,
            frozenset(self._deletes),
        )

    def _statements(self, statements: Iterable[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, _FUNCTIONS):
            self._function(node)
        elif isinstance(node, ast.ClassDef):
            self._class(node)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            self._import(node)
        elif isinstance(node, ast.Assign):
            self._expression(node.value)
            for target in node.targets:
                self._target(target)
        elif isinstance(node, ast.AugAssign):
            self._expression(node.value)
            if isinstance(node.target, ast.Name):
                self._load(node.target.id)
            self._target(node.target)
        elif isinstance(node, ast.AnnAssign):
            self._expression(node.annotation)
            if node.value is not None:
                self._expression(node.value)
                self._target(node.target)
        elif isinstance(node, ast.Delete):
            for target in node.targets:
                self._target(target)
                if isinstance(target, ast.Name):
                    self._deletes.add(target.id)
        elif isinstance(node, ast.Expr):
            self._expression(node.value, unused=True)
        else:
            self._parts(node)

    def _parts(self, node: ast.AST) -> None:
        """Read any other node's expressions and statements in the order in which they run."""
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.stmt):
                self._statement(part)
            elif isinstance(part, (ast.Name, ast.Attribute, ast.Subscript, ast.Tuple, ast.List)):
                stores = not isinstance(part.ctx, ast.Load)
                (self._target if stores else self._expression)(part)
            elif isinstance(part, ast.expr):
                self._expression(part)
            else:
                if isinstance(part, (*_PATTERNS, ast.MatchMapping)):
                    for name in bound_by(part):
                        self._bind(name)
                self._parts(part)
                if isinstance(part, ast.ExceptHandler) and part.name:
                    self._deletes.add(part.name)

    # --- definitions -----------------------------------------------------------------

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        defaults = [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        for expression in (*node.decorator_list, *defaults):
            self._expression(expression)
        self._bind(node.name)
        self._functions[node.name] = _function(node)

    def _class(self, node: ast.ClassDef) -> None:
        keywords = (one.value for one in node.keywords)
        for expression in (*node.decorator_list, *node.bases, *keywords):
            self._expression(expression)
        methods = [part for part in node.body if isinstance(part, _FUNCTIONS)]
        own = {name for part in node.body for name in _stored(part)}
        for part in node.body:
            if not isinstance(part, _FUNCTIONS):
                for name in _loaded(part) - own:
                    self._load(name)
        self._bind(node.name)
        each = [_function(method) for method in methods]
        self._functions[node.name] = Function(
            frozenset(name for one in each for name in one.reads),
            frozenset(name for one in each for name in one.changes),
        )

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if name == "*":
                continue
            self._bind(name)
            origin = _origin(node)
            # ``import a.b`` after ``import a`` binds the same module.
            path = alias.name if origin or alias.asname else name
            self._imports[name] = f"{origin} {path}"

    # --- expressions -----------------------------------------------------------------

    def _target(self, node: ast.expr) -> None:
        if isinstance(node, ast.Name):
            self._bind(node.id)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                self._target(part)
        elif isinstance(node, ast.Starred):
            self._target(node.value)
        else:
            self._expression(node)
            self._change(base(node))

    def _expression(self, node: ast.expr, *, unused: bool = False) -> None:
        """Read an expression. ``unused``: the code does not use its value."""
        if isinstance(node, ast.Name):
            self._load(node.id)
            return
        loaded: list[str] = []
        changed: list[str] = []
        walrus: list[str] = []
        inner: set[str] = set()
        for part in ast.walk(node):
            if isinstance(part, ast.Name):
                if isinstance(part.ctx, ast.Load):
                    loaded.append(part.id)
                else:
                    inner.add(part.id)
            elif isinstance(part, ast.Call):
                changed.extend(changed_by(part, unused=unused and part is node))
            elif isinstance(part, ast.arg):
                inner.add(part.arg)
            elif isinstance(part, ast.NamedExpr):
                walrus.append(part.target.id)
        inner.difference_update(walrus)
        for name in loaded:
            if name not in inner:
                self._load(name)
        self._changes.update(name for name in changed if name not in inner)
        for name in walrus:
            self._bind(name)

    def _load(self, name: str) -> None:
        if name not in self._binds:
            self._reads.add(name)

    def _bind(self, name: str) -> None:
        self._binds.add(name)
        self._deletes.discard(name)
        self._imports.pop(name, None)
        self._functions.pop(name, None)

    def _change(self, name: str) -> None:
        if name:
            self._changes.add(name)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef) -> Function:
    """The names that a call may read and change. Names bound anywhere inside count as local."""
    loaded: set[str] = set()
    stored = {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    shared: set[str] = set()
    changed: set[str] = set()
    for part in ast.walk(ast.Module(node.body, [])):
        if isinstance(part, ast.Name):
            (loaded if isinstance(part.ctx, ast.Load) else stored).add(part.id)
        elif isinstance(part, (ast.Global, ast.Nonlocal)):
            shared.update(part.names)
        elif isinstance(part, ast.Expr):
            if isinstance(part.value, ast.Call):
                changed.update(changed_by(part.value, unused=True))
        elif isinstance(part, ast.Call):
            changed.update(changed_by(part, unused=False))
        elif isinstance(part, (ast.Attribute, ast.Subscript)):
            if not isinstance(part.ctx, ast.Load):
                changed.add(base(part))
        else:
            stored.update(bound_by(part))
    own = stored - shared
    changes = (changed - own - {""}) | (stored & shared)
    return Function(frozenset(loaded - own), frozenset(changes))


def _loaded(node: ast.AST) -> set[str]:
    return {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def _stored(node: ast.AST) -> Iterator[str]:
    """The names bound in a node and its descendants."""
    for part in ast.walk(node):
        yield from bound_by(part)


def bound_by(node: ast.AST) -> tuple[str, ...]:
    """The names that a node itself binds or deletes."""
    if isinstance(node, ast.Name):
        return () if isinstance(node.ctx, ast.Load) else (node.id,)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, _NAMED):
        return (node.name,) if node.name else ()
    if isinstance(node, ast.MatchMapping):
        return (node.rest,) if node.rest else ()
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0],)
    return ()


def changed_by(call: ast.Call, *, unused: bool) -> Iterator[str]:
    """The variables that a call changes. ``unused``: the code does not use its result."""
    if not isinstance(call.func, ast.Attribute) or not (name := base(call.func)):
        return
    method = call.func.attr
    in_place = any(
        one.arg == "inplace" and isinstance(one.value, ast.Constant) and one.value.value is True
        for one in call.keywords
    )
    if in_place or method in _ALWAYS_CHANGE or (unused and method in _CHANGE):
        yield name


def _origin(node: ast.Import | ast.ImportFrom) -> str:
    return f"{'.' * node.level}{node.module or ''}" if isinstance(node, ast.ImportFrom) else ""
