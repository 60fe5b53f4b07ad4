"""Collects what one run prints and displays, beside its usual destination.

It wraps methods of the stream objects and of IPython's display during the run. So it also sees
prints of other threads, of loggers and, in a kernel, of other programs. Afterwards it restores
the methods, and streams that the code replaced.
"""

from __future__ import annotations

import base64
import sys
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from ...notebook.collector import Collector

PLAIN = "text/plain"


class Capture:
    """A context manager for the main thread. In it, ``set_next_input`` does nothing."""

    def __init__(self, shell: Any, is_stopped: Callable[[], bool]) -> None:
        """``is_stopped``: whether the person caused a KeyboardInterrupt, which needs no
        traceback."""
        self.collector = Collector()
        self._shell = shell
        self._is_stopped = is_stopped
        self._print_muted = 0
        self._lock = threading.RLock()
        self._wrapped: list[tuple[Any, str, Any, Any]] = []
        self._streams: tuple[Any, Any] = (None, None)

    def __enter__(self) -> Capture:
        shell = self._shell
        self._streams = (sys.stdout, sys.stderr)
        for name, stream in zip(("stdout", "stderr"), self._streams, strict=True):
            self._wrap(stream, "write", self._stream(name))
        self._wrap(shell.display_pub, "publish", self._publish)
        self._wrap(shell.display_pub, "clear_output", self._clear)
        self._wrap(shell.displayhook, "start_displayhook", self._start_result)
        self._wrap(shell.displayhook, "write_format_data", self._result)
        self._wrap(shell.displayhook, "finish_displayhook", self._end_result)
        self._wrap(shell, "showtraceback", self._traceback)
        self._wrap(shell, "_showtraceback", self._error)
        self._wrap(shell, "set_next_input", lambda original: lambda text, replace=False: None)
        return self

    def __exit__(self, *_: object) -> None:
        for owner, name, ours, before in reversed(self._wrapped):
            if vars(owner).get(name) is not ours:
                continue
            if before is None:
                delattr(owner, name)
            else:
                setattr(owner, name, before)
        sys.stdout, sys.stderr = self._streams

    def _wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        original = getattr(owner, name, None)
        if original is None:
            return
        ours = make(original)
        before = vars(owner).get(name)
        try:
            setattr(owner, name, ours)
        except AttributeError:
            return  # The stream accepts no attributes: it prints, but is not collected.
        self._wrapped.append((owner, name, ours, before))

    # --- wrappers ----------------------------------------------------------------

    def _add(self, kind: str, content: dict[str, Any], size: int) -> None:
        with self._lock:
            if not self._print_muted:
                self.collector.add(kind, content, size)

    def _without_prints(self, original: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """In a terminal, displays print: do not collect the printed text a second time."""
        self._print_muted += 1
        try:
            return original(*given, **named)
        finally:
            self._print_muted -= 1

    def _stream(self, name: str) -> Callable[[Any], Any]:
        def make(original: Callable[[str], Any]) -> Callable[[str], Any]:
            def write(text: str) -> Any:
                written = original(text)
                if isinstance(text, str) and text:
                    self._add("stream", {"name": name, "text": text}, len(text))
                return written

            return write

        return make

    def _publish(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def publish(data: Any, metadata: Any = None, *given: Any, **named: Any) -> Any:
            bundle, size = _bundle(data)
            content = {
                "data": bundle,
                "metadata": {},
                "transient": named.get("transient") or {},
            }
            if named.get("update"):
                with self._lock:
                    self.collector.update(content, size)
            else:
                self._add("display_data", content, size)
            return self._without_prints(original, data, metadata, *given, **named)

        return publish

    def _clear(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def clear_output(wait: bool = False) -> Any:
            self._add("clear_output", {"wait": wait}, 0)
            return self._without_prints(original, wait)

        return clear_output

    def _start_result(self, original: Callable[[], Any]) -> Callable[[], Any]:
        def start() -> Any:
            self._print_muted += 1
            return original()

        return start

    def _result(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def write(format_dict: Any, *given: Any) -> Any:
            bundle, size = _bundle(format_dict)
            content = {
                "data": bundle,
                "metadata": {},
                "execution_count": self._shell.displayhook.prompt_count,
            }
            muted, self._print_muted = self._print_muted, 0
            self._add("execute_result", content, size)
            self._print_muted = muted
            return original(format_dict, *given)

        return write

    def _end_result(self, original: Callable[[], Any]) -> Callable[[], Any]:
        def finish() -> Any:
            try:
                return original()
            finally:
                self._print_muted = 0

        return finish

    def _traceback(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def showtraceback(exc_tuple: Any = None, *given: Any, **named: Any) -> Any:
            # A ``__repr__`` that raises skips the end of a result.
            self._print_muted = 0
            kind = (exc_tuple or sys.exc_info())[0]
            if kind is not None and issubclass(kind, KeyboardInterrupt) and self._is_stopped():
                content = {"ename": "KeyboardInterrupt", "evalue": "", "traceback": []}
                self._add("error", content, 0)
                return None
            return original(exc_tuple, *given, **named)

        return showtraceback

    def _error(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def show(etype: Any, evalue: Any, stb: Any) -> Any:
            lines = [stb] if isinstance(stb, str) else list(stb)
            text = _text_of(evalue)
            content = {"ename": etype.__name__, "evalue": text, "traceback": lines}
            self._add("error", content, sum(map(len, lines)) + len(text))
            return self._without_prints(original, etype, evalue, stb)

        return show

    def failed(self, error: BaseException) -> None:
        """Record an error that IPython showed only as plain text."""
        if not self.collector.has_error:
            name, text = type(error).__name__, _text_of(error)
            content = {"ename": name, "evalue": text, "traceback": [f"{name}: {text}"]}
            self.collector.add("error", content, len(text))


def _text_of(error: Any) -> str:
    try:
        return str(error)
    except Exception:
        return ""  # ``__str__`` of user code may raise.


def _bundle(data: Any) -> tuple[dict[str, Any], int]:
    """MIME bundle as nbformat has it, and its size in bytes of JSON."""
    given = data if isinstance(data, dict) else {}
    bundle = {
        str(mime): base64.b64encode(value).decode() if isinstance(value, bytes) else value
        for mime, value in given.items()
    }
    try:
        return bundle, len(msgspec.json.encode(bundle))
    except (TypeError, ValueError, OverflowError, RecursionError):
        plain = str(bundle.get(PLAIN, ""))
        return {PLAIN: plain}, len(plain)
