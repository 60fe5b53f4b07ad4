"""The rule of protected names: which code asks because it changes ``df``."""

from __future__ import annotations

import pytest

from jupyter_codeinterp.run.approval.hooks import CellCode, CellOutputs, Change, changed_protected
from jupyter_codeinterp.run.approval.protected import changed, notices

ASKS = """
df = 1
df = other = 1
other, (df, *rest) = 1, (2, 3)
df: int = 1
df += 1
df |= {1}
df["a"] = 1
df["a"]["b"] += 1
df.loc[0, "a"] = 1
df.columns = ["a"]
df.index.name = "x"
df["a"].iloc[0] = 1
[df[0], other] = 1, 2
del df
del df["a"]
del df.a
df.dropna(inplace=True)
df["a"].fillna(0, inplace=True)
result = df.drop(columns="a", inplace=True)
import df
import df.part
import pandas as df
from pandas import DataFrame as df
for df in rows: pass
for key, df in rows: pass
for df["a"] in rows: pass
with open("x") as df: pass
with a as (b, df): pass
if (df := 1): pass
print(df := 1)
[y := 1 for x in (df := rows)]
[(df := x) for x in rows]
def df(): pass
class df: pass
def f():\\n    global df\\n    df = 1
def f(other):\\n    df["a"] = 1
f = lambda: df.pop("a")
try: pass\\nexcept ValueError as df: pass
match x:\\n    case [df, *_]: pass
match x:\\n    case {"a": 1, **df}: pass
df.append(1)
df.update(other)
df.insert(0, "a", 1)
df.sort()
last = df.pop()
df.attrs["a"] = 1
%time df = 1
df = !ls
df = %who_ls
%%time\\ndf = 1
%%capture df\\nprint(1)
async def f():\\n    global df\\n    df = 1
if a:\\n    while b:\\n        df = 1
df.copy().pop("a")
df.head().columns = ["a"]
"""
SEEN_AFTERWARDS = """
exec("df = 1")
eval("df.pop()")
f(df)
setattr(df, "a", 1)
globals()["df"] = 1
x = df\\nx["a"] = 1
x = df\\nx += [1]
"""
LEAVES_ALONE = """
df
print(df)
df.a
df["a"]
other = df
x = df.copy()\\nx["a"] = 1
other["df"] = 1
other.df = 1
df == 1
df: int
df.drop(columns="a")
df.drop(columns="a", inplace=False)
other = df.append(1)
total = df.add(1)
df.groupby("a").sum()
def f(df): df["a"] = 1
def f(*, df=None): df = 1
def f(*df): df = 1
f = lambda df: df.pop("a")
def f():\\n    df = 1\\n    df["a"] = 2
def f():\\n    for df in rows: df["a"] = 1
def f(x):\\n    def g(df): df.a = 1\\n    return g
[df for df in rows]
{df: 1 for df in rows}
[df.pop() for df in rows]
import pandas as pd
from df import other
import pandas.df
f(df=1)
dfs = [df]
df2 = 1
for row in df: pass
with df: pass
match df:\\n    case _: pass
# df = 1
text = "df = 1"
%timeit f(df)
"""


def cases(table: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in table.strip().split("\n")]


@pytest.mark.parametrize("code", cases(ASKS))
def test_code_that_changes_the_protected_name(code: str) -> None:
    assert changed(code, ("a", "df")) in (["df"], ["a", "df"])
    assert notices(code, "python", ("df",)) == ("Changes the protected `df`.",)


@pytest.mark.parametrize("code", cases(SEEN_AFTERWARDS + LEAVES_ALONE.lstrip()))
def test_code_that_leaves_it_alone(code: str) -> None:
    assert changed(code, ("df",)) == []
    assert notices(code, "Python", ("df",)) == ()


def test_code_that_cannot_be_read_asks_only_if_it_names_it() -> None:
    assert notices("df (", "python", ("df", "x")) == (
        "This code cannot be read, and it names the protected `df`.",
    )
    assert notices("other (", "python", ("df",)) == ()
    assert notices(f"df\n{'x = 1' * 5_000}", "python", ("df",))


def test_other_languages_are_not_read() -> None:
    assert notices("df = 1", "julia", ("df",)) == ()


def test_a_sentence_names_them() -> None:
    assert notices("b, a = 1, 2", "python", ("a", "b")) == ("Changes the protected `a`, `b`.",)


def test_a_change_that_happened_is_found() -> None:
    how = ("added", "removed", "rebound", "changed")
    changes = (*(Change("df", one) for one in how), Change("x", "changed"))
    cell = CellCode("a.ipynb", "c", "f()", protected=("df",))
    found = changed_protected(cell, CellOutputs("ok", (), changes=changes))
    assert [one.sentence for one in found] == [
        "The protected `df` was deleted.",
        "The protected `df` was replaced.",
        "The protected `df` was changed.",
    ]
