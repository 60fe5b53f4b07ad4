"""The person: runs cells in the notebook's kernel, and tells the agent how to continue."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial
from typing import Any

from jupyter_client.asynchronous.client import AsyncKernelClient
from nbformat.v4 import output_from_msg

from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.events import TextDone
from jupyter_codeinterp.wire.ops import Notebook

from .page import PATIENCE, Page
from .story import ASK, FINAL, GO_ON, TYPED

MOST = 4
"""How often the person asks to continue before they give up."""


async def begin(page: Page) -> None:
    """Run and save the person's own cell; then ask."""
    await run_cells(page, lambda cell: True)
    await page.saved()
    await ask(page, ASK)


async def ask(page: Page, words: str) -> None:
    """Send the question. The reply may be missing, because the fault may come first."""
    await page.post(c.SendMessage(words, page.path, page.session_id, mode=page.mode))


async def type_something(page: Page) -> None:
    def change(book: Notebook) -> None:
        book["cells"][0]["source"] = TYPED

    await page.edit(change)


async def run_cells(page: Page, which: Callable[[dict[str, Any]], bool]) -> None:
    """Run cells from the top in the page's kernel, and put their outputs into the page."""
    client = AsyncKernelClient()
    client.load_connection_file(str(page.site.connection_file(page.kernel_id)))
    client.start_channels(hb=False)
    try:
        await client.wait_for_ready(timeout=PATIENCE)
        for cell in page.cells:
            if cell["cell_type"] == "code" and which(cell):
                outputs, count = await _run(client, cell["source"])
                await page.edit(partial(_show, cell_id=cell["id"], outputs=outputs, count=count))
    finally:
        client.stop_channels()


async def _run(client: AsyncKernelClient, source: str) -> tuple[list[Any], int]:
    outputs: list[Any] = []

    def take(message: Any) -> None:
        if message["msg_type"] in ("stream", "display_data", "execute_result", "error"):
            output = json.loads(json.dumps(output_from_msg(message)))
            stream = output["output_type"] == "stream"
            if stream and outputs and outputs[-1].get("name") == output["name"]:
                outputs[-1]["text"] += output["text"]
            else:
                outputs.append(output)

    reply = await client.execute_interactive(
        source, timeout=PATIENCE, output_hook=take, stop_on_error=False
    )
    return outputs, int(reply["content"]["execution_count"])


def _show(book: Notebook, cell_id: str, outputs: list[Any], count: int) -> None:
    for cell in book["cells"]:
        if cell["id"] == cell_id:
            cell["outputs"], cell["execution_count"] = copy.deepcopy(outputs), count


async def see_it_through(page: Page) -> None:
    """Continue until the final answer, or until the person gives up."""
    for _ in range(MOST):
        await page.until(lambda: page.ended)
        if answered(page):
            return
        await go_on(page)
    await page.until(lambda: page.ended)


async def begin_to_go_on(page: Page) -> None:
    """As ``go_on``, without waiting for the reply."""
    if page.ended is not None and page.ended.retry:
        await page.post(c.Retry(page.session_id))
    else:
        await ask(page, GO_ON)


async def go_on(page: Page) -> None:
    """After a turn without an answer: press "Continue" if it is offered, else ask in words."""
    ended = page.ended
    assert ended is not None
    if ended.retry:
        reply = await page.send(c.Retry(page.session_id))
        if reply.error is not None:
            page.wrong.append(f"Continue was refused: {reply.message}")
            return
    else:
        await ask(page, GO_ON)
    await page.until(lambda: page.turns > ended.turn)


def answered(page: Page) -> bool:
    ended = page.ended
    texts = [event.text for event in page.told.values() if isinstance(event, TextDone)]
    good = ended is not None and ended.stop_reason == "end_turn"
    return good and bool(texts) and texts[-1].startswith(FINAL)
