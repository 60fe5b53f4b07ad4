"""Named conversations. The person's message names one: ``#growth Which region grew fastest?``

The disobedient ones must end well all the same.
"""

from __future__ import annotations

import json
import re

from .five_steps import five_steps
from .hiding import HIDING
from .request import Request
from .scripts import Script, attempts, scenario
from .turns import (
    Block,
    Turn,
    answer,
    call,
    edit_cell,
    overloaded,
    rate_limited,
    run_cell,
    spend_limited,
    text,
    thinking,
    wrong_key,
)

# --- code that the cells have ----------------------------------------------------------

LOAD = """\
import pandas as pd

orders = pd.DataFrame(
    {
        "date": ["2024-03-05", "2024-09-17", "2025-02-11", "23.10.2025"] * 3,
        "region": ["North"] * 4 + ["South"] * 4 + ["West"] * 4,
        "revenue": [410, 380, 560, 610, 720, 690, 700, 735, 300, 320, 340, 310],
    }
)
orders.head()"""
PARSE = """\
orders["year"] = pd.to_datetime(orders["date"], format="%Y-%m-%d").dt.year
orders.groupby("year")["revenue"].sum()"""
PARSE_MENDED = PARSE.replace('format="%Y-%m-%d"', 'format="mixed", dayfirst=True')
PLOT = """\
import matplotlib.pyplot as plt

yearly = orders.pivot_table(index="region", columns="year", values="revenue", aggfunc="sum")
print(yearly)
ax = yearly.plot.bar(rot=0, title="Revenue by region")
ax.set_ylabel("Revenue (USD)")
plt.show()"""
SINE = """\
import matplotlib.pyplot as plt

plt.plot([0, 1, 2, 3], [0, 1, 4, 9])
plt.title("Squares")
plt.xlabel("x")
plt.show()"""
TOTALS = """\
import pandas as pd

sales = pd.DataFrame({"region": ["North", "South"], "revenue": [120, 340]})
sales"""
TOTALS_WRONG = 'sales["turnover"].sum()'
TOTALS_RIGHT = 'sales["revenue"].sum()'
FAILS = "1 / 0"
MAKES_FILES = """\
import base64
import pathlib

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
pathlib.Path("out.csv").write_text("a,b\\n1,2\\n")
pathlib.Path("plot.png").write_bytes(base64.b64decode(PIXEL))"""
REPORT = """\
import matplotlib.pyplot as plt
import pandas as pd

sales = pd.DataFrame(
    {"region": ["North", "South", "West"], "2024": [790, 1410, 620], "2025": [1170, 1435, 650]}
)
sales["growth"] = (100 * (sales["2025"] / sales["2024"] - 1)).round(1)
print(sales)
sales.to_csv("growth.csv", index=False)
sales.plot.bar(x="region", y="growth", rot=0, legend=False, title="Growth, percent")
plt.savefig("growth.png", dpi=60)
plt.show()"""
BOXES = """\
boxes = {"North": 7412, "South": 5200}
for region, count in boxes.items():
    print(region, count)"""
HELD = (
    ("Note the prices", 'print("note", file=open("ran.txt", "a"))\nprices = [120, 340]'),
    (
        "Wait for the rate",
        """\
import pathlib, time

print("wait", file=open("ran.txt", "a"))
print("waiting …", flush=True)
while not pathlib.Path("go").exists():
    time.sleep(0.05)
rate = 2""",
    ),
    ("Convert the prices", 'print("convert", file=open("ran.txt", "a"))\nsum(prices) * rate'),
)
"""Titles and sources. Each cell says in a file that it runs; the second waits for another."""
LONG = "\n".join(f"value_{n} = {n} * {n}  # the square of {n}" for n in range(180))
PARAGRAPHS = "\n\n".join(
    f"Paragraph {n}: the quick brown fox jumps over the lazy dog, again and again."
    for n in range(40)
)

DRIP = {"delay": 0.05, "chunk": 6}
"""Some 120 characters a second: slow enough for a person, or a test, to press Stop."""


def _link(request: Request, words: str) -> str:
    return f"[{words}](#cell:{request.last_cell})"


def _boxes(request: Request) -> str:
    north, south = _link(request, "7,412"), _link(request, "5,200")
    return f"North sold **{north}** boxes and South {south}"


def _done(words: str) -> Turn:
    return answer(text(words))


def _below(request: Request) -> str:
    """What stands below the first line of the person's message."""
    return request.said[-1].partition("\n")[2]


