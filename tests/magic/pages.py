"""A kernel and a front end that answers its prompts."""

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

from tests.fake_anthropic import FakeAnthropic
from tests.magic.notebooks import LOAD, environment

PATIENCE = 100.0
Message = dict[str, Any]


class Page:
    """Sees all messages, and answers a prompt only when told to."""

    def __init__(self, client: BlockingKernelClient, interrupt: Callable[[], None]) -> None:
        self.client = client
        self.interrupt = interrupt
        self.seen: list[Message] = []

    def run(self, code: str, *answers: str) -> str:
        """The request's id, when the kernel is idle again. ``answers``: to its prompts."""
        msg_id = self.begin(code)
        for answer in answers:
            self.asked()
            self.client.input(answer)
        self.ended(msg_id)
        return msg_id

    def begin(self, code: str) -> str:
        return str(self.client.execute(code, allow_stdin=True))

    def asked(self) -> str:
        """The next prompt."""
        try:
            message: Message = self.client.get_stdin_msg(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError("the kernel asks nothing") from None
        return str(message["content"]["prompt"])

    def until(self, msg_id: str, words: str) -> None:
        while words not in self.below(msg_id):
            self._next()

    def kinds(self, msg_id: str) -> set[str]:
        """Of the messages in that cell."""
        return {
            one["msg_type"] for one in self.seen if one["parent_header"].get("msg_id") == msg_id
        }

    def below(self, msg_id: str) -> str:
        """The outputs of the cell with that request."""
        return "\n".join(
            _text(message)
            for message in self.seen
            if message["parent_header"].get("msg_id") == msg_id
        )

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
