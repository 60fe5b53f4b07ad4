"""What counts as the same output, and what the code alone shows."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.run.verify.comparing import compare, last_lines, normal_lines
from jupyter_codeinterp.run.verify.verification import Difference


def text(words: str) -> list[dict[str, Any]]:
    return [{"output_type": "execute_result", "data": {"text/plain": words}}]


def printed(*words: str, name: str = "stdout") -> list[dict[str, Any]]:
    return [{"output_type": "stream", "name": name, "text": one} for one in words]


def table(*rows: str) -> list[dict[str, Any]]:
    body = "".join(f"<tr><td>{'</td><td>'.join(row.split())}</td></tr>" for row in rows)
    data = {"text/html": f"<style>#T_a1 {{}}</style><table>{body}</table>", "text/plain": "x"}
    return [{"output_type": "display_data", "data": data}]


def compared(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> Difference | None:
    return compare(old, new, ("/tmp/codeinterp-verify-1/work", "/home/me/work"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<A at 0x7f00aa11bb22>", "<A at 0x7f00aa11ff44>"),
        ("Wall time: 3.2 s", "Wall time: 10 ms"),
        ("CPU times: user 3 ms, sys: 1 ms, total: 4 ms\n7", "CPU times: user 9 s, sys: 1 s\n7"),
        (" 10%|█         | 1/10 [00:00<00:09]\ndone", "100%|██████████| 10/10 [00:01<00:00]\ndone"),
        ("0.30000000000000004", "0.3"),
        ("North    1.50\nSouth   10.00", "North  1.50\nSouth 10.00"),
        ("read /home/me/work/a.csv", "read /tmp/codeinterp-verify-1/work/a.csv"),
    ],
)
def test_what_differs_from_run_to_run_is_no_difference(old: str, new: str) -> None:
    assert compared(text(old), text(new)) is None
    assert compared(printed(old), printed(new)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("6", "7"),
        ("0.5", "0.50001"),
        ("North 1.5", "South 1.5"),
        ("mean delay 12 min", "mean delay 15 min"),
        ("start 2024-01-01 00:00:00", "start 2024-01-02 00:00:00"),
        ("a\nb", "a"),
        ("1234567890123456789", "1234567890123456788"),
        ("1.5", "-1.5"),
        # It does not guess which times, sizes and names are no data.
        ("epoch 1 took 3.21 s: loss 0.5", "epoch 1 took 12 s: loss 0.5"),
        ("2026-11-24 10:01:02,123 INFO read", "2026-11-25 11:01:02,456 INFO read"),
        ("memory usage: 12.3+ KB", "memory usage: 99.0 KB"),
        ("5f3759df-1234-4abc-9def-0123456789ab", "6f3759df-1234-4abc-9def-0123456789ab"),
    ],
)
def test_what_the_data_says_is_one(old: str, new: str) -> None:
    assert compared(text(old), text(new)) is not None
    assert compared(printed(old), printed(new)) is not None


def test_the_first_differing_line_is_shown() -> None:
    found = compared(text("a  1\nb  2\nc  3"), text("a  1\nb  5\nc  6"))
    assert found == Difference("b 2", "b 5")
    assert compared(text("a"), []) == Difference("a", "")
    assert compared([], printed("new\n", name="stderr")) == Difference("", "new")


def test_parts_of_a_stream_are_one_text() -> None:
    assert compared(printed("a", "b\n"), printed("ab\n")) is None


def test_tables_are_compared_by_value() -> None:
    assert compared(table("a 1.0", "b 2"), table("a 1.00000000001", "b 2")) is None
    found = compared(table("a 1.0", "b 2"), table("a 1.0", "b 3"))
    assert found is not None and "b" in found.old and "2" in found.old and "3" in found.new


def shown(**kinds: Any) -> list[dict[str, Any]]:
    """An output of these kinds, as `text_html`."""
    data = {name.replace("_", "/", 1).replace("__", "+"): value for name, value in kinds.items()}
    return [{"output_type": "display_data", "data": {"text/plain": "<object>", **data}}]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (shown(text_markdown="**4**"), shown(text_markdown="**5**")),
        (shown(text_html="<b>4</b>"), shown(text_html="<b>5</b>")),
        (shown(text_html="<b style='color:red'>4</b>"), shown(text_html="<b>4</b>")),
        (shown(text_html="<img src='a.png'>"), shown(text_html="<img src='b.png'>")),
        (shown(text_latex="$x$"), shown(text_latex="$y$")),
        (shown(application_json={"a": 1}), shown(application_json={"a": 2})),
        (shown(image_svg__xml="<svg><path d='M0'/>"), shown(image_svg__xml="<svg><path d='M9'/>")),
        (shown(text_html="<b>4</b>"), shown()),
        (shown(text_html="<table><td>1</table>", text_plain="1"), text("2")),
    ],
)
def test_each_kind_of_an_output_is_compared(old: Any, new: Any) -> None:
    assert compared(old, old) is None and compared(new, new) is None
    assert compared(old, new) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "<style>#T_1a2b_row0 {color: red}</style><td id='T_1a2b_row0'>1",
            "<style>#T_9f8e_row0 {color: red}</style><td id='T_9f8e_row0'>1",
        ),
        (
            "<div id='p1'>x</div><script>draw('p1')</script>",
            "<div id='p2'>x</div><script>draw('p2')</script>",
        ),
    ],
)
def test_ids_of_elements_are_no_difference(old: str, new: str) -> None:
    assert compared(shown(text_html=old), shown(text_html=new)) is None
    assert compared(shown(image_svg__xml=old), shown(image_svg__xml=new)) is None


def test_widgets_are_not_compared() -> None:
    kind = "application/vnd.jupyter.widget-view+json"
    one, other = (
        [{"output_type": "display_data", "data": {kind: {"model_id": name}, "text/plain": name}}]
        for name in "ab"
    )
    assert compared(one, other) is None


def test_images_are_the_same_byte_by_byte() -> None:
    assert compared(shown(image_png="AABB"), shown(image_png=["AA\n", "BB\n"])) is None
    difference = Difference("an image", "another image")
    assert compared(shown(image_png="AABB"), shown(image_png="AACC")) == difference


def test_the_last_lines_of_a_traceback() -> None:
    lines = [f"line {n}" for n in range(20)]
    error = {"output_type": "error", "ename": "E", "evalue": "bad", "traceback": lines}
    said = last_lines([error])
    assert said.endswith("E: bad") and len(said.split("\n")) <= 6
    assert last_lines([]) == ""


def test_a_progress_bar_leaves_no_line() -> None:
    assert normal_lines("━━━━━━━━ 3/9\n[=====>....]\nx") == ["x"]
