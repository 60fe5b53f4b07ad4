"""Labels of code: what it may reach, as far as ``ast`` can read it.

Code that cannot be read has the label "not readable". Other code can still hide what it does: an
object of an earlier cell may do anything in a method of a harmless name.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from typing import cast

from ..approval import installs
from ..checks import protected
from ..checks.shared.source import Source, dotted, keyword, parsed
from ..labels import WORDS, Kind, Label
from . import paths, reach

LONGEST = 80
"""Characters of a line in a label."""
_MAGIC = re.compile(r"(\s*)(%%?|!!?)\s*(\w*)(.*)", re.DOTALL)
_TARGETS = re.compile(r"([ \t]*[\w., \t]{1,200}=)[ \t]*(?=[%!])")
_TIMED = ("time", "timeit", "prun")
_NAMED_GETS = frozenset(("getattr", "setattr", "delattr"))
_ATTRIBUTE_TEXTS = ("query", "eval")


def labels(
    source: str,
    language: str,
    theirs: Mapping[str, str] | Collection[str] = (),
    modules: Collection[str] = (),
    folder: str = "",
) -> tuple[Label, ...]:
    """The labels of a cell, the gravest first, one of each kind with its first line.

    ``theirs`` are the person's variables, with the import that defines each, if any. ``modules``
    are files next to the notebook, which an import would run. ``folder`` is the whole path of the
    notebook's folder; "" if unknown. Never raises.
    """
    if not source.strip():
        return ()
    lines = source.split("\n")
    if language.lower() != "python":
        return (_at("unreadable", 1, lines),)
    found = dict[Kind, int]()
    for kind, line in _found(source, lines, theirs, frozenset(modules), folder):
        found[kind] = min(line, found.get(kind, line))
    return tuple(_at(kind, found[kind], lines) for kind in WORDS if kind in found)


def _at(kind: Kind, line: int, lines: list[str]) -> Label:
    code = " ".join(lines[line - 1].split()) if line <= len(lines) else ""
    return Label(kind, line, code if len(code) <= LONGEST else f"{code[: LONGEST - 1]}\u2026")


def _found(
    source: str,
    lines: list[str],
    theirs: Mapping[str, str] | Collection[str],
    modules: frozenset[str],
    folder: str,
) -> Iterator[tuple[Kind, int]]:
    if installs.found_in(source, "python"):
        yield "installs", _first_line(lines, "pip", "conda", "mamba", "uv")
    plain, replaced = list(lines), list[int]()
    start = next(number for number, line in enumerate(lines) if line.strip())
    for number, line in enumerate(lines):
        python, said, ends = _without_magic(line, number == start)
        yield from ((kind, number + 1) for kind in said)
        if ends:
            return
        if python is not None:
            plain[number] = python
            replaced.append(number + 1)
    code = "\n".join(plain)
    read = None if any(line.lstrip()[:1] in ("%", "!") for line in plain) else parsed(code)
    # A line that only looks like a magic, within a string, would hide what follows it.
    begins = {node.lineno for node in read.nodes if isinstance(node, ast.stmt)} if read else ()
    if read is None or not all(number in begins for number in replaced if plain[number - 1]):
        yield "unreadable", 1
        return
    yield from Reader(read, modules, folder).found()
    changed = protected.changed(code, tuple(theirs))
    if changed is None:
        yield "unreadable", 1
    for name in changed or ():
        if not (isinstance(theirs, Mapping) and theirs[name] and _imports(read, theirs[name])):
            yield "changes", _line_of(read, name)


def _first_line(lines: list[str], *names: str) -> int:
    return next((n for n, line in enumerate(lines, 1) if any(name in line for name in names)), 1)


def _line_of(read: Source, name: str) -> int:
    places = read.names.get(name, ())
    stored = [place.lineno for place in places if not isinstance(place.ctx, ast.Load)]
    return min(stored or [place.lineno for place in places], default=1)


def _imports(read: Source, statement: str) -> bool:
    """Whether the code has the same import, which changes nothing."""
    nodes = (node for node in read.nodes if isinstance(node, (ast.Import, ast.ImportFrom)))
    return any(ast.unparse(node) == statement for node in nodes)


def _without_magic(line: str, first: bool) -> tuple[str | None, tuple[Kind, ...], bool]:
    """The Python that is left of a magic (None: the line is none), what the magic may do, and
    whether the rest of the cell is something else."""
    assigned = _TARGETS.match(line)
    match = _MAGIC.fullmatch(line[assigned.end() :] if assigned else line)
    if match is None:
        if line.lstrip().startswith("?") or re.fullmatch(r"\s*[\w.%*]+\?{1,2}\s*", line):
            return f"{line[: len(line) - len(line.lstrip())]}pass", (), False
        return None, (), False
    indent, sign, name, rest = match.groups()
    value = f"{assigned.group(1)} None" if assigned else f"{indent}pass"
    if sign == "%%":
        return _cell_magic(name, rest) if first and not assigned else (None, (), False)
    if sign.startswith("!") or name in ("system", "sx"):
        return value, ("processes",), False
    if name in _TIMED and not assigned:
        code = rest.strip()
        return (f"{indent}{code or 'pass'}", (), False) if code[:1] not in ("-", "%", "!") else (
            value,
            ("unreadable",),
            False,
        )  # fmt: skip
    if name in reach.PLAIN_MAGICS:
        return value, (), False
    if installs.found_in(f"%{name}{rest}", "python"):
        return value, ("installs",), False
    return value, ("unreadable",), False


def _cell_magic(name: str, rest: str) -> tuple[str | None, tuple[Kind, ...], bool]:
    words = rest.split()
    if name == "time" or (name == "capture" and all(map(str.isidentifier, words))):
        return (f"{words[0]} = None" if name == "capture" and words else ""), (), False
    if name in ("timeit", "prun") and not words:
        return "", (), False
    if name in ("writefile", "file"):
        return None, ("writes", "unreadable"), True
    if not name or name in reach.SHELL_CELLS:
        return None, ("processes", "unreadable"), True
    return None, ("unreadable",), True


class Reader:
    """Reads what each name and call of a cell may reach."""

    def __init__(self, source: Source, modules: frozenset[str], folder: str) -> None:
        self._source = source
        self._folder = folder
        self._modules = modules
        self._imported: dict[str, str] = {}
        for node in source.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    name = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._imported[alias.asname or name] = name
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    self._imported[alias.asname or alias.name] = f"{node.module}.{alias.name}"

    def found(self) -> Iterator[tuple[Kind, int]]:
        for node in self._source.nodes:
            for kind in self._reached(node):
                yield kind, getattr(node, "lineno", 1)

    def _reached(self, node: ast.AST) -> Iterator[Kind]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield from self._module(alias.name)
        elif isinstance(node, ast.ImportFrom):
            if node.level or any(alias.name == "*" for alias in node.names):
                yield "unreadable"
            for alias in node.names:
                yield from self._module(f"{node.module}.{alias.name}")
        elif isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            yield from self._named(node)
        elif isinstance(node, ast.Call):
            yield from self._called(node)

    def _module(self, name: str) -> Iterator[Kind]:
        if name.partition(".")[0] in self._modules:
            yield "unreadable"
        yield from _in_full(name)

    def _named(self, node: ast.Name | ast.Attribute) -> Iterator[Kind]:
        full = self._full(node)
        yield from _in_full(full)
        if isinstance(node, ast.Attribute):
            if node.attr in reach.LAST and not self._is_plain(node):
                yield cast("Kind", reach.LAST[node.attr])
            # A module within a module: ``pd.io.common.os``.
            if node.attr in _MODULES_ALONE and full != node.attr:
                yield "unreadable"

    def _is_plain(self, node: ast.Attribute) -> bool:
        """Names that are harmless here: ``sys.stdout.write``, ``df.eval("a + b")``."""
        if node.attr in _ATTRIBUTE_TEXTS:
            return _is_plain_text(self._source.parents.get(node))
        return self._full(node.value) in ("sys.stdout", "sys.stderr", "io.StringIO()", "super()")

    def _called(self, call: ast.Call) -> Iterator[Kind]:
        full = self._full(call.func)
        last = full.rpartition(".")[2]
        first = call.args[0] if call.args else None
        place = next(filter(None, (keyword(call, name) for name in reach.PATH_ARGUMENTS)), first)
        if last in _NAMED_GETS and self._gets_hidden(call):
            yield "unreadable"
        if last == "query" and not _is_plain_text(call):
            yield "unreadable"
        if last in reach.TEXTS and not (
            place is None or (isinstance(place, ast.Constant) and place.value is None)
        ):
            yield "writes"
        if last == "open" or full in ("zipfile.ZipFile", "h5py.File"):
            yield from self._opened(call, place, full)
        elif last in reach.OF_PATHS and isinstance(call.func, ast.Attribute):
            yield from self._read(place if full.startswith("glob.") else call.func.value)
        elif last in reach.READS or full in reach.READS_IN_FULL:
            yield from self._read(place)

    def _gets_hidden(self, call: ast.Call) -> bool:
        """Whether ``getattr`` may get something that would have a label."""
        name = call.args[1] if len(call.args) > 1 else None
        if not isinstance(name, ast.Constant) or not isinstance(name.value, str):
            return True
        full = f"{self._full(call.args[0])}.{name.value}"
        labelled = next(_in_full(full), None) is not None
        return labelled or name.value in reach.LAST or name.value in _MODULES_ALONE

    def _opened(self, call: ast.Call, place: ast.expr | None, full: str) -> Iterator[Kind]:
        of_path = full.startswith("pathlib.") or full.startswith("?")
        modes = call.args[:1] if of_path else call.args[1:2]
        mode = keyword(call, "mode") or (modes[0] if modes else None)
        text = mode.value if isinstance(mode, ast.Constant) else "r" if mode is None else "w"
        if not isinstance(text, str) or set(text) & set("wax+"):
            yield "writes"
        else:
            owner = call.func.value if of_path and isinstance(call.func, ast.Attribute) else place
            yield from self._read(owner)

    def _read(self, place: ast.expr | None) -> Iterator[Kind]:
        if place is not None and self._full(place) in ("io.StringIO()", "io.BytesIO()"):
            return
        path = None if place is None else paths.written(self._source, place)
        if path is not None and paths.is_url(path):
            yield "network"
        elif path is None or not paths.is_inside(path, self._folder):
            yield "reads_outside"

    def _full(self, node: ast.AST, depth: int = 8) -> str:
        """The name with modules in full; a call ends in ``()``, other expressions are ``?``."""
        if depth == 0:
            return "?"
        if isinstance(node, ast.Name):
            return self._of_name(node.id, depth)
        if isinstance(node, ast.Attribute):
            return f"{self._full(node.value, depth - 1)}.{node.attr}"
        if isinstance(node, ast.Call):
            return f"{self._full(node.func, depth - 1)}()"
        if isinstance(node, ast.BinOp):
            return self._full(node.left, depth - 1)
        return "?"

    def _of_name(self, name: str, depth: int) -> str:
        if name in self._imported:
            return self._imported[name]
        values = self._source.values_of(name)
        if len(values) == 1 and dotted(values[0]) != name:
            return self._full(values[0], depth - 1)
        return reach.CONVENTIONS.get(name, name)


_MODULES_ALONE = frozenset(
    ("os", "sys", "subprocess", "builtins", "importlib", "shutil", "socket", "ctypes", "pickle")
)


def _in_full(name: str) -> Iterator[Kind]:
    parts = name.removeprefix("builtins.").split(".")
    for end in range(1, min(len(parts), 4) + 1):
        kind = reach.MODULES.get(".".join(parts[:end]).removesuffix("()"))
        if kind is None and end == len(parts):
            kind = reach.MODULES.get(".".join(parts[:end]))
        if kind is not None:
            yield cast("Kind", kind)
            return


def _is_plain_text(call: ast.AST | None) -> bool:
    """``df.query("a > 1")``: an expression that is written out, and calls and hides nothing."""
    if not isinstance(call, ast.Call) or not call.args:
        return False
    text = call.args[0]
    return (
        isinstance(text, ast.Constant)
        and isinstance(text.value, str)
        and not any(sign in text.value for sign in ("(", "__"))
    )
