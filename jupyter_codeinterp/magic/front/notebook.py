"""The outputs of the cell that has asked, wherever the front end shows them.

What grows is one display that is updated. After a click, outputs still belong to that cell:
they are sent as an answer to its request, so they stand there and are saved with it.
"""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from ..asking.typed import request
from .harmless import bundle, code_bundle, visible


class NotebookScreen:
    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cell = request(shell)
        self._displays: dict[str, str] = {}

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """Within, outputs go to the cell that has asked."""
        before = self._shell.parent_header
        self._shell.set_parent(self._cell)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            self._shell.set_parent(before)

    def on_main_thread(self, work: Callable[[], None]) -> None:
        """A click may come on another thread: JupyterLab sends them to a subshell. Code of the
        person's runs where it always runs, when the cell that runs there has ended."""
        if threading.current_thread() is threading.main_thread():
            work()
        else:
            self._shell.kernel.io_loop.add_callback(self._busily, work)

    def _busily(self, work: Callable[[], None]) -> None:
        kernel = self._shell.kernel
        kernel._publish_status("busy", "shell", parent=self._cell)
        try:
            work()
        finally:
            kernel._publish_status("idle", "shell", parent=self._cell)

    def show(self, key: str, data: dict[str, Any]) -> None:
        """Under the same key, the display before is updated."""
        update = key in self._displays
        display_id = self._displays.setdefault(key, uuid.uuid4().hex)
        with self.around():
            self._shell.display_pub.publish(
                data, {}, transient={"display_id": display_id}, update=update
            )

    def text(self, key: str, text: str, plain: bool = False) -> None:
        self.show(key, {"text/plain": visible(text)} if plain else bundle(text))

    def drop(self, key: str) -> None:
        if key in self._displays:
            self.show(key, {"text/plain": ""})

    def code(self, key: str, source: str, title: str) -> None:
        self.show(key, code_bundle(source))

    def value(self, key: str, value: Any) -> None:
        text = json.dumps(value, indent=2, ensure_ascii=False)
        self.show(key, {"text/plain": visible(text)})

    def note(self, words: str) -> None:
        with self.around():
            print(visible(words))

    def problem(self, words: str) -> None:
        with self.around():
            print(visible(words), file=sys.stderr)
