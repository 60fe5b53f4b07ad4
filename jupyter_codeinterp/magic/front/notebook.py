"""The outputs of the cell that has asked, wherever the front end shows them.

What grows is one display that is updated. After a click, outputs still belong to that cell:
they are sent as an answer to its request, so they stand there and are saved with it.
"""

from __future__ import annotations

import contextlib
import json
import sys
import uuid
from collections.abc import Iterator
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
        now = request(self._shell)
        if now.get("header", {}).get("msg_id") == self._cell.get("header", {}).get("msg_id"):
            yield
            return
        before = self._shell.parent_header
        self._shell.set_parent(self._cell)
        try:
            yield
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            self._shell.set_parent(before)

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
