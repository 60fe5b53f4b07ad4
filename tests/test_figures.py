"""The figures of an answer are looked up in outputs: what is found, what is not, and how much is
read. The written answers with known origins are in ``tests/truth/answers``."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.core.events import Figure
from jupyter_codeinterp.core.figures import shown
from jupyter_codeinterp.core.figures.checking import check
from jupyter_codeinterp.core.figures.shown import Cell
from jupyter_codeinterp.core.figures.texts import text_of
from tests.truth.answers.rates import cases, measure


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def figures(answer: str, *texts: str, question: str = "", source: str = "") -> dict[str, Figure]:
    cell = Cell("c1", source, tuple(map(printed, texts)))
    return {one.text: one for one in check(answer, question, [cell]).figures}


def origins(answer: str, *texts: str, question: str = "", source: str = "") -> dict[str, str]:
    """Policies by figure; "" without an origin."""
    found = figures(answer, *texts, question=question, source=source)
    return {text: one.origin.policy if one.origin else "" for text, one in found.items()}


def test_the_rates_on_written_answers() -> None:
    assert len(cases()) >= 60
    rates = measure()
    assert rates.supported >= 180 and rates.planted >= 400
    assert rates.found >= 0.98 * rates.supported, rates.misses
    assert rates.accepted <= 0.01 * rates.planted, rates.misses


@pytest.mark.parametrize("large", ["1e999", "2.5e-999", "-1e308", "1e-320", "9e200 million"])
def test_numbers_that_fit_into_no_float(large: str) -> None:
    """They are no figures, or have no origin; the others are found."""
    found = origins(f"It is {large}, and 7412 rows.", f"best {large}\n7412", source=f"x = {large}")
    assert found["7412"] == "equal"
    assert origins("It is 7412 of 1e999.", "7412", question="Is it 1e999?")["7412"] == "equal"


@pytest.mark.parametrize(
    ("answer", "output", "policy"),
    [
        ("It is 7412.", "7412", "equal"),
        ("It is 7,412.", "7412", "separators"),
        ("It is 7,412.", "7411.8", "rounded"),
        ("It is 37.5 %.", "0.3751", "percentage"),
        ("It is 7.4 thousand.", "7412", "unit"),
        ("On 5 March 2024.", "2024-03-05", "date"),
        ("It is “North”.", "north", "name"),
        ("See “total sales”.", "total_sales  12", "name"),
        ("See “Total_Sales”.", "total sales", "name"),
        ("See “South-East”.", "south east", "name"),
        ("It is “O'Neill”.", "O\u2019Neill", "name"),
        ("See “Total sales”.", "total_salesman", ""),
        ("See “Total sales”.", "totalsales", ""),
        ("It is 7,413.", "7412", ""),
        ("It is 7,4.", "7412", ""),
        ("It is 7412.", "17412 74125 7.412", ""),
        ("On 5 March 2024.", "2024-03-06", ""),
        ("It is “North”.", "Northern", ""),
        ("On 30 February 2024.", "2024-02-03", ""),
    ],
)
def test_a_policy(answer: str, output: str, policy: str) -> None:
    found = origins(answer, output)
    assert list(found.values())[-1:] == [policy]


def test_two_numbers_give_a_figure_only_if_the_sentence_says_so() -> None:
    output = "red 500\nblue 130"
    assert origins("Red leads blue by 370, with a difference.", output) == {"370": "difference"}
    assert origins("Red and blue: 370.", output) == {"370": ""}
    assert origins("Green leads brown by 370, with a difference.", output) == {"370": ""}


def test_a_sign_is_part_of_the_figure() -> None:
    assert origins("The correlation is 0.72.", "corr -0.7213") == {"0.72": ""}
    assert origins("The correlation is -0.72.", "corr 0.7213") == {"-0.72": ""}
    assert origins("It fell by 0.72.", "change -0.7213") == {"0.72": "rounded"}


def test_among_many_numbers_a_word_must_say_which() -> None:
    """A hundred numbers between 0 and 1 have nearly every percentage."""
    many = "\n".join(f"item{number} {number * 0.0101:.4f}" for number in range(100))
    output = f"{many}\nwinter 0.4123"
    assert origins("The share of summer is 57 %.", output) == {"57 %": ""}
    assert origins("The share of winter is 41 %.", output) == {"41 %": "percentage"}
    assert origins("The share is 57 %.", "0.5712") == {"57 %": "percentage"}


def test_what_is_no_figure() -> None:
    answer = (
        "1. See In [5], cell 12 and [this](#cell:ab99) or <https://x.org/1234>.\n"
        "2. Q3, 2nd, v1.2.3, df2 and `df.head(77)`, in 2024, top 5.\n\n```\n999999\n```\n"
    )
    assert origins(answer, "1", question="The top 5 of 2024?") == {}


def test_code_gives_parameters_but_no_results() -> None:
    source = "window = 28\nprint('the mean is 7412')"
    assert origins("A window of 28 days.", "1.5", source=source) == {"28": "code"}
    assert origins("The mean is 7,412.", "1.5", source=source) == {"7,412": ""}


def test_a_place_is_that_of_the_output() -> None:
    text = "a 1\nthe sum is 7412 units\n"
    origin = figures("The sum is 7,412.", "x", text)["7,412"].origin
    assert origin is not None and (origin.cell_id, origin.output) == ("c1", 1)
    assert text[origin.start : origin.end] == origin.value == "7412"
    assert (origin.before, origin.after) == ("the sum is ", " units")


def test_positions_count_as_a_browser_does() -> None:
    one = figures("\U0001f600 The sum is 7,412.", "7412")["7,412"]
    assert (one.start, one.end) == (14, 19)


def test_an_excerpt_holds_no_key() -> None:
    cell = Cell("c1", "", (printed("token sk-secret-1 sum 7412 sk-secret-1"),))
    (one,) = check(
        "It is 7,412.", "", [cell], lambda text: text.replace("sk-secret-1", "…")
    ).figures
    assert one.origin is not None and "secret" not in repr(one)


def test_cells_that_ran_come_first() -> None:
    cells = [Cell("old", "", (printed("7412"),), ran=False), Cell("new", "", (printed("7412"),))]
    (one,) = check("It is 7412.", "", cells).figures
    assert one.origin is not None and one.origin.cell_id == "new"


def test_what_was_not_read_is_said() -> None:
    long = "".join(f"row {number} {number * 7}\n" for number in range(40_000))
    checked = check("It is 99,999,999.", "", [Cell("c1", "", (printed(long),))])
    assert checked.partly and checked.figures[0].origin is None
    whole = check("It is 99,999,999.", "", [Cell("c1", "", (printed("1"),))])
    assert not whole.partly


def test_only_a_bounded_part_is_read() -> None:
    cells = [Cell(f"c{n}", "", (printed("12345 " * 50_000),)) for n in range(20)]
    outputs = shown.Outputs(cells)
    assert sum(len(text.text) for text in outputs.texts) <= shown.MOST_TEXT
    assert len(outputs.shown) <= shown.MOST_NUMBERS


@pytest.mark.parametrize(
    "output", [None, {}, {"output_type": "stream", "text": 7}, {"data": []}, {"data": {"a": 1}}]
)
def test_outputs_of_any_shape(output: object) -> None:
    assert text_of(output) == ("", True)


def test_pictures_have_no_figures() -> None:
    data = {"image/png": "", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    assert text_of({"output_type": "display_data", "data": data}) == ("", True)
