"""Resolves a message's references, and reports those that are missing or unreadable."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence

import msgspec

from ..base.errors import DocumentError, KernelError
from ..base.off_loop import off_loop
from ..base.sentences import Sentence
from ..run.turn.turn import Turn
from ..view import attached
from ..view.notebook_prompt import one_line
from ..view.references import Named, named
from ..view.skills import Skill, called_told
from ..wire.events import CALLED, Note, Reference
from ..wire.ops import weight

MOST_LOOKED_THROUGH = 2_000
"""Files beside the notebook that a look-up lists."""
NOT_SHOWN = Sentence("{name} is not shown to the model: {why}.")
NO_FILE = Sentence("The file of this skill no longer exists.")
NOT_READ = "[Reading something that the message mentions took too long.]"


class Mentions(msgspec.Struct, frozen=True):
    """``shown`` follows ``text``; ``skills`` goes before the person's words; ``notes`` are for
    the person."""

    text: str = ""
    skills: str = ""
    shown: tuple[attached.ShownFile, ...] = ()
    notes: tuple[Note, ...] = ()


async def look_up(turn: Turn, references: Sequence[Reference], *, again: bool = False) -> Mentions:
    """``again``: read the notebook first, because it may have changed."""
    if not references:
        return Mentions()
    called, missing = await _called(turn, references)
    references = [one for one in references if one.kind not in CALLED]
    if again:
        with contextlib.suppress(DocumentError):  # Use the last snapshot.
            await turn.notebook.look()
    names = tuple(one.name for one in references if one.kind in ("variable", "column"))
    variables = None
    with contextlib.suppress(KernelError):
        variables = await turn.variables(names) if names else []
    files = turn.files
    if any(one.kind == "file" for one in references):
        files = await turn.workplace.files(MOST_LOOKED_THROUGH)
    seen = await _see_files(turn, references, dict(files))
    snapshot = turn.notebook.snapshot
    words = {name: one.words for name, one in seen.items()}
    found = await off_loop(
        lambda: named(references, snapshot, variables, files, turn.untrusted, words),
        sum(len(cell.source) + weight(cell.outputs) for cell in snapshot.cells),
        lambda: Named(NOT_READ),
    )
    for cell_id in found.whole:
        cell = snapshot.cell(cell_id)
        if cell is not None:
            turn.context.seen(cell)
    shown = tuple(one.shown for one in seen.values() if one.shown is not None)
    notes = (*missing, *_missing(found), *_not_shown(turn, seen))
    return Mentions(found.text, called_told(called, turn.untrusted), shown, notes)


async def _called(
    turn: Turn, references: Sequence[Reference]
) -> tuple[list[tuple[Skill, str]], list[Note]]:
    """The called skills with their arguments, and notes on those that cannot be used."""
    named = [one for one in references if one.kind in CALLED]
    if not named:
        return [], []
    found = {skill.name: skill for skill in await turn.workplace.skills()}
    called: list[tuple[Skill, str]] = []
    notes: list[Note] = []
    for reference in named:
        name, _, arguments = reference.name.partition(" ")
        skill = found.get(name)
        if skill is None or skill.trouble:
            why = NO_FILE if skill is None else skill.trouble
            words = Sentence("/{name}: {why}", name=one_line(turn.scrub(name)), why=why)
            notes.append(Note(words, "warning"))
        else:
            called.append((skill, arguments))
    return called, notes


async def _see_files(
    turn: Turn, references: Sequence[Reference], sizes: dict[str, int]
) -> dict[str, attached.SeenFile]:
    """The files that exist, by name, in the order of the references."""
    seen: dict[str, attached.SeenFile] = {}
    results = turn.results
    room = attached.FileRoom(
        attached.IMAGES_A_CONVERSATION - results.attached, attached.MOST_OF_ALL - results.shown
    )
    for reference in references:
        name = reference.name
        if reference.kind != "file" or name in seen or name.endswith("/"):
            continue
        if name in sizes:
            fits = sizes[name] <= attached.MOST_READ
            data = await turn.workplace.read_file(name, attached.MOST_READ) if fits else None
            seen[name] = await _see(turn, name, data, room)
    return seen


async def _see(
    turn: Turn, name: str, data: bytes | None, room: attached.FileRoom
) -> attached.SeenFile:
    title = one_line(turn.scrub(name))
    return await off_loop(
        lambda: attached.see(name, title, data, turn.model_info, room),
        len(data or b""),
        attached.SeenFile,
    )


def _missing(found: Named) -> list[Note]:
    if not found.missing:
        return []
    words = Sentence(
        "Mentioned in the message but not found: {names}.", names=", ".join(found.missing)
    )
    return [Note(words, "warning")]


def _not_shown(turn: Turn, seen: dict[str, attached.SeenFile]) -> list[Note]:
    return [
        Note(Sentence(NOT_SHOWN, name=one_line(turn.scrub(name)), why=one.why), "warning")
        for name, one in seen.items()
        if one.why
    ]
