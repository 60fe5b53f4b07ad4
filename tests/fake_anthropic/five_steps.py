"""A session of five turns on ``sales.csv``: load, clean, group (fails, then fixed), plot, write.

A word of the person's message chooses the turn; without one it is the first. A question with
"why" is answered in between.
"""

from __future__ import annotations

from .request import Request
from .scripts import Script, scenario
from .turns import Answer, answer, call, edit_cell, run_cell, text

LOAD = """\
import pandas as pd

sales = pd.read_csv("sales.csv")
sales"""
CLEAN = """\
sales.columns = sales.columns.str.strip().str.lower()
sales["region"] = sales["region"].str.strip().str.title()
sales["revenue"] = pd.to_numeric(sales["revenue"].str.replace(",", ""), errors="coerce")
sales = sales.dropna().drop_duplicates()
sales"""
GROUP_WRONG = 'totals = sales.groupby("area")["revenue"].sum()\ntotals'
GROUP = GROUP_WRONG.replace("area", "region")
PLOT = """\
import matplotlib.pyplot as plt

totals.plot.bar(rot=0, title="Revenue by region")
plt.show()"""
WRITTEN = "## Revenue by region\n\n**North** earned most: 2,000 USD of 3,000."

_TURNS: dict[str, Script] = {
    "Load": scenario(
        answer(text("I load the file."), run_cell(LOAD, title="Load the sales")),
        answer(text("The sales are loaded.")),
    ),
    "Clean": scenario(
        answer(run_cell(CLEAN, title="Clean the sales")),
        answer(text("Three rows remain. Names and numbers are uniform now.")),
    ),
    "Sum": scenario(
        answer(run_cell(GROUP_WRONG, title="Sum by region")),
        lambda r: answer(
            text("The column is called region."),
            edit_cell(r.last_cell, GROUP, title="Sum by region"),
        ),
        answer(text("North earned 2,000 USD, South 1,000 USD.")),
    ),
    "Plot": scenario(
        answer(run_cell(PLOT, title="Plot the revenue")),
        answer(text("The chart shows both regions.")),
    ),
    "Write": scenario(
        answer(call("add_markdown", {"title": "Write the answer", "source": WRITTEN})),
        answer(text("**North** earned most: two thirds of all revenue.")),
    ),
}


def five_steps(request: Request) -> Answer:
    said = request.said[-1]
    chosen = (script for word, script in _TURNS.items() if word in said)
    return next(chosen, _TURNS["Load"])(request)
