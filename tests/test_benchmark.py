"""When the benchmark says that a figure is worse than the last one."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.benchmark import last
from scripts.benchmark.__main__ import verdict
from scripts.benchmark.figures import Bound, Figure, Kept

BOUND = (Bound(1000, "median"),)


def time_of(milliseconds: float, pace: float = 1.0, spread: float = 0.0) -> Kept:
    values = [milliseconds - spread / 2, milliseconds, milliseconds + spread / 2]
    return Figure("a step", values, "ms", BOUND).kept(pace)


def amount(value: float, unit: str) -> Kept:
    return Figure("bytes", [value], unit, BOUND).kept(1.0)


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        (time_of(10), time_of(10), False),
        (time_of(10), time_of(11.9), False),  # Within a fifth.
        (time_of(10), time_of(12.1), True),
        (time_of(10), time_of(5), False),
        (time_of(10, pace=1), time_of(20, pace=2), False),  # On a machine at half the pace.
        (time_of(10, pace=1), time_of(10, pace=0.5), True),  # On one twice as fast.
        (time_of(10, spread=6), time_of(15), False),
        (time_of(10), time_of(15, spread=6), False),
        (time_of(0.01), time_of(0.1), False),  # Too short to compare.
        (amount(24, "kB"), amount(24.4, "kB"), False),
        (amount(24, "kB"), amount(24.6, "kB"), True),
        (amount(4, ""), amount(5, ""), True),
        (amount(4, ""), amount(3, ""), False),
    ],
)
def test_a_figure_is_worse_only_by_more_than_its_noise(
    before: Kept, after: Kept, worse: bool
) -> None:
    assert after.worse_than(before) is worse


def test_what_only_explains_is_never_worse() -> None:
    bare = Figure("… the bare server", [1.0], "ms")
    assert not Figure("… the bare server", [9.0], "ms").kept(1).worse_than(bare.kept(1))
    assert not time_of(10).worse_than(None)


@pytest.mark.parametrize(
    ("after", "accepted", "code"),
    [
        (time_of(11), False, 0),
        (time_of(20), False, 1),
        (time_of(20), True, 0),
        (time_of(2000), True, 1),  # Beyond its bound.
    ],
)
def test_the_bench_fails_on_a_figure_that_is_worse_until_it_is_accepted(
    after: Kept, accepted: bool, code: int
) -> None:
    assert verdict({"steps": [after]}, {"steps": [time_of(10)]}, accepted) == code


def test_figures_are_read_as_they_were_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = {"steps": [time_of(10), amount(3, "kB")], "task": [amount(4, "")]}
    monkeypatch.setattr(last, "FILE", tmp_path / "last.json")
    assert last.read() == {}
    last.write(groups)
    assert last.read() == groups
