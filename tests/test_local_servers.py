"""What servers of one's own send otherwise than the services do: thinking and calls as text, and
lists of models in other shapes."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_codeinterp.base.errors import ModelError
from jupyter_codeinterp.wire.ports import ModelText, ModelThinking
from tests.anthropic_talk import joined
from tests.attacks.servers import listing, stranger
from tests.fake_anthropic import answer, on_loop, text
from tests.wires import KEY, Wire, every
from tests.wires import environment as environment  # a fixture

THOUGHTS = {
    "<think>So.</think>Yes.": ("So.", "Yes."),
    "\n<think>\nSo.\n</think>\n\nYes.": ("\nSo.\n", "Yes."),
    "[THINK]So.[/THINK]Yes.": ("So.", "Yes."),
    "<think>a < b </ c</think>Yes.": ("a < b </ c", "Yes."),
    "<think></think>Yes.": ("", "Yes."),
    "<think>So on": ("So on", ""),
    "Yes.": ("", "Yes."),
    "<thing>Yes.": ("", "<thing>Yes."),
    "<thi": ("", "<thi"),
    "The tag <think> begins it.": ("", "The tag <think> begins it."),
    "<think>So.</think>Not <think>this</think>.": ("So.", "Not <think>this</think>."),
}


@every(("messages", "chat"))
@pytest.mark.parametrize("size", [1, 5, 1_000])
@pytest.mark.parametrize("said", THOUGHTS)
def test_thinking_between_tags_is_no_answer(wire: Wire, said: str, size: int) -> None:
    @on_loop
    async def run() -> None:
        turn = answer(text(said))
        shown = await wire.ask(turn.at(chunk=size))
        assert (joined(shown, ModelThinking), joined(shown, ModelText)) == THOUGHTS[said]

    run()


CALL = '{"name": "run_cell", "arguments": {"source": "x = 1"}}'
CALLS = {
    f"<tool_call>\n{CALL}\n</tool_call>": True,
    f"I run it.\n\n<tool_call>\n{CALL}\n</tool_call>": True,
    f"<think>So.</think>\n<tool_call>{CALL}": True,
    "<tool_call>\n<function=run_cell>\n<parameter=source>x = 1</parameter>": True,
    "<function=run_cell>{}</function>": True,
    f"[TOOL_CALLS][{CALL}]": True,
    "[TOOL_CALLS]run_cell[ARGS]{}": True,
    f"<|python_tag|>{CALL}": True,
    CALL.replace("arguments", "parameters"): True,
    f"Such a model writes:\n\n```\n<tool_call>\n{CALL}\n</tool_call>\n```\n": False,
    "It writes `<tool_call>` before run_cell.": False,
    "<tool_call>\nis how it begins.": False,
    '{"name": "someone", "arguments": []}': False,
    '{"name": "run_cell"}': False,
    "{" * 5_000: False,
}


@every(("messages", "chat"))
@pytest.mark.parametrize("said", CALLS)
def test_a_tool_call_as_text_is_no_answer(wire: Wire, said: str) -> None:
    @on_loop
    async def run() -> None:
        if not CALLS[said]:
            assert joined(await wire.ask(answer(text(said))), ModelText) == said
            return
        async with wire.talking(answer(text(said))) as (model, api):
            with pytest.raises(ModelError) as caught:
                async for _ in model.stream(wire.asking()):
                    pass
            assert len(api.requests) == 1, "another try would bring the same"
        assert caught.value.code == "bad_request"
        for words in ("tool call as text", "--jinja", "--enable-auto-tool-choice"):
            assert words in caught.value.message

    run()


LISTS: list[tuple[Any, dict[str, str]]] = [
    ({"data": [{"id": "a"}]}, {"a": "a"}),
    ([{"id": "a"}, {"id": "b"}], {"a": "a", "b": "b"}),
    (["a", "b"], {"a": "a", "b": "b"}),
    ({"data": ["a"]}, {"a": "a"}),
    ({"models": [{"id": "a"}]}, {"a": "a"}),
    ({"models": ["a"]}, {"a": "a"}),
    ({"models": [{"name": "Llama", "model": "llama3:8b"}]}, {"llama3:8b": "llama3:8b"}),
    ({"models": [{"name": "llama3:8b"}]}, {"llama3:8b": "llama3:8b"}),
    ({"models": [{"name": "x"}], "data": [{"id": "a"}]}, {"a": "a"}),
    ({"models": []}, {}),
    (
        {"data": [{"id": "/srv/models/qwen3-8b.gguf"}]},
        {"/srv/models/qwen3-8b.gguf": "qwen3-8b.gguf"},
    ),
    ({"data": [{"id": r"C:\models\qwen.gguf"}]}, {r"C:\models\qwen.gguf": "qwen.gguf"}),
    ({"data": [{"id": "meta-llama/Llama-3"}]}, {"meta-llama/Llama-3": "meta-llama/Llama-3"}),
    ({"data": [{"id": "/a/b", "display_name": "Bee"}]}, {"/a/b": "Bee"}),
]


@every(("messages", "chat"))
@pytest.mark.parametrize(("body", "names"), LISTS, ids=lambda value: str(value)[:50])
def test_lists_of_models_have_many_shapes(wire: Wire, body: Any, names: dict[str, str]) -> None:
    @on_loop
    async def run() -> None:
        async with stranger(listing(body)) as there:
            model = wire.connect(lambda: (KEY, there.url), attempts=1)
            listed = await model.list_models()
            await model.aclose()
        assert {info.id: info.name for info in listed} == names

    run()
