"""Labels of what code may reach, and rules for code that runs without asking."""

from __future__ import annotations

from typing import Literal

import msgspec

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


Deed = Literal["held", "refused", "connected", "programs", "writes", "reads", "lost", "changes"]


class Observation(msgspec.Struct, frozen=True):
    """The run did this. All but ``held`` and ``changes`` are seen from outside, in a sandbox. These
    two go by what the kernel itself reports.

    held       the sandbox held it back: its only name is a sentence that says where
    refused    a connection that the sandbox did not allow; ``names`` are hosts with ports
    connected  data went to or came from these hosts
    programs   started other programs; without names
    writes     files in the notebook's folder were changed, made or deleted while it ran
    reads      files there were opened while it ran
    lost       it did more with files or connections than could be followed; without names
    changes    variables of the person's that changed
    """

    kind: Deed
    names: tuple[str, ...] = ()
    more: int = 0
    """Further names that are left out."""


class Rule(msgspec.Struct, frozen=True):
    """A person lets code of a conversation run without asking: code that reads no other ``files``
    of the notebook's folder, imports no other packages (``imports``), and has no label."""

    rule_id: str
    files: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    tool: str = ""
    """The one tool of an MCP server that runs without asking, by its name for the model. Such a
    rule lets no code run."""
    pinned: str = ""
    """The digest of that tool: its server's entry, its description and its schema."""
