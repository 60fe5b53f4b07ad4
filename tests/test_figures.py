"""The figures of an answer are looked up in outputs: which of its links have them, what is plain,
what nothing has, and how much is read. The written answers are in ``tests/truth/answers``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeinterp.features.figures import lookup, outputs
from jupyter_codeinterp.features.figures.lookup import look_up
from jupyter_codeinterp.features.figures.outputs import OutputCell, text_of
from jupyter_codeinterp.wire.events import Figure, Origin
from tests.truth.answers.states import FILES, accepted, answers, count, found


def printed(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text}


def linking(answer: str) -> str:
    """The answer with “[7,412]” as a link to the cell c1."""
    return re.sub(r"\[([^]]+)\](?!\()", r"[\1](#cell:c1)", answer)


def figures(answer: str, *texts: str, question: str = "", said: str = "") -> dict[str, Figure]:
    cell = OutputCell("c1", tuple(map(printed, texts)))
    return {one.text: one for one in look_up(linking(answer), question, [cell], said)}


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


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_states_in_written_answers(path: Path) -> None:
    """At most 3 of a hundred are in another state than a careful reader gives them. Wrong links
    are to numbers whose cell does not have the words of the title, or several numbers with them."""
    written = answers([path])
    misses = [one for answer in written for one in found(answer) if one[1] != one[2]]
    assert count(written) > 400 and len(misses) <= 0.03 * count(written), misses
    linked = [text for text, _, got in misses if got == "l"]
    assert len(linked) <= {"sixty": 1, "rows": 10}.get(path.stem, 0), linked


def test_a_link_with_a_wrong_digit() -> None:
    """By chance the cell may have that number, too."""
    linked, every = accepted(answers())
    assert every >= 2_000 and linked <= 0.02 * every


TAIL = (
    "kind       web       shop  call\nregion                          \nNorth      7.7       12.5"
    "  54.1\nSouth      7.9       10.8  58.5\nchi2=9.47 dof=9 p=0.3951"
)
"""A line after a table."""


@pytest.mark.parametrize("large", ["1e999", "2.5e-999", "-1e308", "1e-320", "9e200 million"])
def test_numbers_that_fit_into_no_float(large: str) -> None:
    """They have no origin; the others are found."""
    answer = f"It is [{large}], and [7412] rows."
    assert linked(answer, f"best {large}\n7412")["7412"] == "7412"
    assert linked(answer, "7412", question="Is it 1e999?") == {"7412": "7412"}


@pytest.mark.parametrize(
    ("answer", "output", "value"),
    [
        ("It is [7412].", "7412", "7412"),
        ("It is [7,412].", "7412", "7412"),
        ("It is [7,412].", "7411.8", "7411.8"),
        ("It is **[7,412]**.", "7412", "7412"),
        ("It is [37.5 %].", "0.3751", "0.3751"),
        ("It is [37.5] %.", "0.3751", "0.3751"),
        ("It is [37.5 percent].", "37.51 %", "37.51 %"),
        ("It is [0.375].", "37.5%", "37.5%"),
        ("It is [7.4 thousand].", "7412", "7412"),
        ("It is $[12.3]M.", "12345678", "12345678"),
        ("It is [12,300,000].", "12.3M", "12.3"),
        ("It is [3.2bn].", "3,214 million", "3,214"),
        ("It is [7.412] million.", "(in millions) 7.412", "7.412"),
        ("| People (M) |\n| - |\n| [7.41] |", "7411902", "7411902"),
        ("It is [1.234.567,5].", "1234567.5", "1234567.5"),
        ("Es sind 37,5 % von [7.412].", "7412 of 9000", "7412"),
        ("It is [1,234.57].", "1.234,57 EUR", "1.234,57"),
        ("Es sind [8,2 %].", "{'29,50 €': 0.082}", "0.082"),
        ("Chi-squared is [9.47].", TAIL, "9.47"),
        ("It is [412kg].", "412", "412"),
        ("It is [-7.5].", "-7.5", "-7.5"),
        ("It fell by [7.5].", "-7.5", "-7.5"),
        ("About [400] rows.", "432", "432"),
        ("[18,400] rows.", "18432", "18432"),
        ("More than [18,000] rows.", "18932", "18932"),
        ("It took [1.847 s].", "1847 ms", "1847"),
        ("They used [731 MWh].", "731204 kWh", "731204"),
        ("There are [3] regions.", "3", "3"),
        ("The mean of [2,140] is 9.", "2140", "2140"),
    ],
)
def test_the_linked_cell_has_it(answer: str, output: str, value: str) -> None:
    question = "What is the mean of 2,140?"
    assert linked(answer, output, question=question) == {number_in(answer): value}


def number_in(answer: str) -> str:
    """The linked number as the answer writes it, without its unit."""
    words = re.search(r"\[([^]]+)\]", answer)
    number = re.search(r"-?\d[\d.,]*(?: ?%)?", words[1]) if words is not None else None
    return number[0] if number is not None else ""


@pytest.mark.parametrize(
    ("answer", "output", "state"),
    [
        ("It is [7,413].", "7412", "not found"),
        ("It is [7,4].", "7412", "not found"),
        ("It is [7412].", "17412 74125 74.12", "not found"),
        ("Red leads by 370, with a difference.", "red 500\nblue 130", "not found"),
        ("It took 1.847 s.", "1847 ms", "not found"),
        ("It took [1.84 s].", "1840000000000 ms", "not found"),
        ("About 400 rows, or 470.", "432", "not found"),
        ("It is 500.", "7412", "plain"),
        ("It is 7412.", "7412", "plain"),
        ("It is 18,400.", "18432", "plain"),
        ("It is [7412](https://x.org).", "7412", "plain"),
        ("It is [7412](#cell:c2).", "7412", "plain"),
        ("The [sums](#cell:c1) have 7412.", "7412", "plain"),
        ("On [12 March 2024], at [12:34], in [2024].", "12 2024 12:34 34", "plain"),
        ("See [cell 12] and [Table 12].", "12", "plain"),
    ],
)
def test_states(answer: str, output: str, state: str) -> None:
    found = {one.origin is not None for one in figures(answer, output).values()}
    assert {frozenset(): "plain", frozenset([True]): "linked", frozenset([False]): "not found"}[
        frozenset(found)
    ] == state


def test_what_a_message_or_a_cell_has_is_not_missing() -> None:
    answer = "The 4,711 rows, a window of 28 days and 97 % of them; 4,721 is new."
    assert not_found(answer) == ["4,711", "28", "97 %", "4,721"]
    assert not_found(answer, said="4711 rows\nwindow = 28\nlevel = 0.97") == ["4,721"]


def test_a_cell_that_another_conversation_ran_is_no_origin_and_nothing_is_missing() -> None:
    cell = OutputCell("c1", (printed("7412"),), ran=False)
    assert look_up("It is [7,412](#cell:c1).", "", [cell]) == ()


def test_what_is_no_figure() -> None:
    answer = (
        "1. See In [5](#), cell 12 and [this](#cell:ab99) or <https://x.org/1234>.\n"
        "2. Q3, 2nd, v1.2.3, df2 and `df.head(77)`, in 2024, top 50.\n\n```\n999999\n```\n"
    )
    assert figures(answer, "", question="The top 50 of 2024?") == {}
    assert not_found("`df.head([77](#cell:c1))` has 77.") == ["77"]


def test_an_origin_has_its_line_and_its_columns_title() -> None:
    table = "country  segment  revenue\nGermany      SMB     8120\n France      SMB    10000\n"
    found = origin("In Germany revenue is [8,120].", "x 1", table)
    assert (found.cell_id, found.output, found.value) == ("c1", 1, "8120")
    assert (found.before.split(), found.labels) == (["Germany", "SMB"], "revenue")


@pytest.mark.parametrize(
    ("output", "title"),
    [
        ("      2023   2024\nA    7411  7412", "2024"),
        ("         n  mean_los\nward\nGeri  7412  12.778", "n"),
        ("shape: (1, 2)\n┌──────┬──────┐\n│ city ┆ sold │\n│ Oslo ┆ 7412 │", "sold"),
        ("city | number sold\nOslo | 7412", "number sold"),
        ("rows: 12\nsold: 7412", ""),
        ("North 7411\nSouth 7412", ""),
        ("city  sold\n\nOslo  7412", "sold"),
        ("city  sold 1\n\nOslo  7412", ""),
        ("7412", ""),
    ],
)
def test_titles(output: str, title: str) -> None:
    assert origin("It is [7,412].", output).labels == title


YEARS = """\
              paid             orders
              2023     2024      2023 2024
