"""State that is not seen: globals in place of arguments, default lists, draws without a seed."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from ...cell_code.parsing import base
from ...findings import Finding
from ...hooks.hook import CellCode
from ..shared.check import Check
from ..shared.source import Source, dotted, is_method_call, keyword, parsed

NAME = "Hidden state"
MODULES = {
    "np", "pd", "plt", "sns", "px", "go", "sm", "st", "tf", "nx", "pl", "math", "re", "os", "json",
    "random", "datetime", "dt", "time", "sys", "stats", "scipy", "torch", "itertools",
    "functools", "collections", "string", "statistics", "logging", "warnings",
}  # fmt: skip
CALLBACK = {
    "event",
    "change",
    "button",
    "ctx",
    "context",
    "request",
    "sender",
    "signum",
    "frame_no",
}
"""Arguments that whoever calls the function prescribes."""
SETTINGS = {"settings", "config", "cfg", "conf", "params", "options", "opts", "state", "lookup"}
MEMO = {"memo", "cache"}
"""Defaults that are kept on purpose."""
LOOK = 20
"""Rows that are drawn for a look at them."""
CHANGES = {"append", "extend", "add", "update", "insert", "setdefault"}
Function = (ast.FunctionDef, ast.AsyncFunctionDef)


def read(cell: CellCode) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    known = MODULES | SETTINGS | _defined(source) | set(dir(builtins))
    for node in source.nodes:
        if isinstance(node, Function):
            yield from _reads_a_global(source, node, known)
            yield from _keeps_a_default(source, node)
    if not _is_seeded(source):
        for node in source.nodes:
            if isinstance(node, ast.Call) and _draws(node) and not _is_look(source, node):
                words = f"`{source.text(node)}` draws at random without a seed."
                yield Finding(NAME, words, source.place(node), audience="model")
                return


def _reads_a_global(
    source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef, known: set[str]
) -> Iterator[Finding]:
    """A function that ignores an argument, and takes a column of a global table."""
    arguments = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    body = [node for statement in function.body for node in ast.walk(statement)]
    used = {node.id for node in body if isinstance(node, ast.Name)}
    own = {n.id for n in body if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    unused = sorted(
        name
        for name in arguments - used - CALLBACK
        if not name.startswith("_") and name not in ("self", "cls")
    )
    if not unused:
        return
    for node in body:
        is_part = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant)
        name = base(node) if is_part else ""
        if name and name not in arguments | own | known and not name.isupper():
            words = f"`{function.name}` never uses `{unused[0]}`; it reads the global `{name}`."
            yield Finding(NAME, words, source.place(node))
            return


def _defined(source: Source) -> set[str]:
    """Functions, classes and modules of the cell."""
    found: set[str] = set()
    for node in source.nodes:
        if isinstance(node, (*Function, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
    return found


def _keeps_a_default(
    source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Finding]:
    """``def f(x, seen=[])`` with ``seen.append``: all calls share the list."""
    parameters = function.args.args[len(function.args.args) - len(function.args.defaults) :]
    for parameter, default in zip(parameters, function.args.defaults, strict=True):
        if not isinstance(default, (ast.List, ast.Dict, ast.Set)):
            continue
        if parameter.arg.strip("_") in MEMO:
            continue
        if any(_changes(node, parameter.arg) for node in ast.walk(function)):
            words = f"All calls of `{function.name}` share one `{parameter.arg}`, which it changes."
            yield Finding(NAME, words, source.place(default))


def _changes(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return base(node) == name
    return is_method_call(node) and base(node) == name and node.func.attr in CHANGES


def _is_seeded(source: Source) -> bool:
    calls = [node for node in source.nodes if isinstance(node, ast.Call)]
    return any(dotted(call.func).split(".")[-1] in ("seed", "set_seed") for call in calls)


def _draws(call: ast.Call) -> bool:
    name = dotted(call.func)
    last = call.func.attr if isinstance(call.func, ast.Attribute) else name
    if keyword(call, "random_state") or keyword(call, "seed"):
        return False
    if last in ("sample", "train_test_split"):
        return not name.startswith("rng.")
    if last in ("default_rng", "RandomState", "Generator"):
        return last != "Generator" and not call.args
    if last in ("Random", "SystemRandom"):
        return last == "Random" and not call.args
    return name.startswith(("np.random.", "random.", "numpy.random."))


def _is_look(source: Source, call: ast.Call) -> bool:
    """``df.sample(5)`` that the notebook only shows."""
    parent = source.parents.get(call)
    few = not call.args or (
        isinstance(call.args[0], ast.Constant)
        and isinstance(call.args[0].value, int)
        and call.args[0].value <= LOOK
    )
    is_sample = is_method_call(call) and call.func.attr == "sample" and not call.keywords
    shown = isinstance(parent, ast.Expr) or (
        isinstance(parent, ast.Call) and dotted(parent.func) in ("print", "display")
    )
    return is_sample and few and shown


CHECK = Check(NAME, before_run=read)
