"""The figures of an answer are looked up in outputs: what is found, what is not, and how much is
read. The written answers with known origins are in ``tests/truth/answers``."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.core.events import Figure
from jupyter_codeinterp.core.figures import shown
from jupyter_codeinterp.core.figures.origins import origins
from jupyter_codeinterp.core.figures.shown import Cell
from jupyter_codeinterp.core.figures.texts import text_of
from tests.truth.answers.rates import cases, measure


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def figures(answer: str, *texts: str, question: str = "") -> dict[str, Figure]:
    cell = Cell("c1", tuple(map(printed, texts)))
    return {one.text: one for one in origins(answer, question, [cell])}


def policies(answer: str, *texts: str, question: str = "") -> dict[str, str]:
    """Of the figures that have an origin."""
    found = figures(answer, *texts, question=question)
    return {text: one.origin.policy for text, one in found.items()}


def test_the_rates_on_written_answers() -> None:
    assert len(cases()) >= 60
    rates = measure()
    assert rates.supported >= 140 and rates.planted >= 400
    assert rates.found >= 0.98 * rates.supported, rates.misses
    assert rates.accepted <= 0.01 * rates.planted, rates.misses


@pytest.mark.parametrize("large", ["1e999", "2.5e-999", "-1e308", "1e-320", "9e200 million"])
def test_numbers_that_fit_into_no_float(large: str) -> None:
    """They have no origin; the others are found."""
    assert policies(f"It is {large}, and 7412 rows.", f"best {large}\n7412")["7412"] == "equal"
    assert policies("It is 7412 of 1e999.", "7412", question="Is it 1e999?")["7412"] == "equal"


@pytest.mark.parametrize(
    ("answer", "output", "policy"),
    [
        ("It is 7412.", "7412", "equal"),
        ("It is 7,412.", "7412", "equal"),
        ("It is 7,412.", "7411.8", "rounded"),
        ("It is 37.5 %.", "0.3751", "percentage"),
        ("It is 37.5 percent.", "37.51 %", "rounded"),
        ("It is 7.4 thousand.", "7412", "rounded"),
        ("It is 12.3M.", "12345678", "rounded"),
        ("It is 1.234.567,5.", "1234567.5", "equal"),
        ("It is 412kg.", "412", "equal"),
        ("It is -7.5.", "-7.5", "equal"),
    ],
)
def test_an_output_has_it(answer: str, output: str, policy: str) -> None:
    assert list(policies(answer, output).values()) == [policy]


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ("It is 7,413.", "7412"),
        ("It is 7,4.", "7412"),
        ("It is 7412.", "17412 74125 7.412"),
        ("Red leads by 370, with a difference.", "red 500\nblue 130"),
        ("It took 1.847 s.", "1847 ms"),
        ("The correlation is 0.72.", "corr -0.7213"),
        ("The correlation is -0.72.", "corr 0.7213"),
        ("There are 3 regions.", "3"),
        ("On 12 March 2024, at 12:34, in 2024.", "12 2024 12:34 34"),
        ("See cell 12 and Table 12.", "12"),
    ],
)
def test_no_output_has_it(answer: str, output: str) -> None:
    assert policies(answer, output) == {}


def test_few_digits_among_many_numbers_have_no_origin() -> None:
    """A hundred numbers between 0 and 1 have nearly every percentage."""
    many = "\n".join(f"item{number} {number * 0.0101:.4f}" for number in range(100))
    assert policies("The share is 57 %.", many) == {}
    assert policies("The share is 57 %.", "0.5712") == {"57 %": "percentage"}


def test_what_is_no_figure() -> None:
    answer = (
        "1. See In [5], cell 12 and [this](#cell:ab99) or <https://x.org/1234>.\n"
        "2. Q3, 2nd, v1.2.3, df2 and `df.head(77)`, in 2024, top 50.\n\n```\n999999\n```\n"
    )
    output = "5 12 99 1234 3 2 77 2024 50 999999"
    assert policies(answer, output, question="The top 50 of 2024?") == {}


def test_a_place_is_that_of_the_output() -> None:
    text = "a 1\nthe sum is 7412 units\n"
    origin = figures("The sum is 7,412.", "x", text)["7,412"].origin
    assert (origin.cell_id, origin.output) == ("c1", 1)
    assert text[origin.start : origin.end] == origin.value == "7412"
    assert (origin.before, origin.after) == ("the sum is ", " units")


def test_positions_count_as_a_browser_does() -> None:
    one = figures("\U0001f600 The sum is 7,412.", "7412")["7,412"]
    assert (one.start, one.end) == (14, 19)


def test_an_excerpt_holds_no_key() -> None:
    cell = Cell("c1", (printed("token sk-secret-1 sum 7412 sk-secret-1"),))
    (one,) = origins("It is 7,412.", "", [cell], lambda text: text.replace("sk-secret-1", "…"))
    assert "secret" not in repr(one)


def test_cells_that_ran_come_first() -> None:
    cells = [Cell("old", (printed("7412"),), ran=False), Cell("new", (printed("7412"),))]
    (one,) = origins("It is 7412.", "", cells)
    assert one.origin.cell_id == "new"


def test_only_a_bounded_part_is_read() -> None:
    cells = [Cell(f"c{n}", (printed("12345 " * 50_000),)) for n in range(20)]
    outputs = shown.Outputs(cells)
    assert sum(len(text.text) for text in outputs.texts) <= shown.MOST_TEXT
    assert len(outputs.values) <= shown.MOST_NUMBERS


@pytest.mark.parametrize(
    "output", [None, {}, {"output_type": "stream", "text": 7}, {"data": []}, {"data": {"a": 1}}]
)
def test_outputs_of_any_shape(output: object) -> None:
    assert text_of(output) == ""


def test_pictures_have_no_figures() -> None:
    data = {"image/png": "", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    assert text_of({"output_type": "display_data", "data": data}) == ""
