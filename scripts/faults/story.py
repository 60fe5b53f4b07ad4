"""The disturbed turn: a heading, five cells, one of which fails and is repaired, and an answer. It
has the actions of a sensible model and the expected notebook.

The model knows only what the product tells it. After an unexpected result it reads the notebook
before each step, and repairs what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from jupyter_codeinterp.wire.ops import Notebook
from tests.fake_anthropic import Request, answer, call, edit_cell, run_cell, text
from tests.fake_anthropic.turns import Turn
from tests.reference_window import notebook

ASK = "What does each region sell? Show it step by step."
GO_ON = "Please go on where you stopped."
FINAL = "North sells 215, South 340; every step is in the notebook."
STUCK = "I cannot go on: the notebook does not let me."
ANSWER = f"{FINAL} " + " ".join(
    f"Remark {number}: the figures are sums over all rows, and none was left out."
    for number in range(1, 7)
)
OPENING = (
    "First a heading and the table, then the sums by region; then I compare the two and "
    "count slowly through the rows, so that nothing is overlooked on the way. "
)
SLOWLY = {"first": 0.05, "delay": 0.02, "chunk": 8}
"""The speed of long texts: slow, so that faults occur during them."""
MOST_LOOKS = 20
"""How often the model reads the notebook before it gives up."""


@dataclass(frozen=True)
class Step:
    name: str
    source: str
    shows: str
    """The expected outputs as text."""
    first: str = ""
    """The model's first version, which fails."""

    @property
    def is_code(self) -> bool:
        return not self.source.startswith("#")


TABLE = """\
import os

def ran(cell):
    with open("{log}", "a") as log:
        log.write(f"{{cell}} {{os.getpid()}}\\n")

ran("table")
sales = [("North", 120), ("South", 340), ("North", 95)]
print(len(sales), "rows")"""
SUMS = """\
ran("sums")
sums = {{}}
for region, amount in sales:
    sums[region] = sums.get(region, 0) + amount
sums"""
COMPARE = """\
ran("compare")
print("South leads by", sums["South"] - sums["North"])"""
COUNT = """\
import time

ran("count")
for number in range(12):
    print("row", number, flush=True)
    time.sleep(0.06)"""
RESULT = """\
ran("result")
", ".join(f"{{region}} {{amount}}" for region, amount in sorted(sums.items()))"""


def steps(log: str) -> tuple[Step, ...]:
    """``log``: the file in which each cell records its runs, with the process id."""
    return (
        Step("heading", "## Sales by region", ""),
        Step("table", TABLE.format(log=log), "3 rows"),
        Step("sums", SUMS.format(), "{'North': 215, 'South': 340}"),
        Step("compare", COMPARE, "South leads by 125", COMPARE.replace('["North"]', '["nort"]')),
        Step("count", COUNT, "\n".join(f"row {number}" for number in range(12))),
        Step("result", RESULT.format(), "'North 215, South 340'"),
    )


THEIRS = "# The person's own\nrate = 1.1"
TYPED = THEIRS + "\n# and what they have typed since"


def opening_notebook() -> Notebook:
    return notebook(THEIRS)


# --- the model -------------------------------------------------------------------------

_CELL = re.compile(r'<cell id="([^"]+)" type="\w+"[^>]*>(.*?)</cell>', re.DOTALL)
_OUTPUT = re.compile(r"<outputs>(.*?)</outputs>", re.DOTALL)
_STATUS = re.compile(r"\bstatus=(\w+)")
_GONE = re.compile(r"NameError|variables (?:are|may be) gone|kernel died")


@dataclass
class Seen:
    """A cell as ``read_notebook`` shows it."""

    cell_id: str
    source: str = ""
    outputs: str = ""


