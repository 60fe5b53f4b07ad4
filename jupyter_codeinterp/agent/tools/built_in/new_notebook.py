"""Make a notebook and continue there in a new conversation, after the person's decision."""

from __future__ import annotations

import re
from typing import Annotated

import msgspec
from msgspec import Meta

from ....base.errors import CommandError, StoreError
from ....base.sentences import Sentence, as_it_is
from ....base.visible import visible_line
from ....wire.events import WentOn
from ....wire.messages import ToolUse
from ....wire.ports import NewNotebooks
from ..shared.base import Tool
from ..shared.step import CUT_OFF, DIFFERS, Step, confirm, draft_of, is_refused

NOT_AVAILABLE = Sentence("Not available here: only this notebook is open. Go on in it.")
MAKE = Sentence("Make {name} beside this notebook and go on there.\nTask: {task}")
TAKEN = Sentence("The name was taken meanwhile. Decide again.")
NO_TASK = Sentence("Say in one sentence what to do there.")
TOO_LONG = Sentence("The task is too long. Say in one sentence what to do there.")
NOT_BEGUN = Sentence("Made {name}, but could not go on there: {why}")
LONGEST_TASK = 1_000
"""Characters of a task, which the card shows in full."""
LONGEST_NAME = 60
"""Characters of a name. With its ending it stays below the 255 bytes of most file systems."""
_ENDING = ".ipynb"
_NOT_IN_NAMES = re.compile(r'[<>:"|?*]')
"""Printable characters that Windows or shells do not allow."""


class NewNotebook(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    task: Annotated[str, Meta(description="One sentence: what to do there.")]


async def _work(step: Step, call: ToolUse, given: NewNotebook) -> None:
    turn = step.turn
    task = visible_line(turn.scrub(given.task[: LONGEST_TASK + 1]))
    if is_refused(step, call):
        return
    if turn.workplace.new_notebooks is None:
        _not_made(step, call, NOT_AVAILABLE)
    elif not task or len(given.task) > LONGEST_TASK:
        _not_made(step, call, TOO_LONG if task else NO_TASK)
    else:
        name = safe_name(turn.scrub(given.name[:LONGEST_TASK]))
        await _ask_and_go(step, call, turn.workplace.new_notebooks, name, task)


async def _ask_and_go(
    step: Step, call: ToolUse, notebooks: NewNotebooks, wanted: str, task: str
) -> None:
    turn, results, why = step.turn, step.turn.results, Sentence()
    while True:
        try:
            name = await notebooks.free_name(wanted)
        except CommandError as error:
            _not_made(step, call, error.message)
            return
        title = Sentence("Make {name}", name=name)
        words = Sentence(MAKE, name=name, task=task)
        draft = draft_of(call, "notebook", title, words, why)
        decision = await confirm(step, call, draft)
        if decision is None:
            return
        if decision.source != draft.source:
            why = DIFFERS
            continue
        # The result in case Stop comes meanwhile.
        step.results[call.id] = results.make(
            call, "interrupted", CUT_OFF, title=title, summary=CUT_OFF
        )
        try:
            path, session_id = await notebooks.go_on(name, task, decision.window)
        except (CommandError, StoreError) as error:
            if error.code == "name_taken":
                why = TAKEN
                continue
            made = error.code != "not_made"
            not_begun = Sentence(NOT_BEGUN, name=name, why=error.message)
            _not_made(step, call, not_begun if made else error.message, title)
            return
        turn.went_on = path
        turn.show(WentOn(draft.draft_id, path, session_id))
        done = Sentence("Made {name}. A conversation there goes on with the task.", name=name)
        step.results[call.id] = results.make(call, "ok", done, title=title)
        return


def _not_made(step: Step, call: ToolUse, words: Sentence, title: Sentence | None = None) -> None:
    step.results[call.id] = step.turn.results.make(
        call, "not_started", words, title=title or as_it_is(NEW_NOTEBOOK.label), summary=words
    )


def safe_name(given: str) -> str:
    """A notebook's file name without folders, control characters and leading dots."""
    last = re.split(r"[/\\]", given)[-1]
    shown = _NOT_IN_NAMES.sub("", "".join(c for c in last if c.isprintable()))
    stem = shown.strip(". ")
    if stem.lower().endswith(_ENDING):
        stem = stem[: -len(_ENDING)]
    return (stem[:LONGEST_NAME].strip(". ") or "Untitled") + _ENDING


NEW_NOTEBOOK = Tool(
    "new_notebook",
    Sentence("Go on in a new notebook"),
    "Make a notebook beside this one and go on there, if the person agrees. This turn then ends.",
    NewNotebook,
    effect="changes",
    work=_work,
    action="notebook",
)
