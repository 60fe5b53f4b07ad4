"""The variables of a real kernel, also while a cell runs."""

from __future__ import annotations

import asyncio
import os
import signal
from importlib.metadata import version
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from jupyter_codeinterp.kernel.inside.variables import PACKAGES
from jupyter_codeinterp.wire.ports import KernelState
from tests.kernels import Gate, python, python_and_person, run, text, until


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path / "open")


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a second they should be there; a busy machine may need longer."""
    monkeypatch.setattr("jupyter_codeinterp.kernel.zmq.variables.LIMIT", 60)


@pytest.mark.usefixtures("patient")
async def test_variables() -> None:
    async with python() as (kernel, _, _):
        await run(
            kernel,
            "import numpy as np, pandas as pd, datetime\n"
            "n = 42\nhuge = 10**500\ns = 'text'\nlong = list(range(1000))\nd = {'a': [1]}\n"
            "few = (1, 'b', None)\n_hidden = 1\nday = datetime.date(2026, 1, 2)\n"
            "a = np.zeros((3, 4))\nf = np.float64(1.5)\n"
            "df = pd.DataFrame({'x': [1, 2], 'y': ['p', 'q']})\n"
            "column = df['x']\ndef function(): pass\n",
        )
        found = {v.pop("name"): v for v in await kernel.variables() or []}
        assert found == {
            "n": {"type": "int", "value": "42"},
            "huge": {"type": "int"},
            "s": {"type": "str", "len": 4, "value": "'text'"},
            "long": {"type": "list", "len": 1000},
            "d": {"type": "dict", "len": 1},
            "few": {"type": "tuple", "len": 3, "value": "(1, 'b', None)"},
            "day": {"type": "date", "value": "datetime.date(2026, 1, 2)"},
            "a": {"type": "ndarray", "shape": [3, 4], "dtype": "float64"},
            "f": {"type": "float64", "value": "1.5"},
            "df": {"type": "DataFrame", "shape": [2, 2], "columns": [["x", "int64"], ["y", "str"]]},
            "column": {"type": "Series", "shape": [2], "dtype": "int64"},
            "function": {"type": "function"},
        }
        asked = await kernel.variables(("n", "absent"))
        assert asked == [{"name": "n", "type": "int", "value": "42"}]
        _, done = await run(kernel, "print(In[1:], [k for k in dir() if 'codeinterp' in k])")
        assert text(done).endswith("[]\n")
        assert text(done).count("import numpy") == 1


@pytest.mark.usefixtures("patient")
async def test_variables_run_no_code_of_the_persons_types() -> None:
    async with python() as (kernel, _, _):
        await run(
            kernel,
            "_touched = []\n"
            "class Meta(type):\n"
            "    __name__ = property(lambda c: _touched.append('meta'))\n"
            "    def __eq__(c, o): _touched.append('eq'); return False\n"
            "    __hash__ = type.__hash__\n"
            "class Hostile(metaclass=Meta):\n"
            "    def __getattribute__(s, n): _touched.append(n); raise SystemExit\n"
            "    def __repr__(s): _touched.append('repr'); return ''\n"
            "    def __len__(s): _touched.append('len'); return 1\n"
            "    def __eq__(s, o): _touched.append('eq'); return True\n"
            "    def __hash__(s): _touched.append('hash'); return 1\n"
            "    shape = property(lambda s: _touched.append('shape'))\n"
            "class MyList(list):\n    __len__ = __repr__ = Hostile.__len__\n"
            "h = Hostile(); inside = [h]; keys = {h: h}; mine = MyList()\n"
            "import pandas as pd\n"
            "df = pd.DataFrame({'c': pd.Series([h], dtype=object)})\n"
            "_touched.clear()",
        )
        outlined = {v["name"]: v for v in await kernel.outline((), True) or []}
        assert "columns" not in outlined["keys"] and "columns" not in outlined["mine"]
        assert outlined["df"]["columns"] == [["'c'", "object"]]
        assert await kernel.variables(("keys[h]", "mine[0]", "h['shape']")) == []
        found = {v["name"]: v for v in await kernel.variables() or []}
        assert found["h"] == {"name": "h", "type": "Hostile"}
        assert found["inside"] == {"name": "inside", "type": "list", "len": 1}
        assert found["mine"] == {"name": "mine", "type": "MyList"}
        assert found["df"]["columns"] == [["c", "object"]]
        _, done = await run(kernel, "print(_touched)")
        assert text(done) == "[]\n"


@pytest.mark.usefixtures("patient")
async def test_variables_while_a_cell_runs_leave_it_alone(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, link):
        await run(kernel, "%matplotlib inline\nimport matplotlib.pyplot as plt, time")
        assert await kernel.variables() == []
        theirs = person.run(
            "plt.plot([1, 2]); get_ipython().set_next_input('kept')\nprint(1, flush=True)\n"
            f"{gate.source}\nplt.title('whole'); print(plt.gca().get_title())"
        )
        await until(lambda: person.text(theirs) != "")
        assert await kernel.variables() == []
        assert link.busy
        gate.open()
        await person.finished(theirs)
        assert person.text(theirs) == "1\nwhole\n"
        assert person.has(theirs, "display_data")


@pytest.mark.usefixtures("patient")
async def test_variables_of_a_busy_kernel_not_asked_before_are_not_available(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, link):
        theirs = person.run(gate.source)
        await person.begun(theirs)
        assert await kernel.variables() is None
        gate.open()
        await person.finished(theirs)
        await until(lambda: not link.busy)
        assert await kernel.variables() == []


@pytest.mark.usefixtures("patient")
async def test_the_state_of_a_kernel(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    async with python_and_person() as (kernel, person, link):
        state = await kernel.state()
        packages = state.packages
        assert state == KernelState(cells_run=0, packages=packages, inputs=(0,))
        assert not state.lacks("x = 1", 7), "the model knows that nothing has run"
        assert set(packages) == set(PACKAGES) and packages["pandas"] == version("pandas")
        theirs = person.run(gate.source)
        await person.begun(theirs)
        assert (await kernel.state()).busy
        gate.open()
        await person.finished(theirs)
        await until(lambda: not link.busy)
        state = await kernel.state()
        cells = {(gate.source, 1): False, (gate.source, None): False, (gate.source, 2): True}
        for (source, count), lacks in {**cells, ("x = 1", 1): True}.items():
            assert state.lacks(source, count) == lacks
        monkeypatch.setattr(link.process, "is_alive", AsyncMock(return_value=False))
        assert await kernel.state() == KernelState(dead=True)
    assert await kernel.state() == KernelState()


@pytest.mark.usefixtures("patient")
async def test_the_first_question_waits_for_a_busy_kernel(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, link):
        await kernel.info()  # Else this question would wait.
        theirs = person.run(gate.source)
        await person.begun(theirs)
        await until(lambda: link.busy)
        asked = asyncio.ensure_future(kernel.state())
        await asyncio.sleep(0)
        gate.open()
        assert (await asked).cells_run == 1
        assert await kernel.variables() is not None


@pytest.mark.usefixtures("patient")
async def test_an_outline_has_names_and_sizes_and_no_values(gate: Gate) -> None:
    async with python_and_person() as (kernel, person, _):
        await run(
            kernel,
            "import numpy as np, pandas as pd\n"
            "class Hostile:\n"
            "    def __getattribute__(s, n): raise SystemExit\n"
            "    __repr__ = __len__ = __getattribute__\n"
            "for i in range(2_100): globals()[f'v{i}'] = i\n"
            "s = 'text'; a = np.zeros((3, 4)); h = Hostile()\n"
            "df = pd.DataFrame({'x': [1, 2]}); column = df['x']; _hidden = 1",
        )
        found = await kernel.outline() or []
        assert len(found) == 2_000
        assert found[-5:] == [
            {"name": "s", "type": "str", "len": 4},
            {"name": "a", "type": "ndarray", "shape": [3, 4]},
            {"name": "h", "type": "Hostile"},
            {"name": "df", "type": "DataFrame", "shape": [2, 1]},
            {"name": "column", "type": "Series", "shape": [2]},
        ]
        assert not any("value" in one for one in found)
        theirs = person.run(gate.source)
        await person.begun(theirs)
        assert len(await kernel.outline() or []) == 2_000
        gate.open()
        await person.finished(theirs)


@pytest.mark.usefixtures("patient")
async def test_other_clients_get_no_end_of_a_comm_that_they_do_not_know() -> None:
    """JupyterLab reports each as an error."""
    async with python_and_person() as (kernel, person, _):
        for _ in range(3):
            assert await kernel.variables() == []
        ran = person.run("print(len(get_ipython().kernel.comm_manager.comms))")
        await person.finished(ran)
        assert person.text(ran) == "0\n"
        types = {message["msg_type"] for message in person.messages}
        assert "comm_msg" in types
        assert "comm_close" not in types


TABLE = """
import pandas as pd
df = pd.DataFrame({"region": ["a"], "net price": [1.5], "it's": [1], "größe": [True], 7: [2],
                   ("a", 1): [3], "x" * 200: [4]})
