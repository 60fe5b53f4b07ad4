"""Asks a model the 100 questions of ``tests/choices`` and prints whether it runs code for those
that need it, and for no others.

It sends what the product sends: its system prompt, tools and description of a notebook. It reads
the first answer only, and runs nothing. A hundred requests of some 1,500 tokens cost what they
cost: ``--most 20`` asks every fifth question.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Sequence

import msgspec

from jupyter_codeinterp.core.document.ops import CellView, Snapshot
from jupyter_codeinterp.core.errors import CodeInterpError, ModelError
from jupyter_codeinterp.core.loop import system_prompt
from jupyter_codeinterp.core.messages import Text, tool_uses, user
from jupyter_codeinterp.core.model_view.context import Context
from jupyter_codeinterp.core.ports import KernelInfo, Model, ModelDone, ModelRequest
from jupyter_codeinterp.core.redaction.secrets import Secrets
from jupyter_codeinterp.core.tools.registry import ToolRegistry
from jupyter_codeinterp.core.visible import visible_line
from jupyter_codeinterp.server.workbench import config as config_files
from jupyter_codeinterp.server.workbench.models import make_models
from tests.choices import Question, questions

RUNS = ("run_cell", "edit_cell")
CELLS = (
    "import pandas as pd\n"
    'sales = pd.DataFrame({"date": ["2024-03-05", "2025-03-04"] * 2,\n'
    '    "region": ["North", "North", "South", None], "revenue": [410, 560, 720, 735],\n'
    '    "cost": [300, 410, 500, None]})',
    'sales.groupby("region")["revenue"].sum()',
    'import matplotlib.pyplot as plt\nplt.bar(sales["region"].astype(str), sales["revenue"])',
)
FILES = [("sales.csv", 41_000), ("sales_2025.csv", 38_200), ("config.json", 310)]
VARIABLES = [{"name": "sales", "type": "DataFrame", "shape": [4, 4]}]


class Choice(msgspec.Struct, frozen=True):
    """``made``: ``run``, ``words``, ``look`` (another tool first), or ``failed``."""

    question: Question
    made: str
    detail: str = ""

    @property
    def agrees(self) -> bool:
        return self.made == self.question.expected


def described() -> str:
    cells = tuple(CellView(f"cell{n}", "code", text) for n, text in enumerate(CELLS, 1))
    kernel = KernelInfo("k", 1, "python", "3.12")
    return Context().describe(Snapshot("sales.ipynb", cells, ""), FILES, kernel, VARIABLES, set())


async def choice(model: Model, name: str, question: Question) -> Choice:
    message = user(Text(described()), Text(question.asked))
    request = ModelRequest(name, system_prompt.SYSTEM, ToolRegistry().specs(), (message,))
    reply: ModelDone | None = None
    try:
        async for event in model.stream(request):
            if isinstance(event, ModelDone):
                reply = event
    except ModelError as error:
        return Choice(question, "failed", error.message)
    calls = [call.name for call in tool_uses(reply.message)] if reply is not None else []
    if set(RUNS) & set(calls):
        return Choice(question, "run")
    return Choice(question, "look", calls[0]) if calls else Choice(question, "words")


async def choices(
    model: Model, name: str, asked: Sequence[Question], at_once: int = 4
) -> list[Choice]:
    room = asyncio.Semaphore(at_once)

    async def one(question: Question) -> Choice:
        async with room:
            return await choice(model, name, question)

    return list(await asyncio.gather(*map(one, asked)))


def table(made: Sequence[Choice]) -> str:
    """A row a group, then each question where the model chose otherwise."""
    groups = list(dict.fromkeys((one.question.expected, one.question.group) for one in made))
    rows: list[tuple[str, ...]] = [
        ("expected", "group", "questions", "agrees", "words", "run", "look", "failed")
    ]
    for expected, group in [*groups, ("", "all")]:
        mine = [one for one in made if group in ("all", one.question.group)]
        kinds = [one.made for one in mine]
        counts = [kinds.count(kind) for kind in ("words", "run", "look", "failed")]
        agrees = sum(one.agrees for one in mine)
        rows.append((expected, group, *map(str, (len(mine), agrees, *counts))))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "| " + " | ".join("-" * width for width in widths) + " |")
    others = [
        visible_line(f"{one.question.expected} → {one.made} {one.detail}: {one.question.asked}")
        for one in made
        if not one.agrees
    ]
    return "\n".join([*lines, "", *others]).rstrip()


async def ask(model: str, most: int, at_once: int) -> list[Choice]:
    """With the connections and keys of the person's settings."""
    settings = config_files.settings(config_files.load())
    asked = questions()
    step = max(1, len(asked) // most)
    models = make_models(settings, Secrets())
    try:
        models.load()
        name = model or models.default
        return await choices(models.get(name), name, asked[::step][:most], at_once)
    finally:
        await models.close()


def main(given: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="scripts/choices", description=__doc__)
    parser.add_argument("--model", default="", help="as in the panel; by default your default")
    parser.add_argument("--most", type=int, default=100, help="how many questions (100)")
    parser.add_argument("--at-once", type=int, default=4, help="requests at a time (4)")
    options = parser.parse_args(given)
    if options.most < 1 or options.at_once < 1:
        parser.error("--most and --at-once take numbers from 1 on")
    try:
        made = asyncio.run(ask(options.model, options.most, options.at_once))
    except CodeInterpError as error:
        print(visible_line(error.message), file=sys.stderr)
        return 1
    print(table(made))
    return 1 if all(one.made == "failed" for one in made) else 0


if __name__ == "__main__":
    sys.exit(main())