def _repeated(request: Request) -> Turn:
    """A text as long as wanted, from a short message: ``{"before": "$", "unit": "{",
    "times": 1000, "middle": "x", "close": "}", "after": "$"}``."""
    once = {"before": "", "unit": "x", "times": 1, "middle": "", "close": "", "after": ""}
    shape = once | json.loads(_below(request) or "{}")
    opened, closed = (shape[part] * shape["times"] for part in ("unit", "close"))
    return _done(shape["before"] + opened + shape["middle"] + closed + shape["after"])


def _known(request: Request) -> str:
    """Whether the conversation has the question and the cell of ``one_cell``."""
    said = str(request.body["messages"])
    return "both" if "#one_cell first" in said and "1 + 1" in said else "neither"


def _fenced(request: Request) -> str:
    """Code that the person's message brings, in a fence; the whole of it without one."""
    parts = request.said[-1].split("```")
    return parts[1].strip("\n") if len(parts) > 1 else parts[0]


# --- obedient --------------------------------------------------------------------------


def _growth_mended(request: Request) -> Turn:
    cell = edit_cell(request.last_cell, PARSE_MENDED, title="Parse the dates")
    return answer(text("One date is written differently; I mend that cell."), cell)


def _growth_answer(request: Request) -> Turn:
    link = _link(request, "the chart")
    return _done(f"**North** grew fastest: from 790 to 1,170 USD, **+48 %**; see {link}.")


_HAD_BEGUN = re.compile(r"Code in the cells (\S+) had started to run")


def _held(request: Request) -> Turn:
    """A cell that the end of the server has cut off is run again where it stands."""
    done = len(set(request.cell_ids))
    if done == len(HELD):
        return _done("The prices are 920 in all.")
    title, source = HELD[done]
    cut_off = _HAD_BEGUN.search(request.said[-1])
    if cut_off and request.step == 0:
        return answer(edit_cell(cut_off[1], source, title=title))
    return answer(run_cell(source, title=title))


def _mean(request: Request) -> Turn:
    """A draft, then the end."""
    if request.step:
        return _done("That is the result.")
    return answer(run_cell("values = [1, 3]\nsum(values) / 2", title="Mean"))


CAPTURES = """import ipywidgets

out = ipywidgets.Output()
with out:
    print("within")
    import matplotlib.pyplot as plt

    plt.plot([1, 3, 2])
    plt.show()
print("outside")
out"""
CAPTURES_MORE = """@out.capture()
def more():
    print("total", 1234)
    return 1 / 0


more()"""