country kind
DE      web   100.5    210.0       11   22
        shop  340.0    470.2       33   44
FR      web   500.5    610.0       55   22
"""
RATES = """\
              precision    recall
\n        oslo       0.81      0.76
        kiel       0.76      0.64

    accuracy                 0.71
"""
LISTED = """\
Read: 9 files
Minutes above 8 degrees
  door   1220
  back   17
Longest at the door: 65
"""
RULES = "         if    then  share\n0     pasta  tomato   0.39\n1    tomato   pasta   0.57\n"
FIT = (
    "        coef   P>|t|   [0.025   0.975]\n------------------------------\n"
    "floor   0.12   0.376    0.008    0.131\n"
)


@pytest.mark.parametrize(
    ("text", "title", "output", "is_linked"),
    [
        ("[210]", "DE web, 2024", YEARS, True),
        ("[210]", "DE, web", YEARS, True),
        ("[210]", "DE web, 2023", YEARS, False),
        ("[210]", "DE, shop", YEARS, False),
        ("[210]", "FR, web", YEARS, False),
        ("[210]", "DE web, orders 2024", YEARS, False),
        ("[470.2]", "shop, DE", YEARS, True),
        ("[470.2]", "FR", YEARS, False),
        ("[0.76]", "kiel, precision", RATES, True),
        ("[0.76]", "oslo recall", RATES, True),
        ("[0.64]", "kiel, precision", RATES, False),
        ("[1,220]", "minutes above 8 degrees, door", LISTED, True),
        ("[1,220]", "minutes above 8 degrees, back", LISTED, False),
        ("[65]", "longest, door", LISTED, True),
        ("[57 %]", "tomato pasta, share", RULES, True),
        ("[57 %]", "pasta tomato, share", RULES, False),
        ("[0.38]", "floor, P>|t|", FIT, True),
        ("[0.38]", "floor, coef", FIT, False),
        ("[22 of 210]", "DE web, orders 2024", YEARS, True),
        # Words of the model's own, and no title, say nothing of another number.
        ("[210]", "Umsatz in Deutschland", YEARS, True),
        ("[210]", "", YEARS, True),
        ("[7412]", "North", "7412\n", True),
    ],
)
def test_a_title_names_the_row_and_column(
    text: str, title: str, output: str, is_linked: bool
) -> None:
    """A number is linked unless the words of the title are those of another number."""
    answer = f'It is {text}(#cell:c1 "{title}").'
    found = figures(answer, output)
    assert all((one.origin is not None) == is_linked for one in found.values())
    assert bool(found) == is_linked


def test_the_place_that_fits_the_title_is_shown() -> None:
    for city in ("Oslo", "Kiel"):
        (found,) = figures(f'It is [71](#cell:c1 "{city}").', "Oslo 71\n", "Kiel 71\n").values()
        assert found.origin is not None and found.origin.before == f"{city} " and not found.also


def test_a_title_over_many_numbers_takes_linear_time() -> None:
    rows = "\n".join(f"{' ' * (place % 60)}a b {place + 1000}" for place in range(3_000))
    answer = " ".join(f'[{place}](#cell:c1 "{"a b " * 15}")' for place in range(1_000, 1_300))
    assert len(figures(answer, rows)) == lookup.MOST


def test_all_places_of_the_cell_are_shown_up_to_a_bound() -> None:
    found = figures("It is [7,412].", "North 7412\n", "x 1", *["sum 7411.9\n"] * 9)["7,412"]
    assert found.origin is not None and len(found.also) == lookup.MOST_PLACES - 1
    assert [one.before.strip() for one in (found.origin, *found.also)] == ["North", *["sum"] * 3]


def test_positions_count_as_a_browser_does() -> None:
    one = figures("\U0001f600 The [sum is 7,412 %].", "7412%")["7,412 %"]
    assert (one.start, one.end) == (15, 22)
    one = figures("\U0001f600 [2](#cell:x) [7,412] %.", "7412%")["7,412"]
    assert (one.start, one.end) == (17, 22)


def test_an_excerpt_holds_no_key() -> None:
    cell = OutputCell("c1", (printed("token sk-secret-1 sum 7412 sk-secret-1"),))
    answer, without = "It is [7,412](#cell:c1).", lambda text: text.replace("sk-secret-1", "…")
    (one,) = look_up(answer, "", [cell], "", without)
    assert one.origin is not None and "secret" not in repr(one)


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
