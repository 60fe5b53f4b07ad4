"""Variables as origins of figures: which values the kernel tells, and which figures they give."""

from __future__ import annotations

from typing import Any

import msgspec
import pandas  # type: ignore[import-untyped]
import pytest

from jupyter_codeinterp.core.events import Figure
from jupyter_codeinterp.core.figures.held import MOST_TEXT, After, Held, Variable
from jupyter_codeinterp.core.figures.origins import origins
from jupyter_codeinterp.core.figures.shown import Cell
from jupyter_codeinterp.kernel_side.held import MOST_VALUES, held
from tests.truth.answers.rates import cases, measure


def told(**variables: Any) -> dict[str, str]:
    return {one["name"]: one["text"] for one in held(variables, variables)}


def figures(answer: str, *texts: str, output: str = "") -> dict[str, Figure]:
    after = After(5, tuple(Variable(text.split()[0], text) for text in texts))
    outputs = ({"output_type": "stream", "text": output},) if output else ()
    cell = Cell("c1", outputs, after=after)
    return {one.text: one for one in origins(answer, "", [cell])}


def from_variables(answer: str, *texts: str, output: str = "") -> dict[str, str]:
    """Names of variables by figure; "" for an output."""
    found = figures(answer, *texts, output=output)
    return {text: one.origin.variable for text, one in found.items()}


def test_small_values_of_known_types() -> None:
    assert told(growth=0.375124, n=7, best="Lower Saxony", none=None, right=True) == {
        "growth": "growth = 0.375124",
        "n": "n = 7",
        "best": "best = Lower Saxony",
    }
    assert told(totals={"North": 7412, "odd": object()}, few=[1, 2.5]) == {
        "totals": "totals\tNorth\t7412",
        "few": "few\t\t1\nfew\t\t2.5",
    }
    assert told(long="x" * 101, many=list(range(MOST_VALUES + 1)), huge=10**300) == {}


def test_values_of_tables() -> None:
    table = pandas.DataFrame({"mean": [1.5, 2.25], "who": ["a", object()]}, index=["x", "y"])
    assert told(table=table)["table"] == "table\tmean\twho\nx\t1.5\ta\ny\t2.25\t"
    assert told(column=pandas.Series([1.5, 2]))["column"] == "column\t\t1.5\ncolumn\t\t2.0"
    assert told(share=table["mean"].mean())["share"] == "share = 1.875"
    assert told(wide=pandas.DataFrame({"a": range(MOST_VALUES + 1)})) == {}


def test_values_of_other_types_are_not_touched() -> None:
    class Odd:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

        __eq__ = __hash__ = __repr__ = __len__ = __iter__ = __getattribute__  # type: ignore[assignment]

    odd = Odd()
    assert told(odd=odd, items=[odd], pairs={"a": odd}, both=(odd, 1)) == {"both": "both\t\t1"}


def test_a_variable_has_the_figure() -> None:
    (one,) = figures("Sales grew by 37.5 %.", "growth = 0.375124").values()
    assert (one.origin.variable, one.origin.count, one.origin.output) == ("growth", 5, -1)
    assert (one.origin.before, one.origin.value) == ("growth = ", "0.375124")
    assert one.origin.policy == "percentage"


def test_an_output_comes_before_a_variable() -> None:
    assert from_variables("It is 7,412.", "total = 7412") == {"7,412": "total"}
    assert from_variables("It is 7,412.", "total = 7412", output="7412") == {"7,412": ""}


def test_a_figure_of_few_digits_is_in_no_variable() -> None:
    """A loop leaves such numbers behind."""
    assert from_variables("There are 12 regions.", "n_regions = 12") == {}
    assert from_variables("There are 120 regions.", "n_regions = 120") == {"120": "n_regions"}


def test_only_cells_that_ran_or_that_the_answer_links() -> None:
    after = After(5, (Variable("total", "total = 7412"),))
    assert origins("It is 7,412.", "", [Cell("c1", (), ran=False, after=after)]) == ()


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"held": 7},
        {"held": [{"name": 7, "text": ""}]},
        {"held": [{"name": "a b", "text": "a b = 7412"}]},
        {"held": [{"name": "a", "text": "7412" * MOST_TEXT}]},
    ],
)
def test_reports_of_any_shape(report: dict[str, Any]) -> None:
    values = Held()
    values.ran("c1", 1, report)
    assert values.after("c1", lambda name: False).variables == ()


def test_private_variables_are_left_out() -> None:
    values = Held()
    values.ran("c1", 1, {"held": [{"name": "pin", "text": "pin = 7412"}]})
    assert values.after("c1", lambda name: False).variables
    assert not values.after("c1", lambda name: name == "pin").variables


def test_what_loops_leave_behind_makes_no_wrong_figure_right() -> None:
    """The written answers beside forty variables that have nothing to do with them."""
    names = [
        f"{kind}_{number}" for kind in ("size", "step", "value", "left") for number in range(10)
    ]
    values = [3, 12, 24, 63, 100, 0.1, 0.05, 42, 1024, 2.5]
    junk = tuple(Variable(name, f"{name} = {values[n % 10]}") for n, name in enumerate(names))
    beside = [
        msgspec.structs.replace(case, cells=(*case.cells, Cell("junk", (), after=After(1, junk))))
        for case in cases()
    ]
    rates = measure(beside)
    assert rates.found >= 0.98 * rates.supported, rates.misses
    assert rates.accepted <= 0.01 * rates.planted, rates.misses