OBEDIENT: dict[str, Script] = {
    "growth": scenario(
        answer(
            thinking("First see what is there, then compare the two years."),
            text("I'll look at the orders first."),
            run_cell(LOAD, title="Load the orders"),
        ),
        answer(run_cell(PARSE, title="Parse the dates")),
        _growth_mended,
        answer(text("Now the comparison."), run_cell(PLOT, title="Growth by region")),
        _growth_answer,
    ),
    "three_cells": scenario(
        answer(run_cell(TOTALS, title="Make the table")),
        answer(run_cell(TOTALS_WRONG, title="Sum the revenue")),
        lambda r: answer(edit_cell(r.last_cell, TOTALS_RIGHT, title="Sum the revenue")),
        _done("The revenue is 460 in all."),
    ),
    "one_cell": scenario(answer(run_cell("1 + 1", title="Add")), _done("It is 2.")),
    "knows": lambda r: answer(text(f"I know of {_known(r)}.")),
    "mean": _mean,
    "five_steps": five_steps,
    "complete": scenario(answer(text("```python\nradius ** 2\n```"))),
    "one_sum": scenario(
        answer(text("I add them."), run_cell("total = sum(values)\ntotal", title="Add")),
        _done("The total is **6**."),
    ),
    "code": scenario(
        lambda r: answer(run_cell(_fenced(r), title="Try this")), _done("I have tried it.")
    ),
    "count": scenario(
        *(answer(run_cell(f"print({n})", title=f"Count {n}")) for n in range(1, 7)),
        _done("I have counted to six."),
    ),
    "plot": scenario(
        answer(run_cell(SINE, title="Plot the squares")),
        lambda r: _done(f"The curve is a parabola; see {_link(r, 'the plot')}."),
    ),
    "report": scenario(
        answer(run_cell(REPORT, title="Growth by region, as a table and a chart")),
        _done("**North** grew fastest: +48.1 %. The table is in `growth.csv`."),
    ),
    "figures": scenario(
        answer(run_cell(BOXES, title="Boxes by region")),
        lambda r: _done(f"{_boxes(r)}, both together 12,612; see {_link(r, 'the cell')}."),
    ),
    "verify": scenario(answer(call("verify", {})), _done("The notebook runs from its top.")),
    "markdown": scenario(
        answer(call("add_markdown", {"source": "## What was found\n\nTwo *regions* grew."})),
        _done("I have added a note."),
    ),
    "ask": scenario(
        answer(call("ask_user", {"question": "Which year?", "options": ["2024", "2025"]})),
        lambda r: _done(f"Understood: {r.results[-1].splitlines()[-1]}"),
    ),
    "delete": scenario(
        answer(run_cell("scratch = 1", title="Try something")),
        lambda r: answer(call("delete_cell", {"cell_id": r.last_cell})),
        _done("The cell is gone again."),
    ),
    "delete_theirs": scenario(
        answer(call("read_notebook", {})),
        lambda r: answer(call("delete_cell", {"cell_id": r.notebook_cell})),
        _done("Done with the first cell."),
    ),
    "edit_theirs": scenario(
        answer(call("read_notebook", {})),
        lambda r: answer(edit_cell(r.notebook_cell, "mended = True", title="Mend the cell")),
        _done("I have changed the first cell."),
    ),
    "tidy": scenario(
        answer(run_cell("added = 1", title="Add a cell")),
        answer(call("read_notebook", {})),
        lambda r: answer(edit_cell(r.notebook_cell, "edited = True", title="Mend the cell")),
        lambda r: answer(call("delete_cell", {"cell_id": "cell-1"})),
        _done("It is tidy now."),
    ),
    "rerun": scenario(
        answer(
            call("scratch", {"title": "Count", "source": "print('scratched', 6 * 7)"}),
            call("run_cells", {"cell_ids": ["all"]}),
        ),
        lambda r: answer(call("move_cell", {"cell_ids": [r.notebook_cell], "position": "end"})),
        _done("All is up to date."),
    ),
    "inspect": scenario(
        answer(call("inspect_variables", {})), lambda r: _done(f"I see:\n\n{r.results[-1]}")
    ),
    "slow_text": scenario(_done(PARAGRAPHS).at(**DRIP)),
    "slow_code": scenario(
        answer(text("This takes a while."), run_cell(LONG, title="Many squares")).at(**DRIP),
        _done("All squares are there."),
    ),
    "slow_cell": scenario(
        answer(run_cell(LONG[:400], title="Some squares")).at(**DRIP), _done("There they are.")
    ),
    "infinite_loop": scenario(
        answer(run_cell("while True:\n    pass", title="Never ends")), _done("That was stopped.")
    ),
    "printing_loop": scenario(
        answer(
            run_cell(
                'for line in ("one", "two"):\n    print(line, flush=True)\nwhile True:\n    pass',
                title="Prints and never ends",
            )
        ),
        _done("That was stopped."),
    ),
    "sleep": scenario(
        answer(run_cell("import time\n\ntime.sleep(60)", title="Wait")), _done("Waited.")
    ),
    "held": _held,
    "kept": scenario(
        answer(run_cell("kept = 42", title="Keep a number")),
        answer(
            run_cell('import time\n\nprint("asleep", flush=True)\ntime.sleep(7)', title="Sleep")
        ),
        answer(
            text("Let me think about this for a while. " * 4),
            run_cell("kept", title="Show the number"),
        ),
        _done("It is still 42."),
    ),
    "restart": scenario(
        answer(run_cell("orders = [3, 4]\ntotal = sum(orders)", title="Sum the orders")),
        answer(text("I'd start afresh."), call("kernel", {"action": "restart"})),
        _done("The kernel is fresh."),
    ),
    "install": scenario(
        answer(run_cell("import no_such_module", title="Import it")),
        # Nothing to fetch: every environment of the tests has it.
        answer(run_cell("%pip install --no-index msgspec", title="Install it")),
        lambda r: answer(edit_cell(r.cell_ids[0], "import msgspec", title="Import it")),
        _done("It is imported."),
    ),
    "change_kernel": scenario(
        answer(call("kernel", {"action": "change", "kernelspec": "python3"})),
        _done("This is another kernel."),
    ),
    "widget": scenario(
        answer(run_cell("import ipywidgets\n\nipywidgets.IntSlider(3)", title="A slider")),
        _done("Move the slider."),
    ),
    "captured": scenario(
        answer(run_cell(CAPTURES, title="A widget that captures")),
        answer(run_cell(CAPTURES_MORE, title="Capture more")),
        lambda r: _done("The total is 1,234." if "1234" in r.results[-1] else "No total."),
    ),
}

