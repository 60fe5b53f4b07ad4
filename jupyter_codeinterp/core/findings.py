"""A finding: a fact about code, or about what a run did, that a reader would want to know."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Union

import msgspec

# -------------------------------------------------------------------------------------------------
# What code may reach, and what a sandbox saw of its run.

Kind = Literal[
    "unreadable",
    "installs",
    "processes",
    "network",
    "deletes",
    "writes",
    "reads_outside",
    "changes",
]

WORDS: dict[Kind, str] = {
    "unreadable": "not readable",
    "installs": "installs packages",
    "processes": "starts programs",
    "network": "network",
    "deletes": "deletes files",
    "writes": "writes files",
    "reads_outside": "reads files elsewhere",
    "changes": "changes your variables",
}
"""What people read, the gravest first."""


class Label(msgspec.Struct, frozen=True):
    """The code may do this. ``line`` counts from 1; ``code`` is that line, at most 80 characters.
    Nothing of it says that the code does it, or that code without a label does not."""

    kind: Kind
    line: int
    code: str = ""

    def __str__(self) -> str:
        return f"{WORDS[self.kind]} (line {self.line})"


Deed = Literal["held", "refused", "connected", "lost"]


class Observation(msgspec.Struct, frozen=True):
    """The run did this in a sandbox.

    held       the sandbox held it back: its only name is a sentence that says where
    refused    a connection that the sandbox did not allow; ``names`` are hosts with ports
    connected  data went to or came from these hosts
    lost       it made more connections than the sandbox keeps; without names
    """

    kind: Deed
    names: tuple[str, ...] = ()
    more: int = 0
    """Further names that are left out."""


DID: dict[Deed, str] = {
    "held": "reached a limit of the sandbox",
    "refused": "tried to connect to other hosts",
    "connected": "reached hosts of the network",
    "lost": "made more connections than the sandbox keeps",
}


def sentence(seen: Iterable[Observation]) -> str:
    """What a sandbox saw of a run, for a terminal; "" for nothing."""
    said = []
    for one in seen:
        if one.kind == "held":
            continue  # the result has its sentence
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
    """``check`` names who found it. ``sentence`` is one plain sentence with its figures;
    ``evidence`` are values that show it. ``audience``: a ``person`` sees it on the card, and the
    model gets it too; or it is for the ``model`` only. The server sets ``key``, by which a person
    silences it."""

    check: str
    sentence: str
    place: Union[Place, None] = None
    evidence: tuple[str, ...] = ()
    audience: Literal["person", "model"] = "person"
    key: str = ""

    def __str__(self) -> str:
        return f"Line {self.place.line}: {self.sentence}" if self.place else self.sentence
