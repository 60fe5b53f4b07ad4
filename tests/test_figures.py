"""The figures of an answer are looked up in outputs: what is linked, what is plain, what nothing
has, and how much is read. The written answers are in ``tests/truth/answers``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.features.figures import lookup, outputs
from jupyter_codeinterp.features.figures.lookup import look_up
from jupyter_codeinterp.features.figures.outputs import OutputCell, text_of
from jupyter_codeinterp.wire.events import Figure, Origin
from tests.truth.answers.rates import cases, measure
from tests.truth.answers.states import FILES, answers, count, wrong


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def figures(answer: str, *texts: str, question: str = "", said: str = "") -> dict[str, Figure]:
    cell = OutputCell("c1", tuple(map(printed, texts)))
    return {one.text: one for one in look_up(answer, question, [cell], said)}


def linked(answer: str, *texts: str, question: str = "") -> dict[str, str]:
    """The values that figures are linked to."""
    found = figures(answer, *texts, question=question)
    return {text: one.origin.value for text, one in found.items() if one.origin is not None}


def not_found(answer: str, *texts: str, question: str = "", said: str = "") -> list[str]:
    found = figures(answer, *texts, question=question, said=said)
    return [text for text, one in found.items() if one.origin is None]


def origin(answer: str, *texts: str) -> Origin:
    (found,) = (one.origin for one in figures(answer, *texts).values())
    assert found is not None
    return found


BEYOND = {
    "budget, question numbers, said: 180",  # “in fact” is no word of the column `actual`.
    "customer totals, mixed: 2,214.50",  # A name that no output has, and a clause after it.
    "players2: 1,502",  # The same.
    "m1 fraud: 0.97",  # “Regular” is the row `ok`, and the mean of the rows has 0.97.
    "m2 json: 38",  # “38 jobs are queued”: the name comes two words after the number.
    "n16: 70 %",  # “Validation accuracy” is `val_acc`.
    "n18: 284",  # A matrix without labels has it, too.
    "n27: 5,009",  # The month is a number alone.
    "s1 velos_fr: 19,56",  # The rows are `oui` and `non`.
    "s3 lr_sweep: 0.8425",  # The row is named by a number that is none of whole ones: `1e-02`.
}
"""Links against a label that the rules cannot see."""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_states_in_written_answers(path: Path) -> None:
    """At most two of a hundred are wrong, and no other link contradicts a label."""
    written = answers([path])
    misses = [line for one in written for line in wrong(one)]
    assert count(written) >= 800 and len(misses) <= 0.02 * count(written), misses
    assert {line.split(" is ")[0] for line in misses if line.endswith("found l")} <= BEYOND


TAIL = (
    "kind       web       shop  call\nregion                          \nNorth      7.7       12.5"
    "  54.1\nSouth      7.9       10.8  58.5\nchi2=9.47 dof=9 p=0.3951"
)
"""A line after a table."""


def test_the_rates_of_changed_digits() -> None:
    assert len(cases()) >= 50
    rates = measure()
    assert rates.supported >= 130 and rates.planted >= 400
    assert rates.found >= 0.98 * rates.supported, rates.misses
    assert rates.accepted <= 0.001 * rates.planted, rates.misses


@pytest.mark.parametrize("large", ["1e999", "2.5e-999", "-1e308", "1e-320", "9e200 million"])
def test_numbers_that_fit_into_no_float(large: str) -> None:
    """They have no origin; the others are found."""
    assert linked(f"It is {large}, and 7412 rows.", f"best {large}\n7412")["7412"] == "7412"
    assert linked("It is 7412 of 1e999.", "7412", question="Is it 1e999?") == {"7412": "7412"}


@pytest.mark.parametrize(
    ("answer", "output", "value"),
    [
        ("It is 7412.", "7412", "7412"),
        ("It is 7,412.", "7412", "7412"),
        ("It is 7,412.", "7411.8", "7411.8"),
        ("It is 37.5 %.", "0.3751", "0.3751"),
        ("It is 37.5 percent.", "37.51 %", "37.51 %"),
        ("It is 0.375.", "37.5%", "37.5%"),
        ("It is 7.4 thousand.", "7412", "7412"),
        ("It is 12.3M.", "12345678", "12345678"),
        ("It is 12,300,000.", "12.3M", "12.3"),
        ("It is 3.2bn.", "3,214 million", "3,214"),
        ("It is 1.234.567,5.", "1234567.5", "1234567.5"),
        ("Es sind 37,5 % von 7.412.", "7412 of 9000", "7412"),
        ("It is 1,234.57.", "1.234,57 EUR", "1.234,57"),
        ("Es sind 8,2 %.", "{'29,50 €': 0.082}", "0.082"),
        ("Chi-squared is 9.47.", TAIL, "9.47"),
        ("It is 412kg.", "412", "412"),
        ("It is -7.5.", "-7.5", "-7.5"),
        ("It fell by 7.5.", "-7.5", "-7.5"),
        ("About 18,400 rows.", "18432", "18432"),
        ("More than 18,000 rows.", "18932", "18932"),
    ],
)
def test_an_output_has_it(answer: str, output: str, value: str) -> None:
    assert list(linked(answer, output).values()) == [value]


GERMANY = "country  segment  revenue\nGermany      SMB     8120\n France      SMB    10000\n"
ORDERS = "order_id country  amount\n    9998 Germany   87.25\n   10000  France  312.50\n"


@pytest.mark.parametrize(
    ("answer", "output", "state"),
    [
        ("It is 7,413.", "7412", "not found"),
        ("It is 7,4.", "7412", "not found"),
        ("It is 7412.", "17412 74125 7.412", "not found"),
        ("Red leads by 370, with a difference.", "red 500\nblue 130", "not found"),
        ("It took 1.847 s.", "1847 ms", "not found"),
        ("It took 1.84 s.", "1840 ms", "not found"),
        ("It is 500.", "7412", "plain"),
        ("The correlation is 0.72.", "corr -0.7213", "plain"),
        ("The correlation is -0.72.", "corr 0.7213", "plain"),
        ("There are 3 regions.", "3", "plain"),
        ("On 12 March 2024, at 12:34, in 2024.", "12 2024 12:34 34", "plain"),
        ("See cell 12 and Table 12.", "12", "plain"),
        ("SMB in Germany paid 10,000 euros.", GERMANY, "plain"),
        ("SMB in Germany paid 10,000 euros.", ORDERS, "plain"),
        ("Spain paid 10,000 euros.", GERMANY, "plain"),
        ("SMB in France paid 10,000 euros.", GERMANY, "linked"),
        ("The highest revenue is 10,000.", GERMANY, "linked"),
        ("The last order is 10000.", ORDERS, "linked"),
    ],
)
def test_states(answer: str, output: str, state: str) -> None:
    found = {one.origin is not None for one in figures(answer, output).values()}
    assert {frozenset(): "plain", frozenset([True]): "linked", frozenset([False]): "not found"}[
        frozenset(found)
    ] == state


def test_once_linked_linked_everywhere() -> None:
    (first, second) = look_up("It is 7,412. So 7,412.", "", [OutputCell("c1", (printed("7412"),))])
    assert first.origin == second.origin is not None


def test_what_a_message_or_a_cell_has_is_not_missing() -> None:
    answer = "The 4,711 rows, a window of 28 days and 97 % of them; 4,721 is new."
    assert not_found(answer) == ["4,711", "28", "97 %", "4,721"]
    assert not_found(answer, said="4711 rows\nwindow = 28\nlevel = 0.97") == ["4,721"]


def test_a_run_of_another_conversation_is_no_link_and_not_missing() -> None:
    assert look_up("It is 7,412.", "", [OutputCell("c1", (printed("7412"),), ran=False)]) == ()


def test_few_digits_among_many_numbers_have_no_origin() -> None:
    """A hundred numbers between 0 and 1 have nearly every percentage."""
    many = "\n".join(f"item{number} {number * 0.0101:.4f}" for number in range(100))
    assert figures("The share is 57 %.", many) == {}
    assert linked("The share is 57 %.", "0.5712") == {"57 %": "0.5712"}


def test_what_is_no_figure() -> None:
    answer = (
        "1. See In [5], cell 12 and [this](#cell:ab99) or <https://x.org/1234>.\n"
        "2. Q3, 2nd, v1.2.3, df2 and `df.head(77)`, in 2024, top 50.\n\n```\n999999\n```\n"
    )
    output = "5 12 99 1234 3 2 77 2024 50 999999"
    assert figures(answer, output, question="The top 50 of 2024?") == {}


def test_an_origin_has_the_row_and_its_labels() -> None:
    found = origin("In Germany revenue is 8,120.", "x 1", GERMANY)
    assert (found.cell_id, found.output, found.value) == ("c1", 1, "8120")
    assert (found.before.split(), found.labels) == (["Germany", "SMB"], "revenue")


def test_all_places_that_fit_are_shown_up_to_a_bound() -> None:
    found = figures("It is 7,412.", "North 7412\n", "x 1", *["sum 7412\n"] * 9)["7,412"]
    assert found.origin is not None and len(found.also) == lookup.MOST_PLACES - 1
    assert [one.before.strip() for one in (found.origin, *found.also)] == ["North", *["sum"] * 3]
    assert figures("North has 7,412.", "North 7412\nSouth 7412\n")["7,412"].also == ()


def test_positions_count_as_a_browser_does() -> None:
    one = figures("\U0001f600 The sum is 7,412.", "7412")["7,412"]
    assert (one.start, one.end) == (14, 19)


def test_an_excerpt_holds_no_key() -> None:
    cell = OutputCell("c1", (printed("token sk-secret-1 sum 7412 sk-secret-1"),))
    (one,) = look_up("It is 7,412.", "", [cell], "", lambda text: text.replace("sk-secret-1", "…"))
    assert one.origin is not None and "secret" not in repr(one)


def test_cells_that_ran_come_first() -> None:
    cells = [
        OutputCell("old", (printed("7412"),), ran=False),
        OutputCell("new", (printed("7412"),)),
    ]
    (one,) = look_up("It is 7412.", "", cells)
    assert one.origin is not None and one.origin.cell_id == "new"


def test_only_a_bounded_part_is_read() -> None:
    cells = [OutputCell(f"c{n}", (printed("12345 " * 50_000),)) for n in range(20)]
    found = outputs.Outputs(cells)
    assert 0 < len(found.shown) <= outputs.MOST_NUMBERS
    assert len({one.cell_id for one in found.shown}) <= outputs.MOST_TEXT // 10_000


@pytest.mark.parametrize(
    "output", [None, {}, {"output_type": "stream", "text": 7}, {"data": []}, {"data": {"a": 1}}]
)
def test_outputs_of_any_shape(output: object) -> None:
    assert text_of(output) == ""


def test_pictures_have_no_figures() -> None:
    data = {"image/png": "", "text/plain": "<Figure size 640x480 with 1 Axes>"}
    assert text_of({"output_type": "display_data", "data": data}) == ""
