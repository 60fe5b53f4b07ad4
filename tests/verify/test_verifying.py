"""Verifying with real kernels: over REST and on the command line."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import msgspec
import nbclient
import nbformat
import pytest
from jupyter_client.ioloop.restarter import AsyncIOLoopKernelRestarter

from jupyter_codeinterp.app.verify import NotebookRuns, verifier
from jupyter_codeinterp.base.sentences import from_journal
from jupyter_codeinterp.kernel.zmq.fresh import FreshKernel
from jupyter_codeinterp.run.verify.verification import Verification
from tests.cli import Cli, is_running, make_cli, until
from tests.kernels import until as came_true
from tests.reference_window import body, notebook
from tests.site import Site

SOURCES = (
    "import pathlib, os\nn = len(pathlib.Path('a.csv').read_text().split())",
    "n",
    "print(n * 2)",
    "pathlib.Path('made.txt').write_text('x')\nprint(os.getpid() > 0)",
)


def result(words: str) -> dict[str, Any]:
    data = {"text/plain": words}
    return {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": 1}


def book(*sources: str, **outputs: str) -> Any:
    """A notebook whose cells show these texts, by cell id."""
    made = notebook(*sources)
    made["metadata"] = {"kernelspec": {"name": "python3", "display_name": "P"}}
    for number, cell in enumerate(made["cells"], 1):
        cell["execution_count"] = number
        if cell["id"] in outputs:
            cell["outputs"] = [result(outputs[cell["id"]])]
    return made


async def ended(site: Site, path: str = "work/a.ipynb") -> Any:
    """The end of the run, followed as a page does."""
    now = (await site.get("verifications", params={"notebook": path}))["verification"]
    while now["state"] == "running":
        asked = {"notebook": path, "seen": str(now["version"])}
        now = (await site.get("verifications", params=asked))["verification"]
    return now


@pytest.fixture
def folder(jp_root_dir: Path) -> Path:
    folder = jp_root_dir / "work"
    folder.mkdir()
    (folder / "a.csv").write_text("1 2 3")
    return folder


def kernels(site: Site) -> list[str]:
    return list(site.app.kernel_manager.list_kernel_ids())


async def test_same_differs_and_failed(site: Site, folder: Path) -> None:
    file = folder / "a.ipynb"
    made = book(*SOURCES, "gone", "1", c2="3", c3="7")
    del made["cells"][3]["outputs"]
    made["cells"][3]["outputs"], made["cells"][3]["execution_count"] = [], None
    made["cells"].insert(0, {"id": "m", "cell_type": "markdown", "metadata": {}, "source": "#"})
    file.write_text(json.dumps(made))
    before = file.read_bytes()
    live = await site.kernel_of("work/a.ipynb")
    started = await site.post("verifications", json_body={"notebook": "work/a.ipynb"})
    assert started["verification"]["state"] == "running"
    now = await ended(site)
    lines = {line["cell_id"]: line for line in now["cells"]}
    assert {name: line["status"] for name, line in lines.items()} == {
        "c1": "same", "c2": "same", "c3": "differs", "c4": "new", "c5": "failed", "c6": "skipped",
    }  # fmt: skip
    # The Markdown cell above counts, too.
    assert {name: line["number"] for name, line in lines.items()} == {
        f"c{code}": code + 1 for code in range(1, 7)
    }
    # It printed the number; the notebook has another, as a result.
    assert (lines["c3"]["old"], lines["c3"]["new"]) == ("", "6")
    assert "NameError: name 'gone' is not defined" in lines["c5"]["text"]
    assert now["state"] == "done" and not now["in_place"]
    assert file.read_bytes() == before and not (folder / "made.txt").exists()
    assert kernels(site) == [live]


async def test_a_run_is_cancelled_and_the_next_one_follows(site: Site, folder: Path) -> None:
    file = folder / "a.ipynb"
    file.write_text(json.dumps(book("print(1)", "import time\ntime.sleep(600)")))
    asked = {"notebook": "work/a.ipynb"}
    await site.post("verifications", json_body=asked)
    again = await site.as_page("POST", "verifications", json_body=asked)
    assert (again.code, body(again)["code"]) == (409, "busy")
    now = (await site.get("verifications", params=asked))["verification"]
    while now["cells"][1]["status"] != "running":
        seen = {**asked, "seen": str(now["version"])}
        now = (await site.get("verifications", params=seen))["verification"]
    response = await site.as_page("DELETE", "verifications", params=asked)
    now = body(response)["verification"]
    assert (now["state"], [line["status"] for line in now["cells"]]) == (
        "cancelled", ["differs", "skipped"],
    )  # fmt: skip
    assert kernels(site) == []
    file.write_text(json.dumps(book("1", c1="1")))
    await site.post("verifications", json_body=asked)
    assert [line["status"] for line in (await ended(site))["cells"]] == ["same"]


async def test_the_agent_gets_the_end_of_a_run_and_can_cancel_one(site: Site, folder: Path) -> None:
    runs = NotebookRuns(site.extension.workbench.verifier, lambda: "work/a.ipynb")
    (folder / "a.ipynb").write_text(json.dumps(book("1", "2", c1="1", c2="3")))
    assert [cell.source for cell in await runs.cells()] == ["1", "2"]
    now = await runs.run(in_place=False)
    assert [line.status for line in now.cells] == ["same", "differs"]
    (folder / "a.ipynb").write_text(json.dumps(book("import time\ntime.sleep(600)")))
    running = asyncio.ensure_future(runs.run(in_place=False))
    await came_true(lambda: bool(kernels(site)))
    running.cancel()
    await asyncio.wait({running})
    assert running.cancelled()
    await came_true(lambda: not kernels(site))


async def test_a_start_that_is_cancelled_leaves_no_kernel(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = site.app.kernel_manager
    start = manager.start_kernel
    has_begun = asyncio.Event()

    async def slow(**given: Any) -> Any:
        name = await start(**given)
        has_begun.set()
        await asyncio.sleep(0.1)
        return name

    monkeypatch.setattr(manager, "start_kernel", slow)
    kernel = FreshKernel(manager, "python3", {})
    starting = asyncio.ensure_future(kernel.start(None))
    await has_begun.wait()
    starting.cancel()
    await asyncio.wait({starting})
    assert starting.cancelled()
    await kernel.close()
    assert kernels(site) == []


async def test_a_large_folder_is_used_only_if_asked(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeinterp.app.verify.folder.MOST_FILES", 1)
    (folder / "a.ipynb").write_text(json.dumps(book(*SOURCES)))
    asked = {"notebook": "work/a.ipynb"}
    refused = await site.as_page("POST", "verifications", json_body=asked)
    assert (refused.code, body(refused)["code"]) == (409, "in_folder")
    assert (await site.get("verifications", params=asked))["verification"] is None
    await site.post("verifications", json_body={**asked, "in_place": True})
    now = await ended(site)
    assert now["in_place"] and (folder / "made.txt").read_text() == "x"


@pytest.fixture
def quick_restarts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server looks for dead kernels far more often than a verification does."""
    start = AsyncIOLoopKernelRestarter.start

    def quick(self: AsyncIOLoopKernelRestarter) -> None:
        self.time_to_dead = 0.05
        start(self)

    monkeypatch.setattr(AsyncIOLoopKernelRestarter, "start", quick)


