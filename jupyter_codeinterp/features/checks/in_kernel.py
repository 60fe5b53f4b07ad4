"""Watches calls of pandas in a cell's own code, and looks at the tables that it made. This file's
text runs **in the kernel**, after ``kernel/inside/watch.py``.

While the cell runs, some functions of pandas are wrapped. A wrapper calls the original, and then
looks at arguments and result if the caller's frame is the cell's own code. It never changes a
result, and leaves no trace:

- An exception passes without the wrapper's frame: a bare ``raise`` adds no frame to the
  traceback (Python 3.11 or newer; older ones are not watched).
- A warning names the cell's line: the wrapper's code counts as a file of the package.

When the looks and wrappers have used their share of the time, the originals are restored.
Standard library only.
"""

from __future__ import annotations

import ast
import functools
import importlib.abc
import importlib.util
import inspect
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from ...kernel.inside.variables import PLAIN, is_among, is_one_of, type_name
from ...kernel.inside.watch import A_CALL, PARTS, SECONDS, TimeBudget, wrapped

SIMPLE = (str, int, float, bool, type(None))
MOST_FACTS = 60
MOST_A_PLACE = 20
"""Looks at one position in the code, which may be in a loop."""
SHARE = 0.65
"""Share of the time that is spent before the cell's end."""
OLDEST = (3, 11)
TIMED = "<timed exec>"
"""The file name of a cell below ``%%time``, whose lines do not count that line."""

Look = Callable[[Any, Any, Any], Iterator[dict[str, Any]]]
"""Takes a call's result and arguments, and yields facts: ``kind`` and numbers."""
Watched = tuple[Any, str, Look]
"""The class or module, the function's name, and the look at its calls."""


class Tracer:
    """Watches the code with the file name ``cell`` and the globals ``namespace``."""

    def __init__(self, cell: str, namespace: dict[str, Any], budget: TimeBudget) -> None:
        self.facts: list[dict[str, Any]] = []
        self.cell = cell
        self.namespace = namespace
        self.wrapped: list[tuple[Any, str, Any, Any]] = []
        self.looks: dict[Any, int] = {}
        self.budget = budget

    def start(self, watched: Iterator[Watched], folder: str) -> None:
        """Wrap the functions. ``folder``: the package's."""
        for owner, name, look in watched:
            original = vars(owner).get(name, getattr(owner, name, None))
            if inspect.isfunction(original):
                wrapper = wrapped(original, look, self, os.path.join(folder, "calls.py"))  # noqa: PTH118
                own = name in vars(owner)
                self.wrapped.append((owner, name, wrapper, original if own else None))
                setattr(owner, name, wrapper)

    def stop(self) -> None:
        """Restore the originals, except those that the cell replaced."""
        while self.wrapped:
            owner, name, wrapper, original = self.wrapped.pop()
            if vars(owner).get(name) is not wrapper:
                continue
            if original is None:
                delattr(owner, name)
            else:
                setattr(owner, name, original)

    def called(self, frame: Any, look: Look, result: Any, args: Any, kwargs: Any) -> None:
        """Look at a call if the cell itself made it, and stop when the time is up."""
        began = time.thread_time()
        own = frame.f_code.co_filename in (self.cell, TIMED) and frame.f_globals is self.namespace
        if own and self.wrapped and len(self.facts) < MOST_FACTS:
            self.look(frame, look, result, args, kwargs)
        self.spend(time.thread_time() - began + A_CALL)

    def spend(self, seconds: float) -> None:
        self.budget.spent += seconds
        if self.budget.spent > SHARE * SECONDS:
            self.stop()

    def look(self, frame: Any, look: Look, result: Any, args: Any, kwargs: Any) -> None:
        place = (frame.f_code, frame.f_lasti)
        count = self.looks[place] = self.looks.get(place, 0) + 1
        if count > MOST_A_PLACE:
            return
        try:
            for fact in look(result, args, kwargs):
                at = position(frame)
                if at is not None and frame.f_code.co_filename == TIMED:
                    at[0], at[2] = at[0] + 1, at[2] + 1
                self.facts.append({"kind": fact.pop("kind"), "at": at, "figures": fact})
        except Exception:
            # A look at values of any kind may fail. The cell must not notice.
            pass


