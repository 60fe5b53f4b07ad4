"""What the model reads of errors and exit statuses besides the traceback."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped,unused-ignore]
import pytest

from jupyter_codeinterp.kernel.inside.absent import absent
from jupyter_codeinterp.run.reported import HEADING, LAST_ONLY
from jupyter_codeinterp.view.untrusted import bare
from jupyter_codeinterp.wire.ops import CellView
from tests.core.conftest import Room
from tests.reference_window import notebook
from tests.scripted import Bench, run, say

Benches = Callable[..., Bench]
SET_UP = (
    "import os, subprocess, pandas as pd\n"
    "df = pd.DataFrame({'region': ['n', 's'], ' DIR': [1, 2], 'Net Price': [1., 2.]})\n"
    "d = {'alpha': 1}\norders = 5\nhidden = df.copy()\nhidden_keys = {'Alice': 1}\n"
    "seen = []\n"
    "class Odd:\n"
    "    def __getattr__(self, name): seen.append(name); raise AttributeError(name)\n"
    "    def __dir__(self): seen.append('dir'); return []\n"
    "    def __eq__(self, other): seen.append('eq'); return False\n"
    "    def __hash__(self): seen.append('hash'); return 1\n"
    "    def __repr__(self): seen.append('repr'); return 'odd'\n"
    "    def __getitem__(self, key): seen.append('getitem'); return 'orders'\n"
    "class Plain:\n    def push_all(self): pass\n    __dir__ = Odd.__dir__\n"
    "odd = Odd()\nodd_keys = {odd: 1, 'alpha': 2}\n"
    "odd_table = pd.DataFrame([[1, 2]], columns=pd.Index([odd, 'b'], dtype=object))\n"
    "levels = pd.DataFrame([[1]], columns=pd.MultiIndex.from_tuples([('a', 'b')]))\n"
    "seen.clear()"
)
COLUMNS = "There are these columns: 'region', ' DIR', 'Net Price'"
CASES = (
    # the code of a cell, then each line that the model reads of it
    ("df['DIR']", "`df` has no 'DIR'.", "Nearest: ' DIR'", COLUMNS),
    ("df[['regin', 'zzz']]", "`df` has no 'regin', 'zzz'.", "Nearest: 'region'", COLUMNS),
    ("df[['region', 'zzz']]", "`df` has no 'zzz'.", COLUMNS),
    ("df.drop(columns=['regin'])", "`df` has no 'regin'.", "Nearest: 'region'", COLUMNS),
    ("df.groupby('Region').sum()", "`df` has no 'Region'.", "Nearest: 'region'", COLUMNS),
    ("df.sort_values('net_price')", "`df` has no 'net_price'.", "Nearest: 'Net Price'", COLUMNS),
    ("df.loc[99]", "`df` has no 99.", "There are these labels: 0, 1"),
    ("df.regon", "`df` has no regon.", "Nearest: region, round", COLUMNS),
    ("pd.read_cvs('x')", "`pandas` has no read_cvs.", "Nearest: read_csv, read_sql, read_sas"),
    ("[].appendd(1)", "`list` has no appendd.", "Nearest: append"),
    ("d['Alpha']",),
    ("odd_table['c']", "`odd_table` has no 'c'.", "There are these columns: 'b'"),
    ("odd_keys['c']",),
    ("odder", "Nearest: odd, orders, odd_keys"),
    ("Plain().push_al", "`Plain` has no push_al.", "Nearest: push_all"),
    ("print(rate)", "Cell 1 (c1) defines `rate` and has not run in this kernel."),
    (
        "pd.read_csv('dat.csv')",
        "The working folder has no 'dat.csv'.",
        "Nearest: data.csv",
        "There are these files: data.csv, other.txt, raw/",
    ),
    ("open('Events.csv')", "The working folder has no 'Events.csv'."),
    ("open('rw/2024/x.csv')", "The working folder has no 'rw'. The path as Python read it: "
     "'rw/2024/x.csv'", "Nearest: raw/", "There are these folders: raw/"),
    ("open('raw/evnts.csv')", "The folder 'raw' has no 'evnts.csv'. The path as Python read it: "
     "'raw/evnts.csv'", "Nearest: events.csv", "There are these files: events.csv"),
    ("open(os.path.abspath('no') + '/data.csv')", "There are these folders: raw/",
     ),
    (
        r"open('sub\new\table.csv')",
        r"The path has the signs \n, \t: in a plain string a backslash begins an escape. "
        "Write the path with / or as r'…'.",
    ),
    ("open('/nowhere/data.csv')", "The folder '/' has no 'nowhere'. The path as Python read it: "
     "'/nowhere/data.csv'"),
    ("!exit 3", "exit status 3 of `exit 3`"),
    ("!false\nx = !ls /nosuch\n!!exit 4\n!true", "exit status 1 of `false`",
     "exit status 2 of `ls /nosuch`", "exit status 4 of `exit 4`"),
    ("code = 7\n!exit {code}", "exit status 7 of `exit 7`"),
    ("subprocess.run(['sh', '-c', 'exit 5'])", "exit status 5 of `sh -c exit 5`"),
    ("r = subprocess.run('exit 6', shell=True)\nr", "exit status 6 of `exit 6`"),
    ("def f(): return subprocess.run(['false'])\nf()", "exit status 1 of `false`"),
    ("%sx ls /nosuch", "exit status 2 of `ls /nosuch`"),
    ("os.system('exit 3')\nx = os.system('true')", "exit status 3 of `exit 3`"),
    ("p = subprocess.Popen(['false'])\np.wait(); p.wait()", "exit status 1 of `false`"),
    ("p = subprocess.Popen('exit 2', shell=True, stdout=-1, stderr=-1)\nx = p.communicate()",
     "exit status 2 of `exit 2`"),
    ("x = subprocess.call(['sh', '-c', 'kill -9 $$'])", "exit status -9 of `sh -c kill -9 $$`"),
    ("subprocess.run(['false'], check=True)",),
    ("%%bash\ntrue\nfalse",),  # An error by itself.
    ("import platform, json\nx = platform.platform()",),
    ("import pickle\nr = subprocess.run(['true'])\npickle.loads(pickle.dumps(r))",),
    ("!true\nx = !echo a\nprint(x)",),
    ("1 / 0",),
    ("raise KeyError",),
    ("class E(KeyError): args = property(lambda s: seen.append('args'))\nraise E",),
    (r"raise NameError('x', name='\ud800orders')", "Nearest: orders"),
    ("raise NameError('x', name=odd)",),
    ("raise AttributeError('x', name=odd, obj=df)",),
    ("def f(table): return table['Alicf']\nf(hidden_keys)",),
    ("levels['c']", "`levels` has no 'c'.", "There are these labels: 'a'"),
    ("hidden['DIR']",),
    ("hidden.copy()['DIR']",),
    ("hidden.copy().DIRX",),
    ("hidden.DIRX",),
    ("print({*seen} - {'hash', 'eq'})",),  # pandas itself asks for these
)  # fmt: skip


SHELL_CELLS = {
    "%%bash\nfalse\ntrue": True,
    "%%sh\nls /nosuch 2>/dev/null\n\necho done": True,
    "%%script bash\nfalse\necho 'set -e'": True,
    "%%bash\n# one command\ntrue": False,
    "%%bash -e\ntrue\ntrue": False,
    "%%bash\nset -euo pipefail\ntrue": False,
    "%%bash\nset -o errexit\ntrue": False,
    "!true\n!true": False,
}


def reported(result: str) -> list[str]:
    text = bare(result)
    return text.split(f"{HEADING}\n")[1].split("\n[")[0].split("\n") if HEADING in text else []


async def test_what_was_there(bench: Benches, room: Room, tmp_path: Path) -> None:
    (tmp_path / "data.csv").touch()
    (tmp_path / "other.txt").touch()
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "events.csv").touch()
    book: dict[str, Any] = notebook("rate = 1.5")
    b = bench(
        run(SET_UP),
        run(f"os.chdir({str(tmp_path)!r})"),
        *(run(source) for source, *_ in CASES[:20]),
        *(run(source) for source in SHELL_CELLS),
        say("Half."),
        *(run(source) for source, *_ in CASES[20:]),
        say("Done."),
        book=book,
    )
    b.session.private_names.learn([CellView("old", "code", "", assigns=("hidden", "hidden_keys"))])
    await b.turn(mode="auto")
    await b.turn(mode="auto")
    results = b.sent_results[2:]
    shells = [results.pop(20) for _ in SHELL_CELLS]
    assert [LAST_ONLY in result for result in shells] == [*SHELL_CELLS.values()]
    for (source, *lines), result in zip(CASES, results, strict=True):
        told = reported(result)
        assert set(lines) <= set(told) if lines else told == [], (source, result)
    assert "\nset()\n" in results[-1], "no code of the person's types ran"


def test_labels_in_an_array_of_anothers_type_are_not_read() -> None:
    seen: list[Any] = []

    class Mine(pd.arrays.StringArray):  # type: ignore[misc,unused-ignore]
        def __getitem__(self, at: Any) -> Any:
            seen.append(at)
            return super().__getitem__(at)

    table = pd.DataFrame([[1]])
    table.columns = pd.Index(Mine(np.array(["a"], dtype=object)))
    for ask in (lambda: table["c"], lambda: table.missing):
        with pytest.raises((KeyError, AttributeError)) as raised:
            ask()
        seen.clear()
        assert absent(raised.value, {"table": table})["there"] == [] == seen


FORGED = (
    "5",
    "{'kind': 'key'}",
    "{'kind': 'key', 'wanted': 'a', 'there': 7}",
    "{'kind': 'key', 'wanted': 'a', 'there': ['x'] * 100_000}",
)


@pytest.mark.parametrize("absent", FORGED)
async def test_a_forged_report_is_bounded(bench: Benches, room: Room, absent: str) -> None:
    forge = f"get_ipython().payload_manager.write_payload({{'source': S, 'absent': {absent}}})"
    mark = "from importlib import import_module\nS = 'jupyter_codeinterp.watch'"
    b = bench(run(f"{mark}\n{forge}"), say("Done."))
    await b.turn(mode="auto")
    assert len(b.sent_results[0]) < 3_000