@pytest.mark.usefixtures("quick_restarts")
@pytest.mark.parametrize("code", ["os._exit(1)", "os.kill(os.getpid(), 9)"])
async def test_a_cell_that_kills_its_kernel_ends_it(site: Site, folder: Path, code: str) -> None:
    (folder / "a.ipynb").write_text(json.dumps(book("import os", code, "2", c3="2")))
    await site.post("verifications", json_body={"notebook": "work/a.ipynb"})
    now = await asyncio.wait_for(ended(site), 20)
    assert [line["status"] for line in now["cells"]] == ["same", "failed", "skipped"]
    assert now["cells"][1]["text"] == "The kernel died." and now["cells"][1]["seconds"] < 8
    assert now["cells"][2]["text"] == "Cell 2 ended the kernel."
    assert now["words"] == "Cell 2 ended the kernel. The cells below it did not run."
    assert kernels(site) == []


@pytest.mark.usefixtures("quick_restarts")
@pytest.mark.parametrize("code", ["exit()", "quit()", "get_ipython().ask_exit()"])
async def test_cells_below_an_exit_did_not_run(site: Site, folder: Path, code: str) -> None:
    (folder / "a.ipynb").write_text(json.dumps(book("1", code, "import time", "3", c1="1")))
    await site.post("verifications", json_body={"notebook": "work/a.ipynb"})
    now = await asyncio.wait_for(ended(site), 20)
    assert [line["status"] for line in now["cells"]] == ["same", "same", "skipped", "skipped"]
    assert now["words"] == "Cell 2 ended the kernel. The cells below it did not run."
    assert not msgspec.convert(now, Verification, dec_hook=from_journal).good


async def test_an_exit_at_the_end_is_no_fault(site: Site, folder: Path) -> None:
    (folder / "a.ipynb").write_text(json.dumps(book("1", "exit()", c1="1")))
    await site.post("verifications", json_body={"notebook": "work/a.ipynb"})
    now = await ended(site)
    assert ([line["status"] for line in now["cells"]], now["words"]) == (["same", "same"], "")


