"""Findings on filters, joins and conversions of pandas, from facts that the kernel observed."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Literal

from ...api import CellCode, CellOutputs, Fact, Finding, Place
from ...base.sentences import Sentence
from ...cell_code.parsing import base
from ...cell_code.source import Source, dotted, is_method_call, keyword, label, parsed, same

FILTER, JOIN, LOST = "Filter", "Join", "Lost values"

# -------------------------------------------------------------------------------------------------
# Filters whose literal matches no row.

FEW = 5
"""Maximum number of distinct values of a column that a sentence lists."""


def filters(cell: CellCode, outputs: CellOutputs) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    empty = list(facts(outputs, "empty_filter"))
    for fact in facts(outputs, "no_match"):
        is_empty = any(_is_part(source, fact, one) for one in empty)
        if (found := _no_match(source, fact, is_empty)) is not None:
            yield found


def _is_part(source: Source, fact: Fact, around: Fact) -> bool:
    """Whether the filter contains the comparison, or a variable that holds it."""
    if within(fact.place, around.place):
        return True
    node, outer = source.at(fact.place), source.at(around.place)
    statement = source.statement(node) if node is not None else None
    if outer is None or not isinstance(statement, ast.Assign):
        return False
    names = {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in names for part in ast.walk(outer))


NEAR_VALUES = Sentence("`{code}` matched 0 of {rows:,} rows; the column has {values}.")
ALL_VALUES = Sentence("`{code}` matched 0 of {rows:,} rows; the values are {values}.")
SOME_VALUES = Sentence("`{code}` matched 0 of {rows:,} rows; values are {values}, \u2026")


def _no_match(source: Source, fact: Fact, is_empty: bool) -> Finding | None:
    if text(fact, "column") == "_merge":  # A join's indicator: all keys may have a partner.
        return None
    node = source.at(fact.place)
    near, rows = _similar(source, fact), number(fact, "rows")
    if node is None or not (near or (is_empty and is_literal(source, _operand(node)))):
        return None
    if is_looked_at(source, node) and not near:
        return None
    if near:
        words, values = NEAR_VALUES, listed(near)
    elif number(fact, "distinct") <= FEW and texts(fact, "values"):
        words, values = ALL_VALUES, listed(texts(fact, "values"))
    else:
        words, values = SOME_VALUES, ", ".join(texts(fact, "values")[:3])
    words = Sentence(words, code=source.text(node), rows=rows, values=values)
    return Finding(FILTER, words, fact.place, texts(fact, "values"))


def _similar(source: Source, fact: Fact) -> tuple[str, ...]:
    """Values that resemble the literal, without those that the statement also names."""
    node = source.at(fact.place)
    statement = source.statement(node) if node is not None else None
    parts = ast.walk(statement) if statement is not None else ()
    written = {repr(part.value) for part in parts if isinstance(part, ast.Constant)}
    near = dict.fromkeys(texts(fact, "near"))
    return tuple(one for one in near if one not in written)


def _operand(node: ast.expr) -> ast.expr | None:
    """The right side of a comparison, or a call's first argument."""
    if isinstance(node, ast.Compare):
        return node.comparators[0] if len(node.comparators) == 1 else None
    return node.args[0] if isinstance(node, ast.Call) and node.args else None


# -------------------------------------------------------------------------------------------------
# Joins that multiply rows, or leave keys without a partner.

DISTINCT = {"nunique", "unique", "drop_duplicates"}
"""Methods that make repeated rows harmless."""
ASKS = {"isna", "isnull", "notna", "notnull", "_merge"}
"""Attributes that tell which rows have a partner."""


def joins(cell: CellCode, outputs: CellOutputs) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    for fact in facts(outputs, "joined"):
        node = source.at(fact.place)
        if isinstance(node, ast.Call):
            found = _multiplied(source, fact, node) or _unmatched(source, fact, node)
            if found is not None:
                yield found


NO_KEY = Sentence("The join also matches rows without a key: {missing:,} rows have none.")
REPEATS = Sentence(
    "The join made {result:,} rows of {left:,} and {right:,}: its keys repeat in both."
)


def _multiplied(source: Source, fact: Fact, node: ast.Call) -> Finding | None:
    left, right = number(fact, "left"), number(fact, "right")
    result, missing = number(fact, "result"), number(fact, "missing_keys")
    if missing:
        return Finding(JOIN, Sentence(NO_KEY, missing=missing), fact.place)
    if result <= left or not fact.figures.get("repeats"):
        return None
    knows = (
        DISTINCT & calls_after(source, node)
        or keyword(node, "validate") is not None
        or _is_with_itself(node)
        or _compares(source, node)
    )
    words = Sentence(REPEATS, result=result, left=left, right=right)
    audience: Literal["person", "model"] = "model" if knows else "person"
    return Finding(JOIN, words, fact.place, texts(fact, "keys"), audience)


