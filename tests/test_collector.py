"""The collector: message contents in, bounded nbformat outputs out."""

from __future__ import annotations

import json
from typing import Any

import nbformat.v4
from hypothesis import assume, example, given
from hypothesis import strategies as st

from jupyter_codeinterp.kernel.wire.reading import MAX_CONTENT, read_content, stream_excerpt
from jupyter_codeinterp.notebook.collector import BoundedText, Collector, OutputLimits

SMALL = OutputLimits(text=100, more_text=10, run=2_000, outputs=5)


def stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"name": name, "text": text}


def display(text: str, display_id: str = "") -> dict[str, Any]:
    transient = {"display_id": display_id} if display_id else {}
    return {"data": {"text/plain": text}, "metadata": {}, "transient": transient}


def texts(collector: Collector) -> list[str]:
    return [o["text"] if "text" in o else o["data"]["text/plain"] for o in collector.outputs]


def test_streams_of_one_name_merge_until_something_else_comes() -> None:
    collector = Collector()
    for name, text in [("stdout", "a"), ("stdout", "b"), ("stderr", "c"), ("stdout", "d")]:
        collector.add("stream", stream(text, name), 1)
    assert [(o["name"], o["text"]) for o in collector.outputs] == [
        ("stdout", "ab"),
        ("stderr", "c"),
        ("stdout", "d"),
    ]


def test_every_kind_of_output_is_valid_nbformat() -> None:
    collector = Collector(SMALL)
    error = {"ename": "E", "evalue": "v", "traceback": ["\x1b[31mred\x1b[0m"]}
    collector.add("stream", stream("text"), 4)
    collector.add("display_data", display("shown"), 5)
    collector.add("execute_result", {**display("2"), "execution_count": 3}, 1)
    collector.add("error", error, 10)
    collector.add("display_data", None, 5_000)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(outputs=list(collector.outputs))]
    )
    nbformat.validate(notebook)
    assert collector.outputs[2]["execution_count"] == 3
    assert collector.outputs[3] == {"output_type": "error", **error}
    assert texts(Collector(outputs=collector.outputs[4:])) == ["[An output of 0.0 MB was omitted.]"]


def test_take_gives_what_changed_since() -> None:
    collector = Collector()
    assert collector.take() is None
    collector.add("display_data", display("one", "id"), 3)
    collector.add("stream", stream("a"), 1)
    assert collector.take() == (0, collector.outputs)
    collector.add("stream", stream("b"), 1)
    start, outputs = collector.take() or (None, ())
    assert (start, outputs[0]["text"], len(outputs)) == (1, "ab", 1)
    assert collector.update(display("two", "id"), 3)
    assert collector.take() == (0, collector.outputs)
    assert texts(collector) == ["two", "ab"]
    assert collector.take() is None


def test_clear_output_now_and_on_the_next_output() -> None:
    collector = Collector()
    collector.add("stream", stream("a"), 1)
    collector.add("clear_output", {"wait": False}, 0)
    assert collector.outputs == ()
    collector.add("stream", stream("b"), 1)
    collector.take()
    collector.add("clear_output", {"wait": True}, 0)
    assert (texts(collector), collector.take()) == (["b"], None)
    collector.add("display_data", display("c"), 1)
    assert texts(collector) == ["c"]
    assert collector.take() == (0, collector.outputs)


def test_an_update_of_an_unknown_display_is_not_ours() -> None:
    collector = Collector()
    collector.add("display_data", display("one", "id"), 3)
    assert not collector.update(display("two", "other"), 3)
    assert texts(collector) == ["one"]
    assert collector.outputs[0]["transient"] == {"display_id": "id"}


def test_text_is_kept_head_and_tail() -> None:
    collector = Collector(SMALL)
    for number in range(1_000):
        collector.add("stream", stream(f"line {number}\n"), 9)
    text = collector.outputs[0]["text"]
    assert text.startswith("line 0\nline 1\n")
    assert text.endswith("line 998\nline 999\n")
    assert "characters left out for good: a cell keeps no more …]\nline 99" in text
    assert len(text) < 200
    assert collector.note == f"{collector.left_out:,} characters of output were not kept."


def test_a_later_stream_shares_the_bound_and_cleared_text_frees_it() -> None:
    collector = Collector(SMALL)
    collector.add("stream", stream("a" * 200), 200)
    collector.add("stream", stream("b" * 200, "stderr"), 200)
    assert collector.outputs[1]["text"].count("b") == 10
    collector.add("clear_output", {"wait": False}, 0)
    collector.add("stream", stream("c" * 90), 90)
    assert texts(collector) == ["c" * 90]
    assert collector.left_out == 100 + 190


