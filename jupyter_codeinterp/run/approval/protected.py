"""Names that the person protects: whether code changes them, and whether a run did.

Only ``ast`` reads the code: before the run, changes by ``exec``, by a called function or through
another name of the same value are not seen. The kernel reports them after the run.
``tests/core/test_protected.py`` has the cases.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from ...base.sentences import Sentence
from ...cell_code.parsing import parse
from ...cell_code.source import PARSED, Source, is_true, keyword, parsed

CHANGES = Sentence("Changes the protected {names}.")
MAY_CHANGE = Sentence("This code cannot be read, and it names the protected {names}.")
MOST_SAID = 5
"""Names in a sentence."""
_ON_ITS_OWN = frozenset(
    (
        *("add", "append", "appendleft", "clear", "discard", "extend", "extendleft", "fill"),
        *("insert", "itemset", "move_to_end", "partition", "put", "remove", "resize", "reverse"),
        *("rotate", "setflags", "sort", "update"),
    )
)
"""Methods that change their object if the code does not use their result."""
_ALWAYS = frozenset(("pop", "popitem", "popleft", "setdefault", "__setitem__", "__delitem__"))
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_TIMED = ("%time ", "%prun ")
_CAPTURED = "%%capture"


def notices(source: str, language: str, names: tuple[str, ...]) -> tuple[Sentence, ...]:
    """Notices for a person who must decide on this code; () if it changes none of ``names``."""
    if not names or language.lower() != "python":
        return ()
    found = changed(source, names)
    if found is not None:
        return (Sentence(CHANGES, names=_listed(found)),) if found else ()
    named = [name for name in names if re.search(rf"\b{re.escape(name)}\b", source)]
    return (Sentence(MAY_CHANGE, names=_listed(named)),) if named else ()


def changed(source: str, names: tuple[str, ...]) -> list[str] | None:
    """Those of ``names`` that the code assigns or changes, in their order. None if it cannot be
    read."""
    lines = source.split("\n")
    text = "\n".join(map(_as_python, lines))
    read = parsed(text)
    if read is None or _asks_for_help(text):
        return None
    reader = ChangeReader(read, frozenset(names))
    words = lines[0].split() if source.startswith(_CAPTURED) else []
    found = {name for name in names if name in words} | reader.found
    return [name for name in names if name in found]


def _asks_for_help(text: str) -> bool:
    """Whether a line asks IPython for help, such as ``df?``."""
    if all(line.strip().strip("?") == line.strip() for line in text.split("\n")):
        return False
    found = parse(text, PARSED)
    return found is None or found[0] != text


def _as_python(line: str) -> str:
    """An assigning line of IPython, such as ``files = !ls`` or ``%time x = 1``, as Python."""
    code = line.lstrip()
    indent = line[: len(line) - len(code)]
    for magic in _TIMED:
        if code.startswith(magic):
            code = code[len(magic) :].lstrip()
    target, sign, value = code.partition("=")
    assigns = bool(sign) and value.lstrip().startswith(("!", "%"))
    return f"{indent}{target}= None" if assigns else f"{indent}{code}"


class ChangeReader:
    """Collects the names that code changes. Local names of functions, lambdas and comprehensions
    are other variables."""

    def __init__(self, source: Source, names: frozenset[str]) -> None:
        self.found: set[str] = set()
        self._names = names
        self._source = source
        self._same = _aliases(source, names)
        self._read(source.tree, frozenset())

    def _read(self, node: ast.AST, local: frozenset[str]) -> None:
        """``local``: names that are local variables here."""
        # A loop, not recursion: ``parsed`` bounds only the depth.
        waiting = [(node, local)]
        while waiting:
            node, local = waiting.pop()
            for name in self._changed_by(node):
                if name not in local:
                    self.found.add(name)
            inside = local
            if isinstance(node, _SCOPES):
                inside = (local | _own(node)) - _globals(node)
            elif isinstance(node, _COMPREHENSIONS):
                targets = (part.target for part in node.generators)
                inside = local | {name for target in targets for name in _bound(target)}
            waiting += ((child, inside) for child in ast.iter_child_nodes(node))

    def _changed_by(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.comprehension):
            return
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield from self._rebound(node)
        elif isinstance(node, (ast.Subscript, ast.Attribute)) and not isinstance(
            node.ctx, ast.Load
        ):
            yield from self._of(node.value)
            yield from self._in_namespace(node)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield from self._named(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield from self._named(alias.asname or alias.name.partition(".")[0])
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield from self._named(node.name)
        elif isinstance(node, ast.Call):
            yield from self._called(node)
        else:
            # Captures of ``match``.
            for field in ("name", "rest"):
                name = getattr(node, field, None)
                if type(node).__name__.startswith("Match") and isinstance(name, str):
                    yield from self._named(name)

    def _rebound(self, node: ast.Name) -> Iterator[str]:
        parent = self._source.parents.get(node)
        only_typed = isinstance(parent, ast.AnnAssign) and parent.value is None
        if not only_typed:
            yield from self._named(node.id)
        if isinstance(parent, ast.AugAssign):
            # ``rows += [1]`` changes a list in place, under all its names.
            yield from self._same.get(node.id, ())

    def _called(self, call: ast.Call) -> Iterator[str]:
        function = call.func
        if isinstance(function, ast.Name) and function.id in ("setattr", "delattr"):
            yield from self._of(call.args[0]) if call.args else ()
        if not isinstance(function, ast.Attribute):
            return
        alone = isinstance(self._source.parents.get(call), ast.Expr)
        changes = function.attr in _ALWAYS or (alone and function.attr in _ON_ITS_OWN)
        if changes or is_true(keyword(call, "inplace")):
            yield from self._of(function.value)

    def _of(self, node: ast.expr) -> Iterator[str]:
        """The variable that the expression reads, in whole or in part."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            node = node.value
        if isinstance(node, ast.Name):
            yield from self._named(node.id)
            yield from self._same.get(node.id, ())

    def _in_namespace(self, node: ast.Subscript | ast.Attribute) -> Iterator[str]:
        """``globals()["df"] = …``"""
        if (
            isinstance(node, ast.Subscript)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id in ("globals", "locals", "vars")
            and isinstance(node.slice, ast.Constant)
            and isinstance(node.slice.value, str)
        ):
            yield from self._named(node.slice.value)

    def _named(self, name: str) -> Iterator[str]:
        if name in self._names:
            yield name


