"""Undo and redo what a turn did to files: bring them to the state before it, or after it.

Only what the turn changed is brought back, and only where nobody changed it since. It is written
through the overlay itself, as the kernel writes: Linux forbids to change a layer under it.
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
"""Turns whose beginning is kept."""
BYTES = 200_000_000
"""Of files that waited as turns began, or that undos took back, in all."""

SINCE = "It has changed since the turn."
SINCE_UNDO = "It has changed since the undo."
KEPT = "You have copied it into the folder."
NOT_HELD = "It was too large to be kept as the undo took it back."
NOT_COPIED = "It could not be copied as the undo took it back."


class PutBack(NamedTuple):
    """``left`` are paths that stay as they are, each with the reason."""

    done: tuple[str, ...]
    left: tuple[tuple[str, str], ...]


class Offers(NamedTuple):
    """What an undo and a redo would do now."""

    undo: PutBack
    redo: PutBack


class _Turn:
    def __init__(self, before: State) -> None:
        self.before = before
        self.after: State | None = None
        self.kept: set[str] = set()
        self.undone: dict[str, str] = {}
        """By path: why its state after the turn is not held for a redo; "" if it is."""

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
        """What can be undone, and why the rest cannot."""
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
        """What can be redone, and why the rest cannot."""
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
    """Keeps copies of the files that waited as turns began, in the layer's folder."""

    def __init__(self, layer: Layer) -> None:
        self._layer = layer
        self._states = States(layer)
        self._turns: dict[str, _Turn] = {}

    def begin(self, turn: str, until: float = FOREVER) -> None:
        """Drops the oldest where there are too many. Keeps nothing that it could not restore, or
        not in time: ``until`` is a time of ``time.monotonic``."""
        self._turns.pop(turn, None)
        with suppress(trees.TooMany, trees.Changed, Late, OSError):
            state = self._states.now(until)
            if size([state]) > BYTES:
                return
            self._make_room(state)
            self._states.copy(state, until)
            self._turns[turn] = _Turn(state)

    def end(self, turn: str, until: float = FOREVER) -> list[str] | None:
        """The paths that the turn has changed; None if its beginning is not kept. A look that takes
        too long might show later changes, so it does not count."""
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
        """A person has copied these into the folder."""
        for one in self._turns.values():
            one.kept.update(paths)

    def offers(self, turn: str) -> Offers:
        """Raises as ``put_back``."""
        mine, now = self._need(turn), self._states.now()
        return Offers(mine.undo(now), mine.redo(now))

    def put_back(self, turn: str, root: int) -> PutBack:
        """Undo. ``root``: the sandbox's open root folder. Raises LayerError if the beginning of
        the turn was not kept, TooMany, and OSError."""
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
        """Bring back what ``put_back`` took back. Raises as ``put_back``."""
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
        """Make these paths as in the folder below, each from the state of its stamp. Raises
        TooMany, LayerError and OSError."""
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
        """Keep copies of what an undo takes back. Returns, by path, why one was not kept: SINCE
        if it is in another state by now. Raises OSError."""
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
        """Forget the oldest turns, and the copies that no other needs. Raises OSError."""
        while self._turns and (len(self._turns) >= TURNS or self._size(state) > BYTES):
            del self._turns[next(iter(self._turns))]
        self._states.forget_but([state, *self._held()])

    def _size(self, state: State) -> int:
        """Bytes of all copies, if this state is copied, too."""
        return size([state, *self._held()])

    def _held(self) -> list[State]:
        return [state for one in self._turns.values() for state in one.held()]
