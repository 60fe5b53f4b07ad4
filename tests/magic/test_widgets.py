"""The buttons of ``%%ai`` in a kernel, pressed as a front end does: by the widgets' messages."""

from __future__ import annotations

import asyncio
import queue
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context
from typing import Any

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel
from jupyter_core.utils import ensure_event_loop

from tests.fake_anthropic import FakeAnthropic, answer, edit_cell, run_cell, text
from tests.magic.notebooks import LOAD, environment

PATIENCE = 100.0
Message = dict[str, Any]


class Page:
    """A front end with widgets: sees all messages, answers none."""

    def __init__(self, client: BlockingKernelClient, interrupt: Callable[[], None]) -> None:
        self.client = client
        self.interrupt = interrupt
        self.seen: list[Message] = []

    def run(self, code: str) -> str:
        """The request's id, when the kernel is idle again."""
        msg_id = self.begin(code)
        self.ended(msg_id)
        return msg_id

    def begin(self, code: str) -> str:
        return str(self.client.execute(code, allow_stdin=True))

    def press(self, label: str) -> None:
        """The newest button of that name."""
        self.ended(self.press_on(label))

    def press_on(self, label: str) -> str:
        """The same, without waiting for what comes of it."""
        return self._send(self._button(label), {"method": "custom", "content": {"event": "click"}})

    def until(self, msg_id: str, words: str) -> None:
        while words not in self.below(msg_id):
            self._next()

    def kinds(self, msg_id: str) -> set[str]:
        """Of the messages in that cell."""
        return {
            one["msg_type"] for one in self.seen if one["parent_header"].get("msg_id") == msg_id
        }

    def fill(self, text_: str) -> None:
        opened = self._opened(lambda state: state.get("_model_name") == "TextareaModel")
        state = {"method": "update", "state": {"value": text_}, "buffer_paths": []}
        self.ended(self._send(opened, state))

    def below(self, msg_id: str) -> str:
        """What stands in the cell with that request."""
        return "\n".join(
            _text(message)
            for message in self.seen
            if message["parent_header"].get("msg_id") == msg_id
        )

    @property
    def closed(self) -> int:
        return sum(message["msg_type"] == "comm_close" for message in self.seen)

    def _button(self, label: str) -> str:
        return self._opened(lambda state: state.get("description") == label)

    def _opened(self, fits: Callable[[dict[str, Any]], bool]) -> str:
        for message in reversed(self.seen):
            content = message["content"]
            if message["msg_type"] == "comm_open" and fits(content["data"]["state"]):
                return str(content["comm_id"])
        raise AssertionError("there is no such widget")

    def _send(self, comm_id: str, data: Message) -> str:
        message = self.client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
        self.client.shell_channel.send(message)
        return str(message["header"]["msg_id"])

    def ended(self, msg_id: str) -> None:
        while True:
            message = self._next()
            ours = message["parent_header"].get("msg_id") == msg_id
            if ours and message["content"].get("execution_state") == "idle":
                return

    def _next(self) -> Message:
        try:
            message: Message = self.client.get_iopub_msg(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError("the kernel says nothing any more") from None
        self.seen.append(message)
        return message


def _text(message: Message) -> str:
    content = message["content"]
    if message["msg_type"] == "stream":
        return str(content["text"])
    if message["msg_type"] == "error":
        return str(content["evalue"])
    return str(content.get("data", {}).get("text/plain", ""))


def buttons(page: Page) -> int:
    """Rows of buttons that have been shown."""
    return sum(
        "application/vnd.jupyter.widget-view+json" in message["content"].get("data", {})
        for message in page.seen
        if message["msg_type"] == "display_data"
    )


@contextmanager
def page(api: FakeAnthropic) -> Iterator[Page]:
    manager, client = start_new_kernel(
        env=environment(api), stdout=subprocess.DEVNULL, startup_timeout=PATIENCE
    )
    try:
        opened = Page(client, manager.interrupt_kernel)
        opened.run(LOAD)
        yield opened
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


def with_page(work: Callable[[Page], None]) -> Callable[[FakeAnthropic], Any]:
    """A test of a front end, beside the loop that the fake model is on."""

    def done(api: FakeAnthropic) -> None:
        loop = ensure_event_loop()  # the client's own, which nobody else closes
        try:
            with page(api) as opened:
                work(opened)
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    # Not ``to_thread``: the client would find this loop in the context, and run it.
    def start(api: FakeAnthropic) -> Any:
        alone = Context()
        return asyncio.get_running_loop().run_in_executor(None, alone.run, done, api)

    return start


async def test_a_click_runs_and_goes_on_until_it_works(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(text("I add."), run_cell("total = sum(valuess)")),
            lambda request: answer(edit_cell(request.last_cell, "total = sum(values)\ntotal")),
            answer(text("It is six.")),
        ]
    )

    def work(page: Page) -> None:
        page.run("values = [1, 2, 3]")
        asked = page.run("%%ai\nadd")
        assert "I add." in page.below(asked) and buttons(page) == 1
        page.press("Run")
        assert "name 'valuess' is not defined" in page.below(asked) and buttons(page) == 2
        page.press("Run")
        shown = page.below(asked)
        assert "\n6\n" in shown and "It is six." in shown and buttons(page) == 2
        assert "6" in page.below(page.run("total"))

    await with_page(work)(api)