def _is_with_itself(node: ast.Call) -> bool:
    """``items.merge(items, …)``, which makes pairs."""
    tables = [node.func.value] if is_method_call(node) and not _is_module(node.func.value) else []
    tables += [*node.args, *(word.value for word in node.keywords if word.arg == "right")]
    return len(tables) > 1 and same(tables[0], tables[1])


def _compares(source: Source, node: ast.Call) -> bool:
    """Whether the code compares columns of the result, such as the ends of intervals, and so keeps
    only some pairs."""
    name = assigned_name(source, node)
    for other in source.nodes:
        if isinstance(other, ast.Compare):
            sides = [other.left, *other.comparators]
        elif is_method_call(other) and other.func.attr == "between":
            sides = [other.func.value, *other.args]
        else:
            continue
        if name and sum(base(side) == name for side in sides) > 1:
            return True
    return "query" in calls_after(source, node)


def _is_module(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in ("pd", "pandas")


ALL_ROWS = Sentence("{rows:,} rows")
SAMPLE = Sentence("{rows:,} rows (a sample)")
ALONE = Sentence("{alone:,} of {rows} found no partner by {keys}.")
ALONE_AS = Sentence("{alone:,} of {rows} found no partner by {keys}, as {examples}.")
ALONE_NEAR = Sentence(
    "{alone:,} of {rows} found no partner by {keys}; {near} differs only in case or blanks."
)


def _unmatched(source: Source, fact: Fact, node: ast.Call) -> Finding | None:
    """A finding on keys of the left table without a partner, among the rows that were read."""
    left, rows, alone = number(fact, "left"), number(fact, "looked_at"), number(fact, "alone")
    how = fact.figures.get("how")
    if not left or not number(fact, "right") or how not in ("inner", "left"):
        return None
    if how == "inner" and not number(fact, "result"):
        rows = alone = left
    if not alone:
        return None
    of = Sentence(ALL_ROWS if rows == left else SAMPLE, rows=rows)
    told = {"alone": alone, "rows": of, "keys": listed(texts(fact, "keys"))}
    near, examples = texts(fact, "near"), texts(fact, "examples")
    if near:
        return Finding(JOIN, Sentence(ALONE_NEAR, near=near[0], **told), fact.place, near)
    asks = keyword(node, "indicator") is not None or ASKS & calls_after(source, node)
    words = Sentence(ALONE_AS if examples else ALONE, examples=listed(examples), **told)
    audience: Literal["person", "model"] = "model" if asks or alone < rows else "person"
    return Finding(JOIN, words, fact.place, examples, audience)


# -------------------------------------------------------------------------------------------------
# Values that a conversion lost.

_MARK = re.compile(
    r"['\"]?\s*(n/?a|nan|none|null|nil|missing|unknown|tbd|not available|[-?.*]*)\s*['\"]?", re.I
)
"""Common texts for a missing value."""
_HAS_DIGIT = re.compile(r"\d")
KNOWS = {"combine_first", "fillna", "isna", "isnull", "notna"}
FILLS = {"combine_first", "fillna"}
"""Methods whose argument only fills missing values."""
INTO = {
    "not_a_number": Sentence(
        "{count} of {rows:,} values of `{column}` could not be read as numbers and are missing "
        "now, such as {examples}."
    ),
    "not_a_date": Sentence(
        "{count} of {rows:,} values of `{column}` could not be read as dates and are missing now, "
        "such as {examples}."
    ),
}
SWAPPED = Sentence(
    "{count} of {rows:,} dates of `{column}` are written year first, but `dayfirst=True` took the "
    "day for the month: {written} became {read_as}."
)
AT_LEAST = Sentence("At least {number:,}")
EXACTLY = Sentence("{number:,}")


def lost_values(cell: CellCode, outputs: CellOutputs) -> Iterator[Finding]:
    source = parsed(cell.source)
    if source is None:
        return
    found = list(facts(outputs, *INTO))
    tries = Counter((fact.kind, text(fact, "column")) for fact in found)
    yield from map(_swapped, facts(outputs, "swapped_day"))
    for fact in found:
        if tries[fact.kind, text(fact, "column")] > 1 or _is_tried_again(source, fact):
            continue  # The code tries several formats: another one may read the rest.
        lost = tuple(one for one in texts(fact, "examples") if not _MARK.fullmatch(one))
        if not lost or _is_expected(source, fact):
            continue
        has_digits = any(map(_HAS_DIGIT.search, lost))
        words = Sentence(INTO[fact.kind], examples=listed(lost), **_counted(fact))
        yield Finding(LOST, words, fact.place, lost, "person" if has_digits else "model")


def _swapped(fact: Fact) -> Finding:
    written, read_as = (*texts(fact, "examples"), "", "")[:2]
    words = Sentence(SWAPPED, written=written, read_as=read_as, **_counted(fact))
    return Finding(LOST, words, fact.place)


def _counted(fact: Fact) -> dict[str, object]:
    """How many values of how many, and of which column."""
    words = AT_LEAST if fact.figures.get("more") else EXACTLY
    count = Sentence(words, number=number(fact, "count"))
    return {"count": count, "rows": number(fact, "rows"), "column": text(fact, "column")}


def _is_tried_again(source: Source, fact: Fact) -> bool:
    """Whether the code also converts the same expression elsewhere."""
    node = source.at(fact.place)
    if not isinstance(node, ast.Call) or not node.args:
        return False
    tried = ast.dump(node.args[0])
    calls = (one for one in source.nodes if isinstance(one, ast.Call) and one.args)
    same = [one for one in calls if label(one.func) == label(node.func)]
    return sum(ast.dump(one.args[0]) == tried for one in same) > 1


def _is_expected(source: Source, fact: Fact) -> bool:
    """Whether the code handles missing values."""
    node = source.at(fact.place)
    if node is None:
        return False
    parent = source.parents.get(node)
    fills = isinstance(parent, ast.Call) and label(parent.func) in FILLS and node in parent.args
    return fills or bool(KNOWS & calls_after(source, node))


# -------------------------------------------------------------------------------------------------
# Questions about code: what a name holds, and where a value goes.

MOST = 12
LOOKS = ("empty", "any", "all", "isna", "isnull", "notna", "shape", "size")
"""Attributes that code reads to find out whether a table or column is empty."""


def facts(outputs: CellOutputs, *kinds: str) -> Iterator[Fact]:
    """At most ``MOST`` facts of these kinds."""
    return islice((fact for fact in outputs.facts if fact.kind in kinds), MOST)


def number(fact: Fact, name: str) -> int:
    value = fact.figures.get(name)
    return value if isinstance(value, int) else 0


def text(fact: Fact, name: str) -> str:
    value = fact.figures.get(name)
    return value if isinstance(value, str) else ""


def texts(fact: Fact, name: str) -> tuple[str, ...]:
    value = fact.figures.get(name)
    return tuple(map(str, value)) if isinstance(value, list) else ()


def listed(values: tuple[str, ...]) -> str:
    """``'a', 'b' and 'c'``"""
    if len(values) < 2:
        return "".join(values)
    return Sentence("{names} and {last}", names=", ".join(values[:-1]), last=values[-1])


def within(inner: Place | None, outer: Place | None) -> bool:
    if inner is None or outer is None:
        return False
    start, end = (inner.line, inner.column), (inner.end_line, inner.end_column)
    return (outer.line, outer.column) <= start and end <= (outer.end_line, outer.end_column)


def assigned_name(source: Source, node: ast.AST) -> str:
    """The variable that the statement around an expression assigns."""
    statement = source.statement(node)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        return target.id if isinstance(target, ast.Name) else ""
    return ""


def is_literal(source: Source, node: ast.expr | None) -> bool:
    """Whether the value is a literal, or a variable that the cell sets to one."""
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return all(isinstance(part, ast.Constant) for part in node.elts)
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.operand, ast.Constant)
    if isinstance(node, ast.Name):
        values = source.values_of(node.id)
        return (
            len(values) == 1
            and not isinstance(values[0], ast.Name)
            and is_literal(source, values[0])
        )
    return False