def test_the_unread_middle_of_a_stream_counts_as_left_out() -> None:
    collector = Collector(SMALL)
    content = {"name": "stdout", "text": "head\n", "left_out": 5_000, "tail": "tail"}
    collector.add("stream", content, 5_009)
    assert texts(collector) == [
        "head\n[… 5,000 characters left out for good: a cell keeps no more …]\ntail"
    ]


def test_large_outputs_and_too_many_become_notes() -> None:
    collector = Collector(SMALL)
    collector.add("display_data", display("x" * 900), 900)
    collector.add("display_data", display("y" * 1_200), 1_200)
    collector.add("display_data", display("z" * 900), 900)
    collector.add("display_data", display("over the run's bound", "id"), 900)
    assert [t[:4] for t in texts(collector)] == ["xxxx", "[An ", "zzzz", "[An "]
    assert len(texts(collector)[0]) < 200
    for _ in range(7):
        collector.add("display_data", display("more"), 4)
    assert len(collector.outputs) == SMALL.outputs
    assert "6 further outputs were not kept." in collector.note


def test_a_giant_error_stays_an_error() -> None:
    collector = Collector(SMALL)
    giant = {"ename": "E", "evalue": "v" * 500, "traceback": ["t" * 500]}
    collector.add("error", giant, 900)
    collector.add("error", None, 10_000_000)
    assert collector.has_error
    assert [o["output_type"] for o in collector.outputs] == ["error", "error"]
    assert all(len(o["evalue"]) < 200 for o in collector.outputs)
    assert sum(len(line) for line in collector.outputs[0]["traceback"]) < 200


@given(st.lists(st.text(st.sampled_from("ab\n"), max_size=60)), st.integers(10, 80))
def test_bounded_text_keeps_the_ends_and_counts_the_rest(parts: list[str], limit: int) -> None:
    bounded = BoundedText(limit)
    for part in parts:
        bounded.append(part)
    whole = "".join(parts)
    assert bounded.kept + bounded.left_out == len(whole)
    assert bounded.kept <= limit
    if not bounded.left_out:
        assert str(bounded) == whole
    else:
        assert str(bounded).split("\n[… ")[0] == whole[: limit // 2].rstrip("\n")
        assert whole.endswith(str(bounded).split("no more …]\n")[1])


@example("0\\\\\x1b\x1b\x1b0é", True)
@example("0\\\\\\\\\x1b\x1b\x1b0é", True)
@given(st.text(st.sampled_from('aé"\\\n\t\x1b😀u0'), min_size=1, max_size=8), st.booleans())
def test_an_excerpt_of_a_large_stream_is_its_two_ends(line: str, ascii_only: bool) -> None:
    text = f"{line}\n" * 60
    raw = json.dumps({"name": "stdout", "text": text}, ensure_ascii=ascii_only).encode()
    assume(len(raw) > 350)
    found = stream_excerpt(memoryview(raw), 150)
    # Behind a backslash a line end is not found, so the ends may begin within a line.
    whole_lines = not line.endswith("\\")
    if found is None:
        assert not whole_lines
        return
    assert found["name"] == "stdout"
    assert text.startswith(found["text"]) and found["text"]
    assert text.endswith(found["tail"]) and found["tail"]
    if whole_lines:
        assert found["text"].endswith("\n") and text.endswith("\n" + found["tail"])


def test_a_large_stream_of_one_line_is_read_whole() -> None:
    content = {"name": "stdout", "text": "é" * 2_000_000}
    raw = json.dumps(content, ensure_ascii=False).encode()
    assert read_content("stream", memoryview(raw)) == content


@given(st.text(st.sampled_from('aé"\\\t\x1b😀u0'), max_size=9), st.booleans())
def test_a_large_stream_of_one_line_of_plain_letters_is_cut_between_them(
    odd: str, ascii_only: bool
) -> None:
    text = f"{odd}plain words {odd}" * 60
    raw = json.dumps({"name": "stdout", "text": text}, ensure_ascii=ascii_only).encode()
    found = stream_excerpt(memoryview(raw), 250)
    assert found is not None
    assert text.startswith(found["text"]) and text.endswith(found["tail"])
    assert found["text"] and found["tail"]


def test_the_ends_of_one_line_of_any_length_are_kept() -> None:
    raw = json.dumps({"name": "stdout", "text": "x" * (MAX_CONTENT + 1) + "\n"}).encode()
    found = read_content("stream", memoryview(raw))
    assert found is not None and found["tail"].endswith("x\n")
