"""What is gathered of requests that others send to a kernel. Pure."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.adapters.kernel_iopub import other_runs
from jupyter_codeinterp.adapters.kernel_iopub.other_runs import GatheredRun, OtherRuns
from jupyter_codeinterp.adapters.kernel_wire import Message


def message(kind: str, parent: str, size: int = 10, **content: Any) -> Message:
    return Message(kind, "", "", parent, "execute_request", None, content, size)


def status(state: str, parent: str) -> Message:
    return message("status", parent, execution_state=state)


def stream(text: str, parent: str = "r", size: int = 10) -> Message:
    return message("stream", parent, size, name="stdout", text=text)


def shown(value: str, parent: str, kind: str = "display_data") -> Message:
    data = {"text/plain": value}
    return message(kind, parent, data=data, metadata={}, transient={"display_id": "d"})


BUSY, IDLE = status("busy", "r"), status("idle", "r")
INPUT = message("execute_input", "r", code="x", execution_count=7)
CLEAR, WAIT = message("clear_output", "r", wait=False), message("clear_output", "r", wait=True)


def words(run: GatheredRun) -> list[str]:
    return [
        str(output.get("text") or output.get("data", {}).get("text/plain"))
        for output in run.outputs
    ]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [BUSY, INPUT, stream("a"), IDLE], (["a"], True, True)),
        ([BUSY, INPUT, stream("a")], [stream("b"), IDLE], (["ab"], True, True)),
        ([BUSY, INPUT, stream("a"), IDLE], [], (["a"], True, True)),
        ([stream("a")], [stream("b"), IDLE], (["b"], False, True)),
        ([BUSY], [INPUT, stream("a"), CLEAR, stream("b")], (["b"], True, False)),
        ([BUSY], [INPUT, stream("a"), WAIT], (["a"], True, False)),
        ([BUSY], [INPUT, stream("a"), WAIT, stream("b")], (["b"], True, False)),
        ([BUSY, INPUT], [stream("x", "another")], ([], True, False)),
        ([BUSY, INPUT], [status("busy", "next"), stream("x", "next")], ([], True, True)),
        ([], [status("busy", "earlier"), status("idle", "earlier")], ([], False, False)),
        ([BUSY, INPUT], [shown("1", "r"), shown("2", "r", "update_display_data")],
         (["2"], True, False)),
        ([BUSY, INPUT], [shown("1", "r"), shown("2", "z", "update_display_data")],
         (["2"], True, False)),
    ],
    ids=[
        "claimed before it begins", "claimed in mid-run", "claimed after its end",
        "its beginning was not heard", "outputs are cleared", "to be cleared by the next output",
        "cleared by the next output", "another request's output", "its idle got lost",
        "it waits in the queue", "a display is updated", "a later run updates its display",
    ],
)  # fmt: skip
def test_a_run(
    before: list[Message], after: list[Message], expected: tuple[list[str], bool, bool]
) -> None:
    runs = OtherRuns()
    runs.active = True
    for one in before:
        runs.handle(one, ours=False)
    run = runs.claim("r")
    for one in after:
        runs.handle(one, ours=False)
    assert (words(run), run.whole, run.ended) == expected


def test_nothing_is_gathered_until_somebody_asks() -> None:
    runs = OtherRuns()
    for one in (BUSY, INPUT, stream("a")):
        runs.handle(one, ours=False)
    assert not runs.claim("r").begun


@pytest.mark.parametrize("claimed", ["before", "after"])
def test_the_agents_own_runs_are_not_gathered(claimed: str) -> None:
    runs = OtherRuns()
    runs.active = True
    if claimed == "before":
        runs.claim("r")
    for one in (BUSY, INPUT, stream("a")):
        runs.handle(one, ours=True)
    assert not runs.claim("r").begun


def test_all_runs_of_a_kernel_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(other_runs, "KEPT", 100)
    runs = OtherRuns()
    first, second = runs.claim("r"), runs.claim("s")
    runs.handle(stream("a" * 80, "r", 80), ours=False)
    runs.handle(stream("b" * 80, "s", 80), ours=False)
    assert words(first) == ["a" * 80]
    assert words(second) == ["[An output of 0.0 MB was omitted.]"]
    runs.release("r")
    runs.handle(stream("c", "s", 1), ours=False)
    assert words(second)[-1] == "c"


def test_a_kernel_that_dies_ends_them() -> None:
    runs = OtherRuns()
    run, called = runs.claim("r"), []
    run.changed = lambda: called.append(run.ended)
    runs.lost()
    assert (run.ended, run.kernel_died, called) == (True, True, [True])