def is_looked_at(source: Source, node: ast.AST) -> bool:
    """Whether the code tests the value for emptiness, so that an empty one is expected."""
    parent = source.parents.get(node)
    if _asks(node, parent):
        return True
    name = assigned_name(source, node)
    names = source.names.get(name, ()) if name else ()
    return any(_asks(other, source.parents.get(other)) for other in names)


def _asks(node: ast.AST, parent: ast.AST | None) -> bool:
    if isinstance(parent, ast.Attribute) and parent.value is node:
        return parent.attr in LOOKS
    return isinstance(parent, ast.Call) and node in parent.args and dotted(parent.func) == "len"


def calls_after(source: Source, node: ast.AST) -> set[str]:
    """Attributes that the code reads from an expression, or later from the variable that it is
    assigned to."""
    found = set(_chained(source, node))
    statement = source.statement(node)
    if isinstance(statement, ast.Assign):
        target = ast.unparse(statement.targets[0])
        for owner, other in source.attributes.get(base(statement.targets[0]), ()):
            is_part = owner == target or owner.startswith((f"{target}.", f"{target}["))
            if is_part and other.lineno > statement.lineno:
                found.add(other.attr)
    return found


def _chained(source: Source, node: ast.AST) -> Iterator[str]:
    parent = source.parents.get(node)
    while isinstance(parent, (ast.Attribute, ast.Call, ast.Subscript)):
        if isinstance(parent, ast.Attribute):
            yield parent.attr
        node, parent = parent, source.parents.get(parent)
