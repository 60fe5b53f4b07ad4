"""Labels of code: which code may reach what."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.run.approval.labels import labels, persons_variables
from jupyter_codeinterp.wire.events import DraftDecided
from jupyter_codeinterp.wire.ops import CellView
from tests.scripted import Bench, call, last_cell, run, say

TABLE = r"""
                | df.to_csv()
                | df.plot(); df.groupby("a").sum().head()
                | import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()
                | df = pd.read_csv("data.csv")
                | p = "data/a.csv"\nopen(p)
                | from pathlib import Path\nopen(Path("data") / "a.csv")
                | from io import StringIO\npd.read_csv(StringIO("a"))
                | open(name, mode)
                | open(folder + "/a.csv"); pd.read_csv(f"{folder}/a.csv")
                | text = '''a\n!ls'''
                | %matplotlib inline\nx = 1
                | %time x = 1
                | x?
writes          | df.to_csv("a.csv")
writes          | open("a", "w")
writes          | open("a", mode="a")
writes          | Path("a").open("w")
writes          | plt.savefig("a.png")
writes          | from pathlib import Path\nPath("a").write_text("b")
writes          | import os as o\no.makedirs("a")
writes          | %%writefile a.py\nx
deletes         | from pathlib import Path\nPath("a").unlink()
deletes         | from os import remove as r\nr("a")
deletes         | import shutil\nshutil.rmtree("a")
reads_outside   | pd.read_csv("../x.csv")
reads_outside   | open("/etc/passwd")
reads_outside   | pd.read_csv("data/../../x.csv")
reads_outside   | from pathlib import Path\nPath("~/.ssh/id").read_text()
reads_outside   | from pathlib import Path\nopen(Path("..") / "a.csv")
reads_outside   | from pathlib import Path\nopen(Path(".") / "/etc/passwd")
reads_outside   | open("/tmp/" + name); open("../" + name + ".csv")
network         | import requests\nrequests.get(u)
network         | import urllib.request as u
network         | pd.read_csv("https://example.org/a.csv")
network         | from socket import socket
processes       | import os\nos.system("ls")
processes       | from subprocess import run
processes       | !ls
processes       | files = !ls
processes       | %%bash\nls
installs        | %pip install x
installs        | !pip install x
unreadable      | def (
changes         | theirs = 1
changes         | theirs["a"] = 1
                | import numpy as np
"""
CASES = [
    (label.strip(), code.replace(r"\n", "\n"))
    for label, _, code in (line.partition("| ") for line in TABLE.strip("\n").split("\n"))
]


@pytest.mark.parametrize(("label", "code"), CASES)
def test_what_code_may_reach(label: str, code: str) -> None:
    found = {one.kind for one in labels(code, "python", ("theirs",))}
    assert label in found if label else found == set()


def test_a_label_names_its_line() -> None:
    (label,) = labels(f"x = 1\nopen('a', 'w')  # {'y' * 100}", "python")
    assert (label.kind, label.line, len(label.code)) == ("writes", 2, 80)
    assert str(label) == "writes files (line 2)"


def test_code_that_cannot_be_read_says_so() -> None:
    for code, language in (("x <- 1", "R"), ("x = 1\n" * 5_000, "python"), ("(" * 500, "python")):
        assert [one.kind for one in labels(code, language)] == ["unreadable"]
    assert labels(" \n", "python") == ()


def test_variables_of_the_persons_cells_are_theirs() -> None:
    cells = (
        CellView("a", "code", "import numpy as np\nfrom os import path as p\nx = 1"),
        CellView("b", "code", "y = 1"),
        CellView("c", "code", "", assigns=("z",)),
    )
    assert persons_variables(cells, lambda cell: cell.cell_id == "b", ("df",)) == {"x", "z", "df"}


FOLDER_TABLE = """
/home/me/work     | data.csv ./data.csv data/../a.csv ../work/a.csv /home/me/work/a.csv
C:/me/work        | a.csv C:/me/work/a.csv
C:/me/work not    | C:/me/a.csv D:/me/work/a.csv C:a.csv
/home/me/work/    | /home/me/work/x/../a.csv
/ not             | /etc/passwd
/                 | a.csv
                  | a.csv ./a.csv
/home/me/work not | ../a.csv /home/me/work2/a.csv /home/me/work/../a.csv /etc/passwd ../work/../b
/home/me/work not | //home/me/work/a.csv ~/a.csv \\\\host\\a C:\\a ~me/a
not               | /home/me/work/a.csv ../work/a.csv C:/a ~/a
"""


@pytest.mark.parametrize("line", FOLDER_TABLE.strip("\n").split("\n"))
def test_reads_in_the_notebooks_folder_have_no_label(line: str) -> None:
    where, _, given = line.partition("| ")
    folder, outside = where.replace("not", "").strip(), "not" in where
    for path in given.split():
        found = {one.kind for one in labels(f"open({path!r})", "python", folder=folder)}
        assert ("reads_outside" in found) == outside, path


async def test_a_deleted_cell_is_not_named(bench: Callable[..., Bench]) -> None:
    made = bench(
        run("x = 1"),
        lambda request: call("delete_cell", cell_id=last_cell(request)),
        call("edit_cell", cell_id="gone", source="x = 2"),
        say("done"),
    )
    await made.turn(mode="auto")
    ran, deleted, refused = made.sent_results
    cell = deleted.split("cell_id=")[1].split()[0]
    assert "status=ok" in deleted and f"cell_id={cell}" in ran
    assert "There is no cell 'gone'" in refused and cell not in refused


def test_a_label_names_the_variables_that_change() -> None:
    code = "f = 1\na = b = c = 1\nd['x'] = 2"
    (label,) = labels(code, "python", ("a", "b", "c", "d", "e"))
    assert (label.line, label.names, label.more) == (2, ("a", "b", "c"), 1)
    assert str(label) == "changes `a`, `b`, `c` and 1 more (line 2)"


async def test_drafts_and_runs_carry_labels(bench: Callable[..., Bench]) -> None:
    made = bench(run("x = 2\nopen('a.txt', 'w').close()"), say("done"))
    made.session.send("go", "review", "m")
    draft = await made.draft()
    assert [str(label) for label in draft.labels] == [
        "writes files (line 2)",
        "changes `x` (line 1)",
    ]
    made.decide(draft, "run", source="x = 2")
    await made.ended()
    (decided,) = (event for event in made.events if isinstance(event, DraftDecided))
    assert [label.kind for label in decided.labels] == ["changes"]
