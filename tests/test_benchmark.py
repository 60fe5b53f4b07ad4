"""When the benchmark says that a bound is met."""

from __future__ import annotations

import pytest

from scripts.benchmark.figures import Bound, Figure

VALUES = [float(value) for value in range(1, 101)]


@pytest.mark.parametrize(
    ("of", "value"), [("median", 50.5), ("p95", 95), ("p99", 99), ("worst", 100)]
)
def test_a_bound_is_met_up_to_its_limit(of: str, value: float) -> None:
    assert Figure("a step", VALUES, "ms", (Bound(value, of),)).met
    assert not Figure("a step", VALUES, "ms", (Bound(value - 0.1, of),)).met


def test_each_of_several_bounds_must_be_met() -> None:
    figure = Figure("a step", VALUES, "ms", (Bound(60, "median"), Bound(90, "p95")))
    assert not figure.met
    assert figure.row == ("a step (100)", "50.5 ms median, 95 ms p95", "≤ 60 ms, ≤ 90 ms", "**no**")
