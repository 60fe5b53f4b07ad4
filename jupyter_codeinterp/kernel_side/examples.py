"""Tries examples that a person's message gives, right after the cell that defines the function.
This file's text runs **in the kernel**, and only where there are examples.

A call is code of that cell with arguments that the person wrote. It prints and shows nothing, and
all calls have a second together. What it does to variables is part of what the cell did. Results
of unknown types are not compared. Standard library only.
"""

from __future__ import annotations

import ast
import contextlib
import io
import math
import reprlib
import signal
import sys
import threading
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from .variables import is_among, is_one_of, numpy_scalars, type_name

SECONDS = 1.0
MOST_ITEMS = 10_000
"""Of a result that is compared."""
LARGEST = 4_000
"""Bits of a number."""
DEEPEST = 20
ATOMS = (type(None), bool, int, float, complex, str, bytes)
DELAYED = 0x20 | 0x80 | 0x200
"""Flags of generators and coroutines: a call of one runs none of its code."""
CLOSE = 1e-9


class OutOfTime(BaseException):
    """No ``except Exception`` of the function catches it."""


class Unknown(Exception):
    pass


class Nothing(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


def tried(
    wanted: list[dict[str, str]], shell: Any, is_new: Callable[[str], bool]
) -> list[dict[str, Any]]:
    """What became of each call: ``got`` as text, or ``raised``, a type's name; and whether it is
    the ``same`` as expected. A call out of time is ``late``, those after it are ``untried``.
    Nothing of a result that cannot be compared."""
    calls = [
        one for one in wanted if is_ready(shell.user_ns.get(one["name"])) and is_new(one["name"])
    ]
    found: list[dict[str, Any]] = []
    if can_stop():
        with silent(shell):
            calls = carry_out(calls, shell, found)
    return [*found, *({"call": one["call"], "untried": True} for one in calls)]


def carry_out(
    calls: list[dict[str, str]], shell: Any, found: list[dict[str, Any]]
) -> list[dict[str, str]]:
    """Add what became of the calls to ``found``. Returns those that had no time."""
    left = list(calls)
    now = ""
    try:
        with limited(SECONDS):
            while left:
                one = left.pop(0)
                now = one["call"]
                told = outcome(shell.user_ns[one["name"]], one)
                if told:
                    found.append({"call": now, **told})
                now = ""
    except OutOfTime:
        if now:
            found.append({"call": now, "late": True})
    except KeyboardInterrupt:
        # Somebody pressed Stop. The cell itself has ended.
        left.clear()
    return left


def outcome(function: Any, one: dict[str, str]) -> dict[str, Any]:
    call = ast.parse(one["call"], mode="eval").body
    expected = ast.literal_eval(one["expected"])
    arguments = [ast.literal_eval(argument) for argument in call.args]  # type: ignore[attr-defined]
    keywords = {each.arg: ast.literal_eval(each.value) for each in call.keywords}  # type: ignore[attr-defined]
    try:
        value = function(*arguments, **keywords)
    except (OutOfTime, KeyboardInterrupt):
        raise
    except BaseException as error:
        return {"raised": type_name(type(error)), "same": False}
    try:
        got = read(value, [MOST_ITEMS], DEEPEST)
    except Unknown:
        return {}
    return {"got": text_of(got), "same": same(expected, got, one["expected"])}


def is_ready(value: Any) -> bool:
    """Whether a call of it runs its code."""
    return type(value) is types.FunctionType and not value.__code__.co_flags & DELAYED


def read(value: Any, left: list[int], depth: int) -> Any:
    """The value in Python's own types, with numbers of numpy as Python's. Raises ``Unknown`` for
    others, and for what is too large."""
    kind, numpy = type(value), sys.modules.get("numpy")
    left[0] -= 1
    if left[0] < 0 or depth < 0 or (kind is int and value.bit_length() > LARGEST):
        raise Unknown
    if is_among(kind, ATOMS):
        return value
    if kind is dict:
        pairs = ((read(part, left, depth - 1) for part in pair) for pair in value.items())
        return {key: item for key, item in pairs}
    if is_among(kind, (list, tuple, set, frozenset)):
        return kind(read(part, left, depth - 1) for part in value)
    if numpy is not None and is_one_of(kind, numpy, ("ndarray",)) and value.size <= left[0]:
        return read(value.tolist(), left, depth - 1)
    if numpy is not None and is_among(kind, numpy_scalars(numpy)):
        return read(value.item(), left, depth - 1)
    raise Unknown


def same(expected: Any, got: Any, written: str = "") -> bool:
    """Equal; of numbers also close, or rounded to two or more decimals as written."""
    numbers = [is_among(type(one), (int, float)) for one in (expected, got)]
    if all(numbers) and float in (type(expected), type(got)):
        digits = written.strip("+-").partition(".")[2]
        if len(digits) >= 2 and digits.isdigit() and round(got, len(digits)) == expected:
            return True
        try:
            return math.isclose(expected, got, rel_tol=CLOSE, abs_tol=CLOSE)
        except OverflowError:
            return False
    kind = type(expected)
    if is_among(kind, (list, tuple)):
        pairs = zip(expected, got) if type(got) is kind else ()  # noqa: B905
        return type(got) is kind and len(expected) == len(got) and all(same(*one) for one in pairs)
    if kind is dict:
        return (
            type(got) is dict
            and expected.keys() == got.keys()
            and all(same(value, got[key]) for key, value in expected.items())
        )
    return bool(expected == got)


def text_of(value: Any) -> str:
    short = reprlib.Repr()
    short.maxstring = short.maxother = short.maxlong = 80
    short.maxlist = short.maxtuple = short.maxset = short.maxdict = 8
    return short.repr(value)[:160]


def can_stop() -> bool:
    """Whether a call can be ended: by a timer that nobody else uses."""
    return (
        hasattr(signal, "setitimer")
        and threading.current_thread() is threading.main_thread()
        and signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    )


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raises ``OutOfTime``, once. A function that catches it goes on as any cell does."""

    def end(number: int, frame: Any) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, end)
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def silent(shell: Any) -> Iterator[None]:
    """Without output, warnings and new figures; and with the guard that cells have."""
    from IPython.utils.capture import capture_output

    callbacks = shell.events.callbacks["post_execute"]
    owners = [getattr(call, "__self__", None) for call in callbacks]
    guards: list[Any] = [owner for owner in owners if type(owner).__name__ == "Guard"]
    figures = open_figures()
    for guard in guards:
        guard.begin()
    try:
        with contextlib.ExitStack() as stack:
            stack.enter_context(capture_output(stdout=False, stderr=False))
            stack.enter_context(contextlib.redirect_stdout(Nothing()))
            stack.enter_context(contextlib.redirect_stderr(Nothing()))
            stack.enter_context(warnings.catch_warnings())
            warnings.simplefilter("ignore")
            yield
    finally:
        for guard in guards:
            guard.end()
        for number in open_figures() - figures:
            sys.modules["matplotlib.pyplot"].close(number)


def open_figures() -> set[int]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return set() if pyplot is None else set(pyplot.get_fignums())
