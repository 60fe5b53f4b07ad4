"""Each wire against a real model server: real tokens through SDK, provider, session and socket."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from urllib.request import urlopen

import pytest

from jupyter_codeinterp.models.anthropic.services import ANTHROPIC
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire.messages import Text, user
from jupyter_codeinterp.wire.ports import ModelDone, ModelRead, ModelRequest, ModelText
from tests.anthropic_talk import TOOLS, connected, joined
from tests.cli import make_cli
from tests.fake_anthropic import on_loop
from tests.real_model import real_model
from tests.site import Site
from tests.wires import OF, PLOT

MOST = 16
WIRES = {"messages": ANTHROPIC, "responses": OF["openai"], "chat": OF["openai-compatible"]}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with real_model() as url:
        yield url


@pytest.mark.parametrize("wire", WIRES)
def test_a_real_server_speaks_the_wire(wire: str, server: str) -> None:
    """A conversation of two questions, the second with an image, which this model cannot see;
    and one that is stopped."""

    @on_loop
    async def run() -> None:
        model = connected(WIRES[wire], None, server, max_tokens=MOST)
        (info,) = await model.list_models()
        messages = [user(Text("Count to fifty, please."))]
        for more in (user(Text("And what is this?"), PLOT), None):
            request = ModelRequest(info.id, "Be brief.", TOOLS, tuple(messages))
            shown = [event async for event in model.stream(request)]
            end = shown[-1]
            assert isinstance(end, ModelDone)
            assert sum(isinstance(event, ModelText) for event in shown) > 2, "piece by piece"
            assert end.message.content[0] == Text(joined(shown, ModelText))
            # Of its Responses API this server says "completed" when the length is reached.
            assert end.stop_reason in ("end_turn", "max_tokens")
            assert 0 < end.usage.output_tokens <= MOST < end.usage.total_input + MOST
            messages += [end.message, *([more] if more else [])]
        async with aclosing(model.stream(request)) as events:
            await anext(events)
        async with aclosing(model.stream(request)) as events:
            first = await anext(events)
            # What it has read may come before.
            first = await anext(events) if isinstance(first, ModelRead) else first
            assert isinstance(first, ModelText), "it is free again"
        await model.aclose()

    run()


@pytest.fixture
def environment(server: str) -> dict[str, str]:
    return {"ANTHROPIC_BASE_URL": server}


async def test_a_turn_with_a_real_model(site: Site) -> None:
    """Through the whole server, by the name that the list of models has for it, to a window."""
    (model,) = (
        info.id for info in (await site.extension.workbench.models.available())[0] if "/" in info.id
    )
    w = await site.window(kernel_id=await site.kernel_of("a.ipynb"))
    w.patience = 100.0  # it reads some thousand tokens first, which a busy machine does slowly
    await w.ask("Hello!", model=model)
    assert (await w.event(e.TextDelta)).text
    await w.send(c.Cancel(w.session_id))
    assert (await w.ended()).stop_reason in ("cancelled", "end_turn")


def test_a_real_model_is_measured(server: str, tmp_path: Path) -> None:
    with urlopen(f"{server}/v1/models") as answer:
        name = json.load(answer)["data"][0]["id"]
    cli = make_cli(tmp_path, server)
    cli.configure(max_tokens=256)
    task = {"about": "hello", "questions": ["Say hello."], "no_code": True}
    (cli.folder / "task.json").write_text(json.dumps(task))
    ran = cli.run("eval", ".", "-m", f"anthropic/{name}", "--output", "out")
    (attempt,) = json.loads((cli.folder / "out" / "results.json").read_text())["attempts"]
    assert attempt["requests"] and attempt["input_tokens"] > 500, ran.err
    assert attempt["output_tokens"] > 2 and attempt["answers"][0].strip()
