"""Shows a turn in the outputs of the prompt's cell.

Streamed text is one display that is updated. After a click, outputs still answer the cell's
request, so the front end shows and saves them there.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from ...base.visible import visible
from ..asking.typed import request
from .harmless import bundle, code_bundle

AT_ONCE = 2_000
"""Characters of a text up to which each addition is shown at once."""


class NotebookScreen:
    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cell = request(shell)
        self._displays: dict[str, str] = {}
        self._shown: dict[str, int] = {}
        """Characters of each text when it was shown last."""

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        """Direct outputs to the prompt's cell within the context."""
        before = self._shell.parent_header
        self._shell.set_parent(self._cell)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            self._shell.set_parent(before)

    def on_main_thread(self, work: Callable[[], None]) -> None:
        """Run ``work`` on the main thread, after the cell that runs there. JupyterLab sends
        clicks to a subshell on another thread."""
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
        """Show data, or update the display with the same key."""
        update = key in self._displays
        display_id = self._displays.setdefault(key, uuid.uuid4().hex)
        with self.around():
            self._shell.display_pub.publish(
                data, {}, transient={"display_id": display_id}, update=update
            )

    def text(self, key: str, text: str, grows: bool = False) -> None:
        """Show a text. ``grows``: more follows, so a long text is updated only sometimes, because
        each update sends all of it."""
        if grows and len(text) - self._shown.get(key, 0) < (len(text) - AT_ONCE) / 4:
            return
        self._shown[key] = len(text)
        self.show(key, bundle(text))

    def drop(self, key: str) -> None:
        if key in self._displays:
            self.show(key, {"text/plain": ""})

    def code(self, key: str, source: str) -> None:
        self.show(key, code_bundle(source))

    def note(self, words: str) -> None:
        with self.around():
            print(visible(words))

    def problem(self, words: str) -> None:
        with self.around():
            print(visible(words), file=sys.stderr)