def position(frame: Any) -> list[int] | None:
    """Line, column, last line and end column of the frame's current expression."""
    positions = list(frame.f_code.co_positions())
    line, end_line, column, end = positions[frame.f_lasti // 2]
    return None if None in (line, end_line, column, end) else [line, column, end_line, end]


def arguments(call: Callable[..., Any], args: Any, kwargs: Any) -> dict[str, Any]:
    """The given arguments by name."""
    return dict(signature(call).bind(*args, **kwargs).arguments)


@functools.lru_cache(maxsize=64)
def signature(call: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(call)


class WhenImported(importlib.abc.MetaPathFinder):
    """Calls ``then`` right after the first import of the module ``name``."""

    def __init__(self, name: str, then: Any) -> None:
        self.name = name
        self.then = then
        sys.meta_path.insert(0, self)

    def remove(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname != self.name:
            return None
        self.remove()
        spec = importlib.util.find_spec(fullname)
        loader = spec.loader if spec is not None else None
        if loader is None:
            return spec
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            try:
                execute(module)
            finally:
                del loader.exec_module
            self.then()

        loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


class CellTree:
    """What a cell's code imports and reads."""

    def __init__(self, source: str) -> None:
        try:
            tree = ast.parse(source if len(source) <= 20_000 else "")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.parse("")
        nodes = list(ast.walk(tree))
        self.modules = {name for node in nodes for name in imported(node)}
        self.reads = list(dict.fromkeys(name for node in nodes for name in read_into(node)))
        """Variables that get a table from a file."""


def read_into(node: ast.AST) -> list[str]:
    """The variables that a statement gives what it reads from a file. A query chooses by itself
    what it returns."""
    if not isinstance(node, ast.Assign):
        return []
    called = (one.func for one in ast.walk(node.value) if isinstance(one, ast.Call))
    names = [one.attr for one in called if isinstance(one, ast.Attribute)]
    if not any(name.startswith("read_") and not name.startswith("read_sql") for name in names):
        return []
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def imported(node: ast.AST) -> list[str]:
    """Packages that the node imports."""
    if isinstance(node, ast.Import):
        return [name.name.split(".")[0] for name in node.names]
    return [(node.module or "").split(".")[0]] if isinstance(node, ast.ImportFrom) else []


# -------------------------------------------------------------------------------------------------
# Reads a few values of a column safely.

Facts = Iterator[dict[str, Any]]
"""Each has a ``kind`` and numbers. Core decides which facts to report."""

SAMPLE = 2_000
"""Values of a column that are read."""
KEYS = 5_000
"""Rows of a table whose keys are read."""
EXAMPLES = 3
NUMBER = re.compile(r"\s*[-+]?\d+([.,]\d+)*\s*")


def pandas() -> Any:
    return sys.modules["pandas"]


def is_series(value: Any) -> bool:
    return type(value) is pandas().Series


def is_table(value: Any) -> bool:
    return type(value) is pandas().DataFrame


def is_text(values: Any) -> bool:
    return values.dtype == object or values.dtype.name in ("str", "string")


def sample(values: Any) -> list[Any]:
    """A sample of a column or an index; all values of a short one."""
    step = -(-len(values) // SAMPLE) or 1
    part = values.iloc[::step] if is_series(values) else values[::step]
    return part.tolist()  # type: ignore[no-any-return]


def is_missing(value: Any) -> bool:
    known = sys.modules.get("pandas")
    if value is None or (known is not None and (value is known.NA or value is known.NaT)):
        return True
    return type(value) is float and value != value


def shown(value: Any) -> str:
    """The value as Python writes it; only its type if that could run code."""
    if type(value) in SIMPLE:
        return repr(value)[:60]
    known = sys.modules.get("pandas")
    if known is not None and type(value) is known.Timestamp:
        return str(value)[:60]
    item = getattr(value, "item", None) if type(value).__module__ == "numpy" else None
    return repr(item())[:60] if item is not None else f"<{type_name(type(value))}>"


def different(values: list[Any]) -> list[str]:
    """The different values as text, in order, without missing ones."""
    return list(dict.fromkeys(shown(value) for value in values if not is_missing(value)))


def folded(text: str) -> str:
    """A form that is equal for texts that differ only in case, blanks, - and _."""
    return re.sub(r"[\s_-]+", " ", text).strip().casefold()


def near(values: list[Any], wanted: Any) -> list[str]:
    """Texts that differ from ``wanted`` only in case or blanks, or numbers and texts that look the
    same."""
    texts = [value for value in values if type(value) is str]
    if type(wanted) is str and texts:
        alike = folded(wanted)
        found = {text for text in texts if alike and folded(text) == alike}
        return [shown(text) for text in sorted(found - {wanted})[:EXAMPLES]]
    if type(wanted) is str:
        numbers = {value for value in values if type(value) is int}
        return [wanted.strip()] if wanted.strip() in set(map(str, numbers)) else []
    return [shown(str(wanted))] if str(wanted) in {text.strip() for text in texts} else []


def name_of(values: Any) -> str:
    return values.name if type(values.name) is str else ""


# -------------------------------------------------------------------------------------------------
# Filters: a literal that no row has, and filters that keep nothing.

MOST_WANTED = 20


def part(result: Any, args: Any, kwargs: Any) -> Facts:
    """``df[mask]``, ``series[mask]`` and ``df.loc[mask]``."""
    owner, key = args
    owner = owner if is_table(owner) or is_series(owner) else getattr(owner, "obj", None)
    mask = key[0] if type(key) is tuple and key else key
    if owner is None or not (is_series(mask) and mask.dtype.name in ("bool", "boolean")):
        return
    if len(owner) and not len(result):
        yield {"kind": "empty_filter", "rows": len(owner)}


def equal(result: Any, args: Any, kwargs: Any) -> Facts:
    """``series == value``: no row has the value."""
    series, wanted = args
    if is_series(series) and type(wanted) in SIMPLE and len(series) and not result.any():
        values = sample(series)
        yield no_match(series, values, near(values, wanted))


def isin(result: Any, args: Any, kwargs: Any) -> Facts:
    """``series.isin(values)``: no row has any of them."""
    series, wanted = args[0], args[1] if len(args) > 1 else kwargs.get("values")
    if not is_series(series) or type(wanted) not in (list, tuple, set, frozenset):
        return
    if len(series) and not result.any() and all(type(one) in SIMPLE for one in wanted):
        values = sample(series)
        alike = [text for one in list(wanted)[:MOST_WANTED] for text in near(values, one)]
        yield no_match(series, values, alike[:EXAMPLES])


def no_match(series: Any, values: list[Any], alike: list[str]) -> dict[str, Any]:
    known = different(values)
    return {
        "kind": "no_match",
        "column": name_of(series),
        "rows": len(series),
        "near": alike,
        "values": known[:5],
        # A sample may lack some.
        "distinct": len(known) if len(series) <= SAMPLE else SAMPLE,
    }


# -------------------------------------------------------------------------------------------------
# Conversions that make values missing.

ISO = re.compile(r"\s*\d{4}-(\d\d)-(\d\d)")


def to_numeric(result: Any, args: Any, kwargs: Any) -> Facts:
    yield from lost("not_a_number", args[0] if args else kwargs.get("arg"), result)


def to_datetime(result: Any, args: Any, kwargs: Any) -> Facts:
    before = args[0] if args else kwargs.get("arg")
    yield from lost("not_a_date", before, result)
    if kwargs.get("dayfirst") and is_series(before) and is_text(before):
        yield from swapped(before, result)


def swapped(before: Any, after: Any) -> Facts:
    """Dates written year first, where ``dayfirst`` swapped day and month."""
    if not is_series(after) or len(before) != len(after):
        return
    pairs = list(zip(before.iloc[:KEYS].tolist(), after.iloc[:KEYS].tolist()))  # noqa: B905
    wrong = [(text, date) for text, date in pairs if type(text) is str and is_swapped(text, date)]
    if wrong:
        text, date = wrong[0]
        yield {
            "kind": "swapped_day",
            "column": name_of(before),
            "rows": len(before),
            "count": len(wrong),
            "more": len(before) > KEYS,
            "examples": [shown(text), f"{date.year:04}-{date.month:02}-{date.day:02}"],
        }


def is_swapped(text: str, date: Any) -> bool:
    found = ISO.match(text)
    if found is None or type(date) is not pandas().Timestamp:
        return False
    month, day = int(found[1]), int(found[2])
    return month != day and (date.month, date.day) == (day, month)


def lost(kind: str, before: Any, after: Any) -> Facts:
    """Values of a column that became NaN."""
    if not (is_series(before) and is_series(after)) or len(before) != len(after):
        return
    missing = after.isna().to_numpy().nonzero()[0]
    part = before.take(missing[:KEYS])
    gone = part[part.notna().to_numpy()]
    if len(gone):
        yield {
            "kind": kind,
            "column": name_of(before),
            "rows": len(before),
            "count": len(gone),
            "more": len(missing) > KEYS,
            "examples": different(gone.tolist())[:EXAMPLES],
        }


# -------------------------------------------------------------------------------------------------
# Joins: multiplied rows, and keys without a match, by numbers of rows and keys of short tables or
# samples.


def merge(result: Any, args: Any, kwargs: Any) -> Facts:
    given = arguments(pandas().merge.__wrapped__, args, kwargs)
    left: Any = given.get("left")
    right: Any = given.get("right")
    how = str(given.get("how", "inner"))
    if not is_table(left) or not is_table(right) or how == "cross":
        return
    both = given.get("on")
    names = [names_of(given.get(f"{side}_on") if both is None else both)
             for side in ("left", "right")]  # fmt: skip
    if both is None and not {"left_on", "left_index", "right_on", "right_index"} & given.keys():
        shared = [name for name in left.columns.tolist() if name in right.columns]
        names = [names_of(shared)] * 2
    if names[0] and len(names[0]) == len(names[1]):
        keys = [keys_of(table, some) for table, some in zip((left, right), names)]  # noqa: B905
        yield joined(len(left), len(right), len(result), how, keys, names[0])


def join(result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.join(other)`` by the index of both."""
    left, right = args[0], args[1] if len(args) > 1 else kwargs.get("other")
    by_index = len(args) < 3 and not {"on", "lsuffix", "rsuffix"} & kwargs.keys()
    if is_table(left) and is_table(right) and by_index and left.index.nlevels == 1:
        keys = [table.index[:: step(table)].tolist() for table in (left, right)]
        name = left.index.name if type(left.index.name) is str else "index"
        how = str(kwargs.get("how", "left"))
        yield joined(len(left), len(right), len(result), how, keys, [name])


def names_of(side: Any) -> list[str]:
    """The names of the key columns; none if they are computed."""
    names = [side] if type(side) is str else side
    known = type(names) is list and all(type(name) is str for name in names)
    return names if known else []


def step(table: Any) -> int:
    return -(-len(table) // KEYS) or 1


def keys_of(table: Any, names: list[str]) -> list[Any]:
    """All keys of a short table; a sample of a longer one."""
    columns = [table[name].iloc[:: step(table)].tolist() for name in names]
    return columns[0] if len(columns) == 1 else list(zip(*columns))  # noqa: B905


def joined(
    left: int, right: int, result: int, how: str, keys: list[list[Any]], names: list[str]
) -> dict[str, Any]:
    """The fact from the numbers of rows and both sides' keys. ``repeats``: keys certainly repeat on
    both sides."""
    rows = [left, right]
    fact: dict[str, Any] = {
        "kind": "joined",
        "how": how,
        "left": left,
        "right": right,
        "result": result,
        "keys": [name[:60] for name in names],
        # Without repeats, each row of a side occurs at most once.
        "repeats": result > (max(rows) if how == "inner" else sum(rows)),
    }
    if not all(map(is_plain_key, {*map(type, parts(keys[0])), *map(type, parts(keys[1]))})):
        return fact
    lefts, rights = keys
    whole = len(lefts) == left and len(rights) == right
    if whole and result > min(rows):
        fact["repeats"] = bool(repeated(lefts) & repeated(rights))
    if len(rights) == right:
        there = set(rights)
        alone = [key for key in lefts if key not in there and is_known(key)]
        fact.update(looked_at=len(lefts), alone=len(alone))
        fact["examples"] = list(dict.fromkeys(map(text_of, alone[:SAMPLE])))[:EXAMPLES]
        others = {folded(key) for key in list(there)[:SAMPLE] if type(key) is str}
        alike = (key for key in alone[:SAMPLE] if type(key) is str and folded(key) in others)
        fact["near"] = list(dict.fromkeys(map(shown, alike)))[:EXAMPLES]
    if whole:
        # pandas joins a missing key with each missing key of the other side.
        here = sum(1 for key in lefts if not is_known(key))
        fact["missing_keys"] = here if not all(map(is_known, rights)) else 0
    return fact


def parts(keys: list[Any]) -> Iterator[Any]:
    for key in keys:
        if type(key) is tuple:
            yield from key
        else:
            yield key


def is_plain_key(kind: type) -> bool:
    """Whether comparing keys of this type runs no untrusted code."""
    pd = sys.modules.get("pandas")
    known = [*SIMPLE, *PLAIN]
    if pd is not None:
        known += [pd.Timestamp, pd.Timedelta, pd.Period, type(pd.NaT), type(pd.NA)]
    return is_among(kind, known)


def text_of(key: Any) -> str:
    return " and ".join(map(shown, key)) if type(key) is tuple else shown(key)


def is_known(key: Any) -> bool:
    """Whether the key, and each of its parts, has a value."""
    return not any(map(is_missing, key if type(key) is tuple else (key,)))


def repeated(keys: list[Any]) -> set[Any]:
    found: set[Any] = set()
    twice = {key for key in keys if key in found or found.add(key)}  # type: ignore[func-returns-value]
    return {key for key in twice if is_known(key)}


# -------------------------------------------------------------------------------------------------
# Oddities in the columns of tables that a cell has read from files.
#
# Every count is of all rows; columns that take too long are skipped. Values of unknown types are
# never compared or printed.

ROWS = 200_000
"""Larger tables are skipped."""
LEAST = 20
"""Rows. Smaller tables are skipped: a cell can print them whole."""
MOST_TABLES = 3
MOST_COLUMNS = 60
MOST_ODD = 12
"""Facts of one table."""


def table_in(namespace: dict[str, Any], name: str) -> Any:
    """The table in a variable; None if it has none."""
    pandas, value = sys.modules.get("pandas"), namespace.get(name)
    is_frame = pandas is not None and is_one_of(type(value), pandas, ("DataFrame",))
    return value if is_frame and not name.startswith("_") else None


def columns_of(table: Any) -> frozenset[str]:
    labels = table.columns[:MOST_COLUMNS].tolist() if table is not None else ()
    return frozenset(label for label in labels if type(label) is str)


def profiles(
    reads: dict[str, frozenset[str]], namespace: dict[str, Any], deadline: float
) -> list[dict[str, Any]]:
    """Oddities of the tables in these variables. ``reads``: the columns of the tables that they had
    before, which do not count."""
    listed: list[dict[str, Any]] = []
    for name, known in reads.items():
        value = table_in(namespace, name)
        if value is None or not LEAST <= len(value) <= ROWS:
            continue
        if time.thread_time() > deadline or len(listed) == MOST_TABLES:
            break
        facts = list(odd(value, known, deadline))[:MOST_ODD]
        if facts and all((len(value), facts) != (one["rows"], one["odd"]) for one in listed):
            listed.append({"name": name, "rows": len(value), "odd": facts})
    return listed


def odd(frame: Any, known: frozenset[str], deadline: float) -> Iterator[list[Any]]:
    """Each ``[column, kind, count, example]``, without those of ``known`` columns."""
    labels = frame.columns[:MOST_COLUMNS].tolist()
    before: dict[Any, tuple[str, Any]] = {}
    for place, label in enumerate(labels):
        if type(label) is not str or label in known:
            continue
        if time.thread_time() > deadline:
            return
        if label != label.strip():
            yield [label[:60], "blanks", 0, ""]
        values = frame.iloc[:, place]
        gaps = int(values.isna().sum())
        if gaps:
            yield [label[:60], "missing", gaps, ""]
        if is_text(values):
            yield from odd_texts(label, values)
        elif getattr(values.dtype, "kind", "") in "iufb":
            yield from odd_numbers(label, values, before)


def odd_texts(label: str, values: Any) -> Iterator[list[Any]]:
    """Numbers stored as text, and a text that all rows share."""
    few = [value for value in sample(values)[:SAMPLE] if not is_missing(value)]
    if not few or not all(type(value) is str for value in few):
        return
    if all(map(NUMBER.fullmatch, few)):
        yield [label[:60], "text", 0, few[0][:40]]
    elif len(set(few)) == 1 and len(few) == len(values):
        yield [label[:60], "constant", 0, few[0][:40]]


def odd_numbers(label: str, values: Any, before: dict[Any, Any]) -> Iterator[list[Any]]:
    """Infinities, constant columns, and columns equal to an earlier one."""
    array = values.to_numpy()
    if array.dtype.kind == "f":
        infinite = int(sys.modules["numpy"].isinf(array).sum())
        if infinite:
            yield [label[:60], "infinite", infinite, ""]
    if array.dtype.kind not in "iufb":
        return
    if (array == array[0]).all():
        yield [label[:60], "constant", 0, str(array[0].item())[:40]]
        return
    same, other = before.setdefault(numbers(array), (label, array))
    if same != label and bool((array == other).all()):
        yield [label[:60], "equal", 0, same[:60]]


SAMPLES = 32
SUMMED = 4_000_000
"""Maximum bytes of a column's numbers to sum."""


def numbers(array: Any) -> Any:
    """A sum over all numbers as bits, and a few of them. As bits, NaN equals NaN."""
    size = array.dtype.itemsize
    if size not in (1, 2, 4, 8):
        return (str(array.dtype), array.size)
    bits = array.view(f"u{size}")
    few = bits[:: max(1, array.size // SAMPLES)].tolist()
    total = int(bits.sum(dtype="u8")) if array.nbytes <= SUMMED else 0
    return (str(array.dtype), total, tuple(few))


# -------------------------------------------------------------------------------------------------
# What the watch calls.


def watched() -> Iterator[Watched]:
    """All watched calls, with their looks."""
    pd = pandas()
    yield from (
        (pd.DataFrame, "__getitem__", part),
        (pd.Series, "__getitem__", part),
        (sys.modules["pandas.core.indexing"]._LocIndexer, "__getitem__", part),
        (pd.Series, "__eq__", equal),
        (pd.Series, "isin", isin),
        (pd, "to_numeric", to_numeric),
        (pd, "to_datetime", to_datetime),
        (pd, "merge", merge),
        (pd.DataFrame, "merge", merge),
        (pd.DataFrame, "join", join),
    )


class PandasWatch:
    """A part of the watch (``PARTS``)."""

    def __init__(self) -> None:
        self.tracer: Tracer | None = None
        self.hook: WhenImported | None = None
        self.facts: list[dict[str, Any]] = []
        self.reads: dict[str, frozenset[str]] = {}
        """Variables that get a table from a file, with the columns of their tables before."""

    def begin(self, shell: Any, info: Any, budget: TimeBudget) -> None:
        plain = info.transformed_cell or info.raw_cell
        tree = CellTree(plain)
        self.facts = []
        self.reads = {name: columns_of(table_in(shell.user_ns, name)) for name in tree.reads}
        if sys.version_info < OLDEST:
            return
        if "pandas" not in sys.modules and "pandas" not in tree.modules:
            return
        name = shell.compile.get_code_name(info.raw_cell, plain, shell.execution_count)
        tracer = self.tracer = Tracer(name, shell.user_ns, budget)
        start = functools.partial(self.start, tracer)
        if "pandas" in sys.modules:
            start()
        else:
            self.hook = WhenImported("pandas", start)

    def start(self, tracer: Tracer) -> None:
        try:
            folder = os.path.dirname(sys.modules["pandas"].__file__ or "")  # noqa: PTH120
            tracer.start(watched(), folder)
        except Exception:
            # An unknown version of pandas. The cell runs on, unwatched.
            tracer.stop()

    def finish(self) -> None:
        tracer, self.tracer = self.tracer, None
        hook, self.hook = self.hook, None
        if hook is not None:
            hook.remove()
        if tracer is not None:
            tracer.stop()
            self.facts = tracer.facts

    def report(self, namespace: dict[str, Any], deadline: float) -> list[dict[str, Any]]:
        tables = profiles(self.reads, namespace, deadline)
        return [*self.facts, *({"kind": "odd_columns", "figures": table} for table in tables)]


PARTS.append(PandasWatch())
