"""The offline demo in a real kernel: all that the recording says comes from what really ran."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import csv
import importlib.resources
import re
from collections import defaultdict
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import nbformat
import pytest
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.manager import AsyncKernelManager
from nbformat.v4 import output_from_msg

from jupyter_codeinterp.demo import FILES, copy_demo, read
from jupyter_codeinterp.models.replay.model import ReplayModel
from jupyter_codeinterp.view.outputs import result_text, see
from jupyter_codeinterp.wire.messages import Message, Text, ToolResult, ToolUse, tool_uses, user
from jupyter_codeinterp.wire.ports import ModelDone, ModelRequest

QUESTION = "Which region grew fastest? Show it."
PNG = b"\x89PNG\r\n\x1a\n"
MIDDLE_GREY = range(60, 200)

Output = dict[str, Any]


# --- the driver: what the product does between model and kernel, in few lines ------------


class Ran(msgspec.Struct, frozen=True):
    call: ToolUse
    status: str
    cell_id: str
    outputs: tuple[Output, ...]

    @property
    def text(self) -> str:
        return see(self.outputs, images_left=0).text


class Conversation(msgspec.Struct):
    messages: tuple[Message, ...] = ()
    ran: list[Ran] = []
    answer: str = ""


@contextlib.asynccontextmanager
async def kernel_in(folder: Path) -> AsyncIterator[AsyncKernelClient]:
    manager = AsyncKernelManager(kernel_name="python3")
    await manager.start_kernel(cwd=str(folder))
    client = manager.client()
    client.start_channels()
    try:
        await client.wait_for_ready(timeout=60)
        yield client
    finally:
        client.stop_channels()
        await manager.shutdown_kernel(now=True)
        manager.context.destroy()


async def execute(client: AsyncKernelClient, source: str) -> tuple[str, tuple[Output, ...]]:
    outputs: list[Output] = []

    def keep(message: dict[str, Any]) -> None:
        if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            outputs.append(output_from_msg(message))

    reply = await client.execute_interactive(
        source, output_hook=keep, allow_stdin=False, stop_on_error=False, timeout=60
    )
    return reply["content"]["status"], tuple(outputs)


async def ask(client: AsyncKernelClient, talk: Conversation) -> None:
    """Put the question, run what is asked for, until the model answers in words."""
    model = ReplayModel(pace=0)
    talk.messages = (*talk.messages, user(Text(QUESTION)))
    while True:
        request = ModelRequest("demo", "", (), talk.messages)
        *_, done = [event async for event in model.stream(request)]
        assert isinstance(done, ModelDone)
        talk.messages = (*talk.messages, done.message)
        calls = tool_uses(done.message)
        if not calls:
            talk.answer = "".join(b.text for b in done.message.content if isinstance(b, Text))
            return
        results = [await run(client, call, f"cell{len(talk.ran)}") for call in calls]
        talk.ran.extend(results)
        talk.messages = (*talk.messages, user(*(as_block(ran) for ran in results)))


async def run(client: AsyncKernelClient, call: ToolUse, new_cell: str) -> Ran:
    cell_id = call.input["cell_id"] if call.name == "edit_cell" else new_cell
    status, outputs = await execute(client, call.input["source"])
    return Ran(call, status, cell_id, outputs)


def as_block(ran: Ran) -> ToolResult:
    seen = see(ran.outputs, images_left=3)
    text = result_text(status=ran.status, cell_id=ran.cell_id, elapsed=0.1, body=seen.text)
    return ToolResult(ran.call.id, (Text(text), *seen.images), ran.status == "error")


def converse(folder: Path, times: int = 1) -> Conversation:
    async def go() -> Conversation:
        talk = Conversation()
        async with kernel_in(folder) as client:
            for _ in range(times):
                await ask(client, talk)
        return talk

    return asyncio.run(go())


# --- the same figures, by other means ----------------------------------------------------


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def year(text: str) -> int:
    for form in ("%Y-%m-%d", "%d/%m/%Y", "%B %d, %Y"):
        with contextlib.suppress(ValueError):
            return datetime.strptime(text, form).year
    raise AssertionError(f"not a date of the demo: {text}")


def revenue_by_region(path: Path) -> dict[str, dict[int, float]]:
    sums: dict[str, dict[int, float]] = defaultdict(lambda: {2024: 0.0, 2025: 0.0})
    for row in rows(path):
        if row["revenue"] not in ("", "n/a"):
            amount = float(row["revenue"].replace(",", ""))
            sums[row["region"].strip().title()][year(row["date"])] += amount
    return sums


# --- tests -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_demo(tmp_path_factory.mktemp("demo")).parent


@pytest.fixture(scope="module")
def talk(folder: Path) -> Conversation:
    """The demo, played twice in one conversation and one kernel."""
    return converse(folder, times=2)


def test_explores_fails_mends_and_draws(talk: Conversation) -> None:
    once = [
        ("Look at the data", "run_cell", "ok"),
        ("Parse dates and amounts", "run_cell", "error"),
        ("Parse dates and amounts", "edit_cell", "ok"),
        ("Parse dates and amounts", "edit_cell", "ok"),
        ("Growth by region", "run_cell", "ok"),
        ("Chart the growth", "run_cell", "ok"),
    ]
    seen = [(ran.call.input["title"], ran.call.name, ran.status) for ran in talk.ran]
    assert seen == once * 2


def test_fails_on_the_data_itself_and_is_mended_in_place(talk: Conversation) -> None:
    failed, mended, counted = talk.ran[1:4]
    error = failed.outputs[-1]
    assert error["ename"] == "ValueError"
    assert 'doesn\'t match format "%Y-%m-%d"' in error["evalue"]
    assert mended.cell_id == counted.cell_id == failed.cell_id
    assert "Rows without revenue by region: {}" in mended.text
    assert "rows have no revenue" in counted.text
    assert "0 dates could not be read" in mended.text
    assert "Regions: East, North, South, West" in mended.text


def test_says_nothing_on_stderr(talk: Conversation) -> None:
    assert [
        output for ran in talk.ran for output in ran.outputs if output.get("name") == "stderr"
    ] == []


def test_the_answer_has_the_true_figures(folder: Path, talk: Conversation) -> None:
    sums = revenue_by_region(folder / "sales.csv")
    rates = {region: by_year[2025] / by_year[2024] - 1 for region, by_year in sums.items()}
    first, second, *_ = sorted(rates, key=lambda region: rates[region], reverse=True)
    missing = sum(row["revenue"] in ("", "n/a") for row in rows(folder / "sales.csv"))
    answer = re.sub(r"\[([^]]*)\]\(#cell:[^)]*\)", r"\1", talk.answer)
    words = (
        f"**{first}** grew fastest: revenue rose from {sums[first][2024]:,.0f} in 2024 "
        f"to {sums[first][2025]:,.0f} in 2025, **{rates[first]:+.1%}**"
    )
    assert words in answer
    assert f"{second} comes next with {rates[second]:+.1%}" in answer
    assert f"{missing} rows have no revenue" in answer


def test_the_answer_links_the_live_cells_of_its_own_turn(talk: Conversation) -> None:
    for place in (9, 10, 11):
        assert re.search(rf"\]\(#cell:{talk.ran[place].cell_id}[ )]", talk.answer)
    assert talk.ran[9].cell_id == "cell7"


def test_days_are_read_before_months(folder: Path) -> None:
    """Dates of the file are in order: read wrongly, they would not be."""

    async def in_order() -> str:
        talk = Conversation()
        async with kernel_in(folder) as client:
            await ask(client, talk)
            _, outputs = await execute(client, "print(clean['date'].is_monotonic_increasing)")
        return str(outputs[0]["text"])

    assert asyncio.run(in_order()) == "True\n"


def test_the_chart_is_a_picture_for_light_and_dark(talk: Conversation, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    (output,) = talk.ran[5].outputs
    assert "needs_background" not in output["metadata"].get("image/png", {})
    picture = base64.b64decode(output["data"]["image/png"])
    assert picture.startswith(PNG)
    (tmp_path / "chart.png").write_bytes(picture)
    with image.open(tmp_path / "chart.png") as chart:
        pixels = chart.convert("RGBA")
    assert pixels.getpixel((0, 0))[3] == 0
    opaque = [pixel for _, pixel in pixels.getcolors(1 << 20) if pixel[3] == 255]
    brightness = [sum(pixel[:3]) // 3 for pixel in opaque]
    assert opaque
    assert all(value in MIDDLE_GREY for value in brightness), "seen on white and on black"


def test_other_data_is_answered_with_its_own_figures(tmp_path: Path) -> None:
    folder = copy_demo(tmp_path).parent
    table = folder / "sales.csv"
    with table.open("a") as file:
        file.write("2025-12-31,East,Grinder,600,48000.00\n")
    talk = converse(folder)
    assert [ran.status for ran in talk.ran] == ["ok", "error", "ok", "ok", "ok", "ok"]
    east = revenue_by_region(table)["East"]
    assert "**East** grew fastest" in talk.answer
    assert f"rose from [{east[2024]:,.0f}](#cell:{talk.ran[4].cell_id}" in talk.answer
    assert f"to [{east[2025]:,.0f}](#cell:{talk.ran[4].cell_id}" in talk.answer


def test_the_package_carries_the_demo() -> None:
    folder = importlib.resources.files("jupyter_codeinterp.demo")
    for name in (*FILES, "growth.jsonl"):
        assert folder.joinpath(name).is_file()
        assert folder.joinpath(name).read_bytes() == read(name)


def test_the_notebook_is_a_fresh_start() -> None:
    notebook = nbformat.reads(read("sales.ipynb").decode(), as_version=nbformat.NO_CONVERT)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    title, code = notebook.cells
    assert title.source.startswith("# ")
    assert 'df = pd.read_csv("sales.csv")' in code.source
    assert (code.execution_count, code.outputs) == (None, [])


def test_the_data_is_dirty_like_data(folder: Path) -> None:
    table = rows(folder / "sales.csv")
    assert 300 <= len(table) <= 600
    assert any("/" in row["date"] for row in table)
    assert any("," in row["date"] for row in table)
    assert any("," in row["revenue"] for row in table)
    assert any(row["revenue"] == "" for row in table)
    assert len({row["region"] for row in table}) > 4
    assert {year(row["date"]) for row in table} == {2024, 2025}


def test_a_copy_never_overwrites_another(tmp_path: Path) -> None:
    first = copy_demo(tmp_path)
    first.write_text("the person's own work")
    second = copy_demo(tmp_path)
    assert first == tmp_path / "codeinterp-demo" / "sales.ipynb"
    assert second == tmp_path / "codeinterp-demo-2" / "sales.ipynb"
    assert first.read_text() == "the person's own work"
    assert sorted(path.name for path in second.parent.iterdir()) == sorted(FILES)
