"""Collects the outputs of a run: from iopub message contents to bounded nbformat outputs. Pure.

Sizes are characters of text or bytes of JSON on the wire; both are close enough for a bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import msgspec

from ..base.sentences import Sentence, together
from ..wire.ops import Output

_NAME = 1_000
"""Characters of an exception's name, which code can make as long as it likes."""

OUTPUT_TYPES = frozenset({"stream", "display_data", "execute_result", "error"})


class OutputLimits(msgspec.Struct, frozen=True):
    """How much of a run's outputs to keep.

    A notebook with 256 kB of text in a cell still opens at once. A browser draws a thousand
    outputs in a cell without freezing.
    """

    text: int = 256_000
    """Stream text of a run, half of it the head and half the tail."""
    more_text: int = 4_000
    """Characters of each further stream output when ``text`` is used up."""
    run: int = 32_000_000
    """Bytes of all outputs of a run that are not streams; one alone may have as many. A page of
    plots with their library inside (Bokeh's INLINE) has some 10 MB."""
    outputs: int = 1_000


class BoundedText:
    """The head and tail of a text that may grow without end."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head = ""
        self._tail = ""
        self._left_out = 0

    def append(self, text: str) -> None:
        if not self._tail and not self._left_out:
            room = self._half - len(self._head)
            self._head += text[:room]
            text = text[room:]
        self._tail += text
        if len(self._tail) > 2 * self._half:
            self.skip(len(self._tail) - self._half)
            self._tail = self._tail[-self._half :]

    def skip(self, length: int) -> None:
        """Count text of about this length that was dropped before it got here."""
        self._left_out += length

    @property
    def kept(self) -> int:
        return len(self._head) + min(len(self._tail), self._half)

    @property
    def left_out(self) -> int:
        return self._left_out + max(0, len(self._tail) - self._half)

    def __str__(self) -> str:
        if not self.left_out:
            return self._head + self._tail
        left_out = self.left_out
        tail = self._tail[-self._half :]
        broken_line = tail.find("\n", 0, 1_000) + 1
        left_out += broken_line
        head = self._head.rstrip("\n")
        gone = f"[… {left_out:,} characters left out for good: a cell keeps no more …]"
        return f"{head}\n{gone}\n{tail[broken_line:]}"


class _Stream:
    def __init__(self, name: str, limit: int) -> None:
        self.name = name
        self.text = BoundedText(limit)


_Item = Union[_Stream, Output]


class Collector:
    """The growing outputs of one place (a cell, an output widget).

    ``outputs`` is the whole state; ``take`` returns the changes since its last call.
    """

    def __init__(self, limits: OutputLimits | None = None, outputs: Sequence[Output] = ()) -> None:
        self._limits = limits or OutputLimits()
        self._items: list[_Item] = []
        self._sizes: list[int] = []
        self._changed: int | None = None
        self._clear_next = False
        self._dropped_text = 0
        self._dropped_outputs = 0
        for output in outputs:
            self._items.append(output)
            self._sizes.append(0)

    # --- what comes in ---------------------------------------------------------------

    def add(self, msg_type: str, content: dict[str, Any] | None, size: int) -> None:
        """Add an output or ``clear_output`` message. ``content`` is None if it was too large to
        read. A stream message without its middle has ``text``, ``left_out`` (a length) and
        ``tail``."""
        if msg_type == "clear_output":
            self._clear_next = bool((content or {}).get("wait"))
            if not self._clear_next:
                self._clear()
            return
        if self._clear_next:
            self._clear_next = False
            self._clear()
        if msg_type == "stream" and content is not None:
            self._add_stream(content)
        else:
            self._add_output(msg_type, content, size)

    def update(self, content: dict[str, Any], size: int) -> bool:
        """Apply ``update_display_data``. False if no output here has that display id."""
        display_id = content.get("transient", {}).get("display_id")
        found = False
        for index, item in enumerate(self._items):
            if isinstance(item, _Stream) or _display_id(item) != display_id:
                continue
            found = True
            data = {**item, "data": content["data"], "metadata": content.get("metadata", {})}
            self._sizes[index] = 0
            fits = self._fits(size)
            self._items[index] = self._bounded(data) if fits else _too_large(data, size)
            self._sizes[index] = size if fits else 0
            self._mark(index)
        return found

    # --- what goes out ---------------------------------------------------------------

    @property
    def outputs(self) -> tuple[Output, ...]:
        return tuple(self._render(item) for item in self._items)

    def take(self) -> tuple[int, tuple[Output, ...]] | None:
        """The first changed index, and the outputs from there on."""
        if self._changed is None:
            return None
        start, self._changed = self._changed, None
        return start, tuple(self._render(item) for item in self._items[start:])

    @property
    def pending(self) -> int:
        """The size of what ``take`` would return; 0 without changes."""
        if self._changed is None:
            return 0
        changed = range(self._changed, len(self._items))
        return 1 + sum(self._size(index) for index in changed)

    @property
    def size(self) -> int:
        """The size of all outputs."""
        return sum(map(self._size, range(len(self._items))))

    @property
    def left_out(self) -> int:
        """Dropped characters of stream text, including cleared outputs."""
        streams = (item for item in self._items if isinstance(item, _Stream))
        return self._dropped_text + sum(stream.text.left_out for stream in streams)

    @property
    def note(self) -> Sentence:
        """Sentences on what was omitted; "" if nothing."""
        notes = []
        if self.left_out:
            words = "{count:,} characters of output were not kept."
            notes.append(Sentence(words, count=self.left_out))
        if self._dropped_outputs:
            words = "{count:,} further outputs were not kept."
            notes.append(Sentence(words, count=self._dropped_outputs))
        return together(*notes)

    @property
    def has_error(self) -> bool:
        return any(not isinstance(i, _Stream) and i["output_type"] == "error" for i in self._items)

    # --- inside ----------------------------------------------------------------------

    def _clear(self) -> None:
        self._dropped_text = self.left_out
        self._items = []
        self._sizes = []
        self._mark(0)

    def _add_stream(self, content: dict[str, Any]) -> None:
        last = self._items[-1] if self._items else None
        if not isinstance(last, _Stream) or last.name != content["name"]:
            if self._is_full():
                return
            kept = sum(item.text.kept for item in self._items if isinstance(item, _Stream))
            room = max(self._limits.more_text, self._limits.text - kept)
            last = _Stream(content["name"], room)
            self._append(last, 0)
        last.text.append(content["text"])
        if "left_out" in content:
            last.text.skip(content["left_out"])
            last.text.append(content["tail"])
        self._mark(len(self._items) - 1)

    def _add_output(self, msg_type: str, content: dict[str, Any] | None, size: int) -> None:
        if self._is_full():
            return
        if content is None or not self._fits(size):
            self._append(_too_large({"output_type": msg_type, **(content or {})}, size), 0)
        else:
            self._append(self._bounded(_to_output(msg_type, content)), size)

    def _append(self, item: _Item, size: int) -> None:
        self._items.append(item)
        self._sizes.append(size)
        self._mark(len(self._items) - 1)

    def _mark(self, index: int) -> None:
        self._changed = index if self._changed is None else min(self._changed, index)

    def _is_full(self) -> bool:
        if len(self._items) < self._limits.outputs:
            return False
        self._dropped_outputs += 1
        return True

    def _fits(self, size: int) -> bool:
        return sum(self._sizes) + size <= self._limits.run

    def _size(self, index: int) -> int:
        item = self._items[index]
        return item.text.kept if isinstance(item, _Stream) else self._sizes[index]

    def _bounded(self, output: Output) -> Output:
        """Cut plain text and traceback; other formats cannot be cut."""
        if output["output_type"] == "error":
            traceback = "\n".join(output["traceback"])
            if len(traceback) > self._limits.text:
                output["traceback"] = self._cut(traceback).split("\n")
            return {**output, "evalue": self._cut(output["evalue"])}
        data = output["data"]
        plain = data.get("text/plain")
        if not isinstance(plain, str):
            return output
        return {**output, "data": {**data, "text/plain": self._cut(plain)}}

    def _cut(self, text: str) -> str:
        if len(text) <= self._limits.text:
            return text
        bounded = BoundedText(self._limits.text)
        bounded.append(text)
        return str(bounded)

    @staticmethod
    def _render(item: _Item) -> Output:
        if isinstance(item, _Stream):
            return {"output_type": "stream", "name": item.name, "text": str(item.text)}
        return item


def _display_id(output: Output) -> str | None:
    display_id: str | None = output.get("transient", {}).get("display_id")
    return display_id


def _to_output(msg_type: str, content: dict[str, Any]) -> Output:
    if msg_type == "error":
        return {
            "output_type": "error",
            "ename": str(content["ename"])[:_NAME],
            "evalue": str(content["evalue"]),
            "traceback": [str(line) for line in content["traceback"]],
        }
    output: Output = {
        "output_type": msg_type,
        "data": content["data"],
        "metadata": content.get("metadata", {}),
    }
    if msg_type == "execute_result":
        output["execution_count"] = content.get("execution_count")
    if content.get("transient", {}).get("display_id"):
        output["transient"] = {"display_id": content["transient"]["display_id"]}
    return output


def _too_large(output: Output, size: int) -> Output:
    """A note in place of an output, of the same type, so that an error stays an error."""
    note = f"[An output of {size / 1000000.0:,.1f} MB was omitted.]"
    if output["output_type"] == "error":
        ename = output.get("ename", "Error")
        return {"output_type": "error", "ename": ename, "evalue": note, "traceback": [note]}
    kept: Output = {key: output[key] for key in ("execution_count", "transient") if key in output}
    note_type = "display_data" if output["output_type"] == "stream" else output["output_type"]
    if note_type == "execute_result":
        kept.setdefault("execution_count", None)
    return {"output_type": note_type, "data": {"text/plain": note}, "metadata": {}, **kept}
