"""What a sandbox saw of a run, in the core's words."""

from __future__ import annotations

from collections.abc import Iterator

from ....core.labels import Observation
from ....sandbox.observing import Observer, Seen


class Watched:
    """Implements ``Watching``."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def end(self) -> tuple[Observation, ...]:
        return tuple(_observations(self._observer.end()))


def _observations(seen: Seen) -> Iterator[Observation]:
    if seen.refused:
        yield Observation("refused", seen.refused)
    if seen.connected:
        yield Observation("connected", seen.connected)
    if seen.started_programs:
        yield Observation("programs")
    files = seen.files
    if files is not None and files.changed:
        yield Observation("writes", files.changed)
    if files is not None and files.opened:
        yield Observation("reads", files.opened)
    if files is not None and files.lost:
        yield Observation("lost")