def _aliases(source: Source, names: frozenset[str]) -> dict[str, list[str]]:
    """Other names that the code gives to a protected value (``x = df``)."""
    found: dict[str, list[str]] = {}
    for node in source.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            for target in node.targets:
                if isinstance(target, ast.Name) and node.value.id in names:
                    found.setdefault(target.id, []).append(node.value.id)
    return found


def _own(scope: ast.AST) -> frozenset[str]:
    """The local names of a scope: its parameters and what its body assigns."""
    found: set[str] = set()
    if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        given = scope.args
        every = (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg)
        found.update(one.arg for one in every if one is not None)
    for node in _inside(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            found.add(node.id)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(alias.asname or alias.name.partition(".")[0] for alias in node.names)
    return frozenset(found)


def _globals(scope: ast.AST) -> frozenset[str]:
    """The names that a scope takes from the notebook with ``global``."""
    found = (node.names for node in _inside(scope) if isinstance(node, ast.Global))
    return frozenset(name for names in found for name in names)


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a scope without those of inner scopes."""
    body = scope.body if isinstance(getattr(scope, "body", None), list) else ()  # type: ignore[attr-defined]
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _SCOPES):
            waiting += ast.iter_child_nodes(node)


def _bound(target: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))


def _listed(names: list[str]) -> str:
    """The names in backticks, as in "df, x and 2 more"."""
    shown = [f"`{name}`" for name in names[:MOST_SAID]]
    more = len(names) - len(shown)
    if more:
        return Sentence("{names} and {more} more", names=", ".join(shown), more=more)
    if len(shown) < 2:
        return "".join(shown)
    return Sentence("{names} and {last}", names=", ".join(shown[:-1]), last=shown[-1])
