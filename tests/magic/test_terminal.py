"""``%%ai`` in a terminal IPython: text as it comes, the prompt before code runs, Ctrl-C."""

from __future__ import annotations

from pathlib import Path

from pexpect import EOF

from tests.fake_anthropic import FakeAnthropic, answer, call, run_cell, text
from tests.magic.terminals import CHOICES, PROMPT, SHORT_CHOICES, Terminal, terminal


async def test_a_person_decides(api: FakeAnthropic, tmp_path: Path) -> None:
    hostile = "\x1b[2J\x1b]0;owned\x07gone\u202e"
    api.play(
        [
            answer(text("Look:"), run_cell("x = 6 * 7\nx")),
            answer(text("It is **42**.")),
            answer(run_cell("x = 1")),
            answer(text("As you like.")),
            answer(run_cell("z = 1")),
            answer(text("Done.")),
            answer(call("ask_user", {"question": "Which one?", "options": ["red", "blue"]})),
            answer(text("Fine.")),
            answer(text(f"Look {hostile}"), run_cell(f"x = '{hostile}'")),
            answer(text(f"Done {hostile}")),
            answer(text("Hello.")),
        ]
    )
    async with terminal(api, tmp_path) as there:
        await there.ask("%%ai", "what is six times seven?")
        assert "Look:\n  │ x = 6 * 7\n  │ x\n" in await there.until(CHOICES)
        there.child.sendline("r")
        shown = await there.until(PROMPT)
        assert "Out[2]: 42" in shown and "It is **42**." in shown
        assert "43" in await there.run("x + 1")

        await there.ask("%%ai", "make x")
        await there.until(CHOICES)
        there.child.sendline("what?")
        assert "Answer with one letter" in await there.until(CHOICES)
        there.child.sendline("n use a name of mine")
        assert "As you like." in await there.until(PROMPT)
        assert "They say: use a name of mine" in str(api.requests[3].body)
        await there.ask("%%ai", "make z")
        await there.until(CHOICES)
        there.child.sendline("e")
        await there.until("z = 1")
        there.child.send("000\x1b\r")
        assert "z = 1000" in await there.until(PROMPT)
        assert "1000" in await there.run("z")
        assert "The person edited the code before it ran" in str(api.requests[5].body)

        await there.ask("%%ai", "choose")
        assert "Which one?\n  1. red\n  2. blue\n" in await there.until("Your answer: ")
        there.child.sendline("2")
        assert "Fine." in await there.until(PROMPT)
        assert "blue" in str(api.requests[7].body["messages"][-1])

        await there.ask("%%ai", "be hostile")
        shown = await there.until(CHOICES)
        assert "Hidden character" in shown
        there.child.sendline("d")
        shown += await there.until(PROMPT)
        assert "\x1b[2J" not in shown and "\x1b]0" not in shown and "\u202e" not in shown
        assert shown.count(r"\x1b[2J\x1b]0;owned\x07gone\u202e") == 3

        assert "Hello." in await there.run("%%ai --plan hello", "", "")
        there.child.sendline("exit")
        shown = await there.until(EOF)
        assert shown.startswith("exit\n") and "Error" not in shown and "Task" not in shown


SLEEPS = "made = 1\nimport time\nprint('be' + 'gun', flush=True)\ntime.sleep(600)"
SWALLOWS = (
    "import time\ntry:\n    print('be' + 'gun', flush=True)\n    time.sleep(600)\n"
    "except KeyboardInterrupt:\n    print('never' + ' mind')"
)


async def test_an_interrupt_stops_it(api: FakeAnthropic, tmp_path: Path) -> None:
    """In the stream, in code, in code that swallows it, and at the question."""
    api.play(
        [
            answer(text("One two three four five")).cut_by("stall", 1),
            answer(text("Back.")),
            answer(run_cell(SLEEPS)),
            answer(text("Back.")),
            answer(run_cell(SWALLOWS)),
            answer(run_cell("x = 1")),
            answer(text("Not asked for.")),
        ]
    )

    async def stopped(there: Terminal) -> str:
        there.interrupt()
        shown = await there.until(PROMPT)
        assert shown.endswith("Stopped.\n\n") and "Traceback" not in shown
        return shown

    async def goes_on(there: Terminal, prompt: str) -> None:
        await there.ask("%%ai", prompt)
        assert "Back." in await there.until(PROMPT)

    async with terminal(api, tmp_path) as there:
        await there.run("kept = 1")
        await there.ask("%%ai", "count")
        await there.until("One two")
        await stopped(there)
        assert "1" in await there.run("kept")
        await goes_on(there, "again")

        await there.ask("%%ai -y", "sleep")
        await there.until("begun")
        await stopped(there)
        assert "1" in await there.run("made")
        await goes_on(there, "once more")
        assert "KeyboardInterrupt" in str(api.requests[3].body)

        await there.ask("%%ai -y", "swallow")
        await there.until("begun")
        assert "never mind" in await stopped(there)
        assert len(api.requests) == 5

        await there.ask("%%ai", "make x")
        await there.until(CHOICES)
        await stopped(there)
        assert "NameError" in await there.run("x")
    assert len(api.requests) == 6


async def test_cells_as_they_are_offer_nothing_to_edit(api: FakeAnthropic, tmp_path: Path) -> None:
    api.play([answer(call("run_cells", {"cell_ids": ["in-2"]})), answer(text("Done."))])
    async with terminal(api, tmp_path) as there:
        await there.run("print('a' + 'b')")
        await there.ask("%%ai", "run it again")
        assert "Cell 1" in await there.until(SHORT_CHOICES)
        there.child.sendline("e")
        assert "Answer with one letter" in await there.until(SHORT_CHOICES)
        there.child.sendline("y")
        assert "ab" in await there.until(PROMPT)
