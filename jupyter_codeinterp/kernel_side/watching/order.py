"""Looks at the order of numbers that are written as text: a sort, a slice, a maximum.

Each function gets the result and the call's arguments, and yields facts. It changes nothing. This
file's text runs **in the kernel**. Standard library only.
"""

from __future__ import annotations

from typing import Any

from .filters import part
from .values import NUMBER, Facts, is_series, is_table, text_numbers


def sort_values(result: Any, args: Any, kwargs: Any) -> Facts:
    owner = args[0]
    if kwargs.get("key") is not None:
        return
    if is_series(owner):
        yield from text_numbers(owner, "sorted")
        return
    by = args[1] if len(args) > 1 else kwargs.get("by")
    names = [by] if type(by) is str else by
    if is_table(owner) and type(names) is list:
        for name in names[:5]:
            if type(name) is str and name in owner.columns:
                yield from text_numbers(owner[name], "sorted")


def located(result: Any, args: Any, kwargs: Any) -> Facts:
    """``df.loc[mask]``, and ``df.loc["9":"10"]`` by labels that are numbers written as text."""
    yield from part(result, args, kwargs)
    owner: Any = getattr(args[0], "obj", None)
    key = args[1][0] if type(args[1]) is tuple and args[1] else args[1]
    if type(key) is not slice or not (is_table(owner) or is_series(owner)):
        return
    bounds = [bound for bound in (key.start, key.stop) if bound is not None]
    texts = bounds and all(type(one) is str and NUMBER.fullmatch(one) for one in bounds)
    if texts and owner.index.nlevels == 1:
        yield from text_numbers(owner.index, "sliced")


def extreme(result: Any, args: Any, kwargs: Any) -> Facts:
    if is_series(args[0]):
        yield from text_numbers(args[0], "compared")
