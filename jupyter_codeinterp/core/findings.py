"""A finding: a fact about code, or about what a run did, that a reader would want to know."""

from __future__ import annotations

from typing import Literal, Union

import msgspec


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
