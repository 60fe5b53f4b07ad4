"""Undoes and redoes a turn's changes of files.

It restores only files that the turn changed and nobody changed since. It writes through the
overlay, as the kernel does: Linux forbids changing the layer of a mounted overlay.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from ..shared import trees
from .changes import written
from .keeping import ANOTHER
from .layer import Layer, LayerError
from .restoring import Trees, in_order, open_trees, restore
from .states import FOREVER, Late, State, States, same, size

TURNS = 10
"""Turns whose initial state is kept."""
BYTES = 200_000_000
"""Total bytes of copies for undo and redo."""

SINCE = "It has changed since the turn."
SINCE_UNDO = "It has changed since the undo."
KEPT = "You have copied it into the folder."
NOT_HELD = "It was too large to be kept as the undo took it back."
NOT_COPIED = "It could not be copied as the undo took it back."


class PutBack(NamedTuple):
    """``done``: restored paths. ``left``: the others, each with the reason."""

    done: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


class Offers(NamedTuple):
    """The possible results of an undo and a redo."""

    undo: PutBack
    redo: PutBack


class _Turn:
    def __init__(self, before: State) -> None:
        self.before = before
        self.after: State | None = None
        self.kept: set[str] = set()
        self.undone: dict[str, str] = {}
        """Undone paths, and why a redo has no copy; "" if it has one."""

    def changed(self) -> list[str]:
        after = self.after or {}
        both = sorted({*self.before, *after})
        return [path for path in both if not same(self.before.get(path), after.get(path))]

    def held(self) -> Iterator[State]:
        """The states whose files need copies."""
        after = self.after or {}
        yield self.before
        yield {path: after[path] for path, why in self.undone.items() if not why and path in after}

    def undo(self, now: State) -> PutBack:
        """Paths that can be undone, and why others cannot."""
        after = self.after or {}
        able, left = [], []
        for path in self.changed():
            if path in self.undone and same(now.get(path), self.before.get(path)):
                continue
            if path in self.kept:
                left.append((path, KEPT))
            elif not same(now.get(path), after.get(path)):
                left.append((path, SINCE))
            else:
                able.append(path)
        return PutBack(tuple(able), tuple(left))

    def redo(self, now: State) -> PutBack:
        """Paths that can be redone, and why others cannot."""
        able, left = [], []
        for path, why in sorted(self.undone.items()):
            if not same(now.get(path), self.before.get(path)):
                left.append((path, SINCE_UNDO))
            elif why:
                left.append((path, why))
            else:
                able.append(path)
        return PutBack(tuple(able), tuple(left))


class Turns:
    """Keeps the states before turns, with copies in the layer's folder."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._states = States(layer)
        self._turns: dict[str, _Turn] = {}

    def begin(self, turn: str, until: float = FOREVER) -> None:
        """Keep the state before a turn, and drop the oldest turns. Keeps nothing if it cannot copy
        all files before ``until``, a time of ``time.monotonic``."""
        self._turns.pop(turn, None)
        with suppress(trees.TooMany, trees.Changed, Late, OSError):
            state = self._states.now(until)
            if size([state]) > BYTES:
                return
            self._make_room(state)
            self._states.copy(state, until)
            self._turns[turn] = _Turn(state)

    def end(self, turn: str, until: float = FOREVER) -> list[str] | None:
        """The paths that the turn changed; None if its initial state is not kept, or if the look
        took too long and could show later changes."""
        mine = self._turns.get(turn)
        if mine is None:
            return None
        try:
            mine.after = self._states.now(until)
        except (trees.TooMany, Late, OSError):
            del self._turns[turn]
            return None
        return mine.changed()

    def is_as_in_the_folder(self, path: str, identity: trees.Identity) -> bool:
        """Whether an undo or redo gave this file or link the state that it has in the folder."""
        return self._states.is_as_in_the_folder(path, identity)

    def kept(self, paths: tuple[str, ...]) -> None:
        """Note that a person copied these into the folder."""
        for one in self._turns.values():
            one.kept.update(paths)

    def offers(self, turn: str) -> Offers:
        """The possible results of an undo and a redo. Raises as ``put_back``."""
        mine, now = self._need(turn), self._states.now()
        return Offers(mine.undo(now), mine.redo(now))

    def put_back(self, turn: str, root: int) -> PutBack:
        """Undo. ``root``: the sandbox's open root folder. Raises LayerError if the initial state
        was not kept, TooMany, and OSError."""
        mine = self._need(turn)
        with open_trees(self._layer, root) as at:
            now = self._states.of(at.upper, at.lower)
            able, left = mine.undo(now)
            not_held = self._hold({path: now[path] for path in able if path in now})
            changed = {path for path, why in not_held.items() if why == SINCE}
            able = tuple(path for path in able if path not in changed)
            left = (*left, *((path, SINCE) for path in sorted(changed)))
            back = self._bring(able, left, now, mine.before, at)
            mine.undone.update({path: not_held.get(path, "") for path in back.done})
            return back

    def redo(self, turn: str, root: int) -> PutBack:
        """Redo what ``put_back`` undid. Raises as ``put_back``."""
        mine = self._need(turn)
        with open_trees(self._layer, root) as at:
            now = self._states.of(at.upper, at.lower)
            able, left = mine.redo(now)
            back = self._bring(able, left, now, mine.after or {}, at)
            for path in back.done:
                del mine.undone[path]
                mine.kept.discard(path)
            return back

    def discard(self, stamps: Mapping[str, str], root: int) -> PutBack:
        """Restore these paths to the folder below, if they still have the states of their stamps.
        Raises TooMany, LayerError and OSError."""
        with open_trees(self._layer, root) as at:
            found, now = written(at.upper, at.lower), self._states.of(at.upper, at.lower)
            able = [path for path, one in found.items() if stamps.get(path) == one.stamp]
            left = tuple((path, ANOTHER) for path in stamps if path not in able)
            return self._bring(tuple(able), left, now, {}, at)

    def _need(self, turn: str) -> _Turn:
        mine = self._turns.get(turn)
        if mine is None or mine.after is None:
            raise LayerError(
                "The files as they were when the turn began are not kept. They are kept for the "
                f"last {TURNS} turns of a running kernel, up to {BYTES // 10**6} MB, if that "
                "takes no more than a moment."
            )
        return mine

    def _bring(
        self,
        able: tuple[str, ...],
        left: tuple[tuple[str, str], ...],
        now: State,
        wanted: State,
        at: Trees,
    ) -> PutBack:
        done, more = [], list(left)
        for path in in_order(list(able), wanted, at.lower):
            why = restore(self._states, at, path, now.get(path), wanted.get(path))
            if why:
                more.append((path, why))
            else:
                done.append(path)
        return PutBack(tuple(done), tuple(more))

    def _hold(self, state: State) -> dict[str, str]:
        """Copy files for a redo before an undo. Returns why others were not copied, by path: SINCE
        if it changed meanwhile. Raises OSError."""
        held = self._held()
        known = {one.identity for each in held for one in each.values()}
        room, not_held = BYTES - size(held), {}
        with self._states.copying() as copy:
            for path, one in state.items():
                more = 0 if one.kind != "file" or one.identity in known else one.size
                if more > max(0, room):
                    not_held[path] = NOT_HELD
                    continue
                try:
                    copy(path, one)
                except (trees.Changed, FileNotFoundError, NotADirectoryError):
                    not_held[path] = SINCE
                except OSError as error:
                    not_held[path] = SINCE if error.errno == errno.ELOOP else NOT_COPIED
                else:
                    known.add(one.identity)
                    room -= more
        return not_held

    def _make_room(self, state: State) -> None:
        """Drop the oldest turns, and copies that no other turn needs. Raises OSError."""
        while self._turns and (len(self._turns) >= TURNS or self._size(state) > BYTES):
            del self._turns[next(iter(self._turns))]
        self._states.forget_but([state, *self._held()])

    def _size(self, state: State) -> int:
        """Bytes of all copies including this state's."""
        return size([state, *self._held()])

    def _held(self) -> list[State]:
        return [state for one in self._turns.values() for state in one.held()]