# --- disobedient -----------------------------------------------------------------------


def _endless(request: Request) -> Turn:
    return answer(run_cell(FAILS, title="Try again"))


DISOBEDIENT: dict[str, Script] = {
    "made_up": scenario(
        answer(run_cell(BOXES, title="Boxes by region")),
        lambda r: _done(f"{_boxes(r)}. East sold 9,999."),
    ),
    "broken_promise": scenario(
        answer(
            call(
                "run_cell",
                {
                    "title": "Orders of each month",
                    "expects": {
                        "name": "by_month",
                        "rows": "12",
                        "columns": ["<img src=x onerror=alert(1)>"],
                    },
                    "source": "by_month = {n: 1 for n in range(1, 12)}",
                },
            )
        ),
        _done("There is one order in each month."),
    ),
    "leave_failed": scenario(
        answer(run_cell(FAILS, title="Divide")), _done("It cannot be divided by zero.")
    ),
    "makes_file": scenario(
        answer(run_cell(MAKES_FILES, title="Write two files")), _done("They are written.")
    ),
    "prose": scenario(answer(text("I would run this:\n\n```python\n1 + 1\n```"))),
    "silent": scenario(answer()),
    "endless": scenario(*[_endless] * 60),
    "refusal": scenario(
        answer(
            text("I can't"),
            stop="refusal",
            stop_details={
                "type": "refusal",
                "category": "cyber",
                "explanation": "This request is not one that I help with.",
            },
        )
    ),
    "max_tokens": scenario(answer(text(PARAGRAPHS[:400]), stop="max_tokens")),
    "asks_input": scenario(
        answer(run_cell('name = input("Name? ")', title="Ask for a name")),
        lambda r: answer(edit_cell(r.last_cell, 'name = "Ada"\nname', title="Set the name")),
        _done("The name is set."),
    ),
    "hostile": scenario(
        answer(
            text(
                "![x](https://example.invalid/a.png) "
                '<a href="#" data-commandlinker-command="notebook:run-all-cells">click</a> '
                "<script>window.hacked = true</script> [link](https://example.invalid/)"
            ),
            call("add_markdown", {"source": '<img src="https://example.invalid/b.png">'}),
        ),
        _done("There."),
    ),
    "says": scenario(lambda r: _done(_below(r))),
    "asks": scenario(
        lambda r: answer(call("ask_user", {"question": _below(r), "options": ["Yes"]})),
        _done("Understood."),
    ),
    "notes": scenario(
        lambda r: answer(call("add_markdown", {"source": _below(r)})), _done("Noted.")
    ),
    "titles": scenario(lambda r: answer(run_cell("1 + 1", title=_below(r))), _done("It is 2.")),
    "codes": scenario(
        lambda r: answer(run_cell(f"held = {_below(r)!r}", title="Hold it")), _done("Held.")
    ),
    "repeats": _repeated,
    "invisible": scenario(
        answer(run_cell("ok = 1  # \u202e\u200bhidden\nok", title="Set ok")), _done("Set.")
    ),
}

# --- the line or the service fails -----------------------------------------------------

_CELL: tuple[Block, ...] = (text("Let me see."), run_cell("5 * 5", title="Multiply"))

FAULTS: dict[str, Script] = {
    "rate_limit": scenario(attempts(rate_limited("1"), _done("Here I am."))),
    "rate_limit_long": scenario(rate_limited("60")),
    "overloaded": scenario(attempts(overloaded(), _done("Here I am."))),
    "spend_limit": scenario(spend_limited()),
    "wrong_key": scenario(wrong_key()),
    "breaks_once": scenario(
        attempts(answer(*_CELL).cut_by("reset", after=5), answer(*_CELL)), _done("It is 25.")
    ),
    "breaks_always": scenario(answer(*_CELL).cut_by("error", after=5)),
    "stalls": scenario(answer(*_CELL).cut_by("stall", after=5)),
}

ADDED: dict[str, Script] = {
    "count_words": scenario(
        answer(call("count_words", {"cell_id": "cell-0"})), _done("I have counted them.")
    ),
    "mcp": scenario(
        answer(text("I'll ask the server."), call("mcp__clock__echo", {"text": "noon in Tokyo"})),
        answer(call("mcp__clock__echo", {"text": "noon in Lima"})),
        _done("It is noon."),
    ),
}
"""With tools that other packages and MCP servers add."""

SCENARIOS: dict[str, Script] = {**OBEDIENT, **DISOBEDIENT, **FAULTS, **HIDING, **ADDED}