async def test_edit_discard_and_stop(api: FakeAnthropic) -> None:
    api.play(
        [
            answer(run_cell("x = 1")),
            answer(text("One.")),
            answer(run_cell("x = 2")),
            answer(text("As you like.")),
            answer(run_cell("x = 3")),
            answer(text("Not asked for.")),
        ]
    )

    def work(page: Page) -> None:
        page.run("%%ai\nx")
        page.press("Edit")
        page.fill("x = 1000")
        page.press("Run")
        assert "1000" in page.below(page.run("x"))
        asked = page.run("%%ai\nx")
        page.press("Discard")
        assert "As you like." in page.below(asked)
        asked = page.run("%%ai\nx")
        page.press("Stop")
        assert page.below(asked).rstrip().endswith("Stopped.")
        assert "1000" in page.below(page.run("x"))

    await with_page(work)(api)
    assert "The person edited the code before it ran" in str(api.requests[1].body)
    assert len(api.requests) == 5


async def test_a_second_prompt_is_told_of_the_one_that_waits(api: FakeAnthropic) -> None:
    api.play([answer(run_cell("x = 1")), answer(text("Again.")), answer(run_cell("x = 2"))])

    def work(page: Page) -> None:
        first = page.run("%%ai\nx")
        second = page.below(page.run("%%ai\ny")).strip()
        assert (
            second == "The prompt of [2] is still waiting for your decision. Decide there, or "
            "stop it with %ai stop."
        )
        assert "Stopped." in page.below(page.run("%ai stop"))
        page.press("Run")
        assert "This was already stopped or decided." in page.below(first)
        assert "NameError" not in page.below(page.run("'x' in globals()"))
        assert "Again." in page.below(page.run("%%ai\ny"))

    await with_page(work)(api)


async def test_one_decision_is_good_once_and_a_warning_stands_above_it(api: FakeAnthropic) -> None:
    shell = run_cell("import os\nos.system('true')")
    counts = run_cell("n = globals().get('n', 0) + 1")
    api.play([answer(counts), answer(text("Done.")), answer(shell)])

    def work(page: Page) -> None:
        page.run("%%ai\nn")
        for _ in range(3):
            page.press("Run")
        assert page.below(page.run("n")).strip() == "1"
        shown = page.below(page.run("%%ai\ndo it"))
        assert "! Line 2 runs a shell command (os.system)." in shown

    await with_page(work)(api)