async def test_a_cell_has_a_limit(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verifier = site.extension.workbench.verifier
    assert verifier.timeout == 600
    monkeypatch.setattr(verifier, "timeout", 1)
    (folder / "a.ipynb").write_text(json.dumps(book("import time\ntime.sleep(60)", "2")))
    await site.post("verifications", json_body={"notebook": "work/a.ipynb"})
    now = await asyncio.wait_for(ended(site), 20)
    assert [line["status"] for line in now["cells"]] == ["failed", "skipped"]
    assert now["cells"][0]["text"] == "The cell ran longer than the limit of 1 s."


async def test_the_oldest_result_makes_room(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "KEPT", 1)
    for name in ("a", "b"):
        (folder / f"{name}.ipynb").write_text(json.dumps(book("1")))
        await site.post("verifications", json_body={"notebook": f"work/{name}.ipynb"})
        assert (await ended(site, f"work/{name}.ipynb"))["state"] == "done"
    asked = {"notebook": "work/a.ipynb"}
    assert (await site.get("verifications", params=asked))["verification"] is None


async def test_real_outputs_are_compared_in_all_their_kinds(site: Site, folder: Path) -> None:
    """Two runs of the same cells show the same; a Markdown or HTML output that changed differs."""
    code = (
        "from IPython.display import HTML, Markdown\nimport uuid",
        "display(Markdown('total **4**')); display(HTML('<b>4</b>'))",
        "HTML(f'<i id=\"{uuid.uuid4()}\">4</i>')",
    )
    file = folder / "a.ipynb"
    file.write_text(json.dumps(book(*code)))
    asked = {"notebook": "work/a.ipynb"}
    client = nbclient.NotebookClient(nbformat.read(file, 4), kernel_name="python3")
    made = await client.async_execute()
    nbformat.write(made, file)
    await site.post("verifications", json_body=asked)
    assert [line["status"] for line in (await ended(site))["cells"]] == ["same"] * 3
    made["cells"][1]["outputs"][0]["data"]["text/markdown"] = "total **5**"
    made["cells"][2]["outputs"][0]["data"]["text/html"] = "<i>5</i>"
    nbformat.write(made, file)
    await site.post("verifications", json_body=asked)
    lines = (await ended(site))["cells"]
    shown = [(line["status"], line["old"], line["new"]) for line in lines]
    assert shown == [
        ("same", "", ""),
        ("differs", "total **5**", "total **4**"),
        ("differs", "5", "4"),
    ]


@pytest.mark.parametrize(
    ("notebook", "code"),
    [("", "malformed"), ("gone.ipynb", "unknown_notebook"), ("work/b.ipynb", "malformed")],
)
async def test_what_cannot_be_verified(site: Site, folder: Path, notebook: str, code: str) -> None:
    (folder / "b.ipynb").write_text(json.dumps(book("", "  ")))
    asked = {"notebook": notebook}
    assert body(await site.as_page("POST", "verifications", json_body=asked))["code"] == code


class TestWherePlanIsTheHighestMode:
    @pytest.fixture
    def codeinterp_config(self) -> dict[str, Any]:
        return {"highest_mode": "plan"}

    async def test_nothing_runs(self, site: Site, folder: Path) -> None:
        (folder / "a.ipynb").write_text(json.dumps(book("1")))
        asked = {"notebook": "work/a.ipynb"}
        refused = await site.as_page("POST", "verifications", json_body=asked)
        assert (refused.code, body(refused)["code"]) == (403, "not_allowed")
        assert kernels(site) == []


# --- the command line ----------------------------------------------------------------


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """No model is needed."""
    return make_cli(tmp_path, "http://127.0.0.1:9")


def test_exit_codes(cli: Cli) -> None:
    made = book("x = 2", "x", c2="2")
    title = {"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# Title"}
    made["cells"].insert(0, title)
    cli.file.write_text(json.dumps(made))
    same = cli.run("verify", "a.ipynb")
    assert same.code == 0, same.err
    assert "✓ cell 3 same: x" in same.out and same.out.endswith("2 same.\n")
    cli.file.write_text(json.dumps(book("x = 2", "x", c2="3")))
    differs = cli.run("verify", "a.ipynb", "--json")
    assert differs.code == 1
    now = json.loads(differs.out)
    assert [line["status"] for line in now["cells"]] == ["same", "differs"]
    assert (now["cells"][1]["old"], now["cells"][1]["new"]) == ("3", "2")
    for wrong in (("gone.ipynb",), ("a.ipynb", "--kernel", "nope"), ("a.ipynb", "--wrong")):
        assert cli.run("verify", *wrong).code == 2, wrong
    cli.configure(highest_mode="plan")
    refused = cli.run("verify", "a.ipynb")
    assert refused.code == 2 and "not allowed" in refused.err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_interrupted(cli: Cli) -> None:
    mark = cli.folder.parent / "pid"
    code = f"import os, time, pathlib\npathlib.Path({str(mark)!r}).write_text(str(os.getpid()))"
    cli.file.write_text(json.dumps(book(f"{code}\ntime.sleep(600)")))
    with cli.started("verify", "a.ipynb") as process:
        until(lambda: mark.exists() and mark.read_text(), "the cell runs")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    until(lambda: not is_running(int(mark.read_text())), "the kernel has ended")
