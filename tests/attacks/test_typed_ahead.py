"""Whoever types ahead while the model thinks has decided on nothing: ``%%ai`` in a terminal."""

from __future__ import annotations

from pathlib import Path

from tests.fake_anthropic import FakeAnthropic, answer, call, run_cell, text
from tests.magic.terminals import CHOICES, PROMPT, Terminal, terminal

SLOW = {"first": 1.5}


async def _nothing_ran(there: Terminal) -> None:
    there.child.sendline("d")
    await there.until(PROMPT)
    shown = await there.run("print('x' in globals())")
    assert "False" in shown


async def test_keys_typed_before_code_is_shown_run_it(api: FakeAnthropic, tmp_path: Path) -> None:
    async with terminal(api, tmp_path) as there:
        for typed in ("r\n", "y\nr\nrun\n", "\n\nr\n", "r"):
            api.play([answer(run_cell("x = 1")).at(**SLOW), answer(text("As you like."))])
            await there.ask("%%ai", "make x")
            there.child.send(typed)
            await there.until(CHOICES)
            await _nothing_ran(there)


async def test_keys_typed_before_a_question_is_shown_answer_it(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    asked = call("ask_user", {"question": "Delete it?", "options": ["Yes", "No"]})
    api.play([answer(asked).at(**SLOW), answer(text("Fine."))])
    async with terminal(api, tmp_path) as there:
        await there.ask("%%ai", "choose")
        there.child.send("1\n")
        await there.until("Your answer: ")
        there.child.sendline("2")
        await there.until(PROMPT)
    told = str(api.requests[1].body["messages"][-1])
    assert "No" in told and "Yes" not in told


async def test_keys_pasted_with_the_prompt_end_the_editing_of_code(
    api: FakeAnthropic, tmp_path: Path
) -> None:
    """Esc and Enter, twice in one piece: once for the prompt, once more."""
    api.play([answer(run_cell("x = 1")), answer(text("As you like."))])
    async with terminal(api, tmp_path, simple=False, PROMPT_TOOLKIT_NO_CPR="1") as there:
        there.child.send("%%ai make x")
        await there.until(r"In \[2\]:[^\r\n]*make x")
        there.child.send("\x1b\r\x1b\r")
        await there.until(CHOICES)
        there.child.sendline("e")
        await there.until("x = 1")
        there.interrupt()
        assert "Stopped." in await there.until(PROMPT)
        there.child.send("'made' if 'x' in globals() else 'n' + 'one'\r")
        assert "made'\r\n" not in await there.until("'none'")
