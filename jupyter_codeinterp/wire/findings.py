"""A finding: a fact about code, or about what a run did, that a reader would want to know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Union

import msgspec

from ..base.sentences import Sentence

ObservationKind = Literal["held", "refused", "connected", "lost"]


class Observation(msgspec.Struct, frozen=True):
    """Something that a run did in a sandbox.

    held       it reached the ``limit``; in older journals the only name is that sentence
    refused    the sandbox refused connections; ``names`` are hosts with ports
    connected  data went to or came from these hosts
    lost       it made more connections than the sandbox records; without names
    """

    kind: ObservationKind
    names: tuple[str, ...] = ()
    more: int = 0
    """Further names that are left out."""
    limit: Sentence = msgspec.field(default_factory=Sentence)


DID: dict[ObservationKind, str] = {
    "held": "reached a limit of the sandbox",
    "refused": "tried to connect to other hosts",
    "connected": "reached hosts of the network",
    "lost": "made more connections than the sandbox keeps",
}


def sentence(seen: Iterable[Observation]) -> str:
    """The observations as a sentence for a terminal; "" without any."""
    said = []
    for one in seen:
        if one.kind == "held":
            continue  # The result has this sentence.
        more = (f"{one.more} more",) if one.more else ()
        names = ", ".join((*one.names, *more))
        said.append(f"{DID[one.kind]} ({names})" if names else DID[one.kind])
    return f"It {', '.join(said)}." if said else ""


class Place(msgspec.Struct, frozen=True):
    """A piece of a cell's source. Lines count from 1, columns from 0, in characters;
    ``end_column`` is the first one after it."""

    line: int
    column: int
    end_line: int
    end_column: int


class Finding(msgspec.Struct, frozen=True):
    """``check``: the name of the check. ``sentence``: one plain sentence with its numbers;
    ``evidence``: values that show it. ``audience``: ``person`` for the card and the model, or
    ``model`` only."""

    check: str
    sentence: Sentence
    place: Union[Place, None] = None
    evidence: tuple[str, ...] = ()
    audience: Literal["person", "model"] = "person"

    def __str__(self) -> str:
        return f"Line {self.place.line}: {self.sentence}" if self.place else self.sentence
