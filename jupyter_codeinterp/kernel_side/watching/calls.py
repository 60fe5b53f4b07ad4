"""Watches calls of pandas in a cell's own code. This file's text runs **in the kernel**.

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
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

from .budget import SECONDS, Budget

MOST_FACTS = 60
MOST_A_PLACE = 20
"""Looks at one position in the code, which may be in a loop."""
A_CALL = 1.5e-6
"""Seconds that a wrapper takes besides its look."""
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

    def __init__(self, cell: str, namespace: dict[str, Any], budget: Budget) -> None:
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


def wrapped(original: Callable[..., Any], look: Any, tracer: Any, file: str) -> Callable[..., Any]:
    """A wrapper that reports calls to ``tracer``. ``file``: its file name in warnings."""
    getframe = sys._getframe

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            result = original(*args, **kwargs)
        except BaseException as error:
            tracer.spend(A_CALL)
            error.__traceback__ = error.__traceback__.tb_next  # type: ignore[union-attr]
            raise
        tracer.called(getframe(1), look, result, args, kwargs)
        return result

    call.__code__ = call.__code__.replace(co_filename=file, co_name=original.__name__)
    return functools.wraps(original)(call)


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


class Code:
    """Imported modules and loop variables of a cell's code."""

    def __init__(self, source: str) -> None:
        try:
            tree = ast.parse(source if len(source) <= 20_000 else "")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            tree = ast.parse("")
        nodes = list(ast.walk(tree))
        self.modules = {name for node in nodes for name in imported(node)}
        targets = [node.target for node in nodes if isinstance(node, (ast.For, ast.AsyncFor))]
        names = (name for target in targets for name in ast.walk(target))
        self.loops = frozenset(name.id for name in names if isinstance(name, ast.Name))
        """Variables of loops."""


def imported(node: ast.AST) -> list[str]:
    """Packages that the node imports."""
    if isinstance(node, ast.Import):
        return [name.name.split(".")[0] for name in node.names]
    return [(node.module or "").split(".")[0]] if isinstance(node, ast.ImportFrom) else []