config = {"lr": 0.1, 3: [1, 2], "deep": {"a": 1}, b"raw": 1, None: None}
twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
wide = pd.DataFrame({f"c{n}": [n] for n in range(2_500)})
"""


@pytest.mark.usefixtures("patient")
async def test_the_columns_of_tables_and_the_keys_of_dictionaries() -> None:
    async with python() as (kernel, _, _):
        await run(kernel, TABLE)
        assert all("columns" not in one for one in await kernel.outline() or [])
        found = {v["name"]: v["columns"] for v in await kernel.outline((), True) or []}
        assert found["df"] == [
            ["'region'", "str"],
            ["'net price'", "float64"],
            ['"it\'s"', "int64"],
            ["'größe'", "bool"],
            ["7", "int64"],
            ["('a', 1)", "int64"],
        ]
        assert found["config"] == [
            ["'lr'", "float"],
            ["3", "list"],
            ["'deep'", "dict"],
            ["None", "NoneType"],
        ]
        assert found["twice"] == [["'a'", "int64"]]
        assert len(found["wide"]) == 200
        (wide,) = await kernel.outline(("wide",), True) or []
        assert len(wide["columns"]) == 2_000
        named = ("df['net price']", 'df["it\'s"]', "df[7]", "config['lr']", "df['no']", "no['a']")
        assert await kernel.variables(named) == [
            {"name": "df['net price']", "of": "DataFrame", "type": "float64", "len": 1},
            {"name": 'df["it\'s"]', "of": "DataFrame", "type": "int64", "len": 1},
            {"name": "df[7]", "of": "DataFrame", "type": "int64", "len": 1},
            {"name": "config['lr']", "of": "dict", "type": "float"},
        ]


@pytest.mark.usefixtures("patient")
async def test_the_columns_of_many_wide_tables_are_bounded_and_quick() -> None:
    async with python() as (kernel, _, _):
        await run(
            kernel,
            "import pandas as pd\n"
            "_wide = pd.DataFrame({f'column {n}': [n] for n in range(200)})\n"
            "for _n in range(2_000): globals()[f'df{_n}'] = _wide.copy(deep=False)",
        )
        found = await kernel.outline((), True) or []
        assert len(found) == 2_000
        assert sum(len(one.get("columns", ())) for one in found) == 5_000
        assert len(found[-1]["columns"]) == 200 and "columns" not in found[0]


async def test_a_restart_takes_a_request_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waited for an answer gets one, and is not cancelled."""
    monkeypatch.setattr("jupyter_codeinterp.kernel.zmq.variables.LIMIT", 60)
    async with python() as (kernel, link, kernels):
        await run(kernel, "import pandas\nrows = pandas.DataFrame({'n': [1]})")
        asked = {"name": "rows", "start": 0, "rows": 1, "column": 0}
        assert (await kernel.table(asked))["table"]["cells"] == [["1"]]
        assert await kernel.variables(("rows",))
        stopped = link.process.number
        assert stopped is not None
        os.kill(stopped, signal.SIGSTOP)
        waiting = [
            asyncio.create_task(kernel.table(asked)),
            asyncio.create_task(kernel.variables(("rows",))),
        ]
        await until(lambda: len(link.comm_answers) == 2)
        await kernels.restart_kernel(link.kernel_id, now=True)
        table, variables = await asyncio.wait_for(asyncio.gather(*waiting), 30)
        assert table == {"refused": "slow"}
        assert variables is None