class Story:
    def __init__(self, name: str) -> None:
        self.notebook = f"{name}.ipynb"
        self.log = f"{name}.log"
        self.steps = steps(self.log)

    def model(self, request: Request) -> Turn:
        asked, results = _last_calls(request)
        if any(block["name"] == "read_notebook" for block in _calls(request)):
            return self._carefully(request, asked, results)
        if request.step == 0:
            begins = len(_calls(request)) == 0 and len(request.said) == 1
            return self._write(0, OPENING) if begins else _look()
        number = self._step_of(asked[-1]["input"])
        status = _status(results[-1])
        if _GONE.search(results[-1]):
            return _look()
        if status == "ok":
            return self._write(number + 1) if number + 1 < len(self.steps) else _answer()
        if status == "error" and asked[-1]["input"]["source"] == self.steps[number].first:
            return self._mend(number, request.last_cell)
        return _look()

    def _carefully(self, request: Request, asked: list[dict[str, Any]], results: list[str]) -> Turn:
        if sum(block["name"] == "read_notebook" for block in _calls(request)) > MOST_LOOKS:
            return answer(text(STUCK))
        if request.step == 0 or asked[-1]["name"] != "read_notebook":
            return _look()
        if _status(results[-1]) != "ok":
            return answer(text(f"{STUCK} It says: {results[-1]}"))
        return self._next(request, _read(results[-1]))

    def _next(self, request: Request, cells: list[Seen]) -> Turn:
        """The first step that is missing or wrong."""
        again = self._run_since_all_was_gone(request)
        above = ""
        for number, step in enumerate(self.steps):
            cell = next((c for c in cells if c.source in (step.source, step.first)), None)
            if cell is None:
                return self._write(number, after=above)
            if cell.source == step.first:
                return self._mend(number, cell.cell_id)
            shown = cell.outputs.strip() == step.shows
            if step.is_code and not (shown and (again is None or step.name in again)):
                return self._mend(number, cell.cell_id)
            above = cell.cell_id
        return _answer()

    def _run_since_all_was_gone(self, request: Request) -> set[str] | None:
        """Steps that have run in the current kernel; None if the model knows of no other kernel."""
        since: set[str] | None = None
        for block, result in _answered(request):
            if "source" not in block["input"]:
                continue
            if _GONE.search(result):
                since = set()
            if since is not None and _status(result) == "ok":
                since.add(self.steps[self._step_of(block["input"])].name)
        return since

    def _write(self, number: int, words: str = "", after: str = "") -> Turn:
        step = self.steps[number]
        if step.is_code:
            block = run_cell(step.first or step.source, title=f"Step {step.name}", after=after)
        else:
            place = {"position": f"after:{after}"} if after else {}
            block = call("add_markdown", {**place, "source": step.source})
        if words:
            return answer(text(words), block).at(**SLOWLY)
        return answer(text(f"Now the {step.name}."), block)

    def _mend(self, number: int, cell_id: str) -> Turn:
        step = self.steps[number]
        return answer(edit_cell(cell_id, step.source, title=f"Step {step.name}"))

    def _step_of(self, given: dict[str, Any]) -> int:
        return next(
            number
            for number, step in enumerate(self.steps)
            if given["source"] in (step.source, step.first)
        )


def _answer() -> Turn:
    return answer(text(ANSWER)).at(**SLOWLY)


def _look() -> Turn:
    return answer(call("read_notebook", {"include_outputs": True}))


def _status(result: str) -> str:
    found = _STATUS.search(result)
    return found[1] if found else ""


def _calls(request: Request) -> list[dict[str, Any]]:
    return [
        block
        for message in request.messages
        if message["role"] == "assistant"
        for block in message["content"]
        if block["type"] == "tool_use"
    ]


def _last_calls(request: Request) -> tuple[list[dict[str, Any]], list[str]]:
    """The calls whose results are in the last message, and those results."""
    results = request.results
    return _calls(request)[-len(results) :] if results else [], results


def _answered(request: Request) -> Iterator[tuple[dict[str, Any], str]]:
    """All calls in order, each with the text of its result."""
    results = {
        block["tool_use_id"]: "\n".join(p["text"] for p in block["content"] if "text" in p)
        for message in request.messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    }
    for block in _calls(request):
        yield block, results[block["id"]]


def _read(result: str) -> list[Seen]:
    cells: list[Seen] = []
    for cell_id, body in _CELL.findall(result):
        outputs = "\n".join(_OUTPUT.findall(body)).strip("\n")
        cells.append(Seen(cell_id, _OUTPUT.sub("", body).strip("\n"), f"{outputs}\n"))
    return cells


# --- what must come of it ----------------------------------------------------------------


def shown(cell: dict[str, Any]) -> str:
    """A cell's outputs as text."""
    texts = [
        output["text"] if output["output_type"] == "stream" else _plain(output)
        for output in cell.get("outputs", ())
    ]
    return "".join("".join(text) for text in texts).strip()


def _plain(output: dict[str, Any]) -> str:
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return "".join(output["data"].get("text/plain", ""))
