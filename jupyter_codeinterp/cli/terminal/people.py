"""Shows a turn to a person: streamed text, cells with results, and a question before each run."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Union

from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from ...base.visible import visible, visible_line
from ...journal.transcript import for_people
from ...notebook.live.hand_over import IN_FILE
from ...run.approval.decisions import Alone
from ...view.plain_text import CELL_LINK
from ...wire import events as e
from ...wire.events import Draft
from ...wire.findings import sentence
from ...wire.ops import called
from . import asking
from .drawing import (
    Barred,
    Inert,
    MarkdownText,
    Running,
    beside,
    bounded,
    code_text,
    difference,
    going_on,
)
from .fronts import Front, Verdict, covers, more, refused
from .stopping import Stopping

# -------------------------------------------------------------------------------------------------
# Links to cells as text: they do not work in a terminal.

Cells = Mapping[str, tuple[int, Union[int, None]]]
"""Places (0 if unknown) and execution counts of cells, by id."""


def cells_of(notebook: Path | None) -> Cells:
    """The cells of a notebook's file; none if it is unreadable."""
    try:
        cells = json.loads(notebook.read_bytes())["cells"] if notebook is not None else []
        return {str(one["id"]): (place, _count(one)) for place, one in enumerate(cells, 1)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return {}


def _count(cell: dict[str, object]) -> int | None:
    count = cell.get("execution_count")
    return count if isinstance(count, int) else None


def without_cells(text: str, cells: Cells, *, are_all: bool = True) -> str:
    """Replace links to cells by their text, and name the cells at the end of the line, unless a
    text has the cell's number. ``are_all``: whether a cell that ``cells`` lack is gone, unless they
    are none."""

    def name(cell_id: str) -> str:
        if are_all and cells and cell_id not in cells:
            return "cell deleted"
        return called(*cells.get(cell_id, (0, None)))

    lines = []
    for line in text.split("\n"):
        names = []
        for words, cell_id in CELL_LINK.findall(line):
            place, _ = cells.get(cell_id, (0, None))
            if not (place and re.search(rf"\bcell {place}\b", words, re.IGNORECASE)):
                names.append(name(cell_id))
        shown = ", ".join(dict.fromkeys(filter(None, names)))
        plain = CELL_LINK.sub(r"\1", line)
        lines.append(f"{plain} ({shown})" if shown and "|" not in line else plain)
    return "\n".join(lines)


# -------------------------------------------------------------------------------------------------
# The question for a waiting draft, and its possible answers.

KEYS = {
    **dict.fromkeys(("r", "run", "y", "yes"), "run"),
    **dict.fromkeys(("n", "no"), "reject"),
    **dict.fromkeys(("e", "edit"), "edit"),
}
ALL = {"a": "all", "all": "all"}
ONE_LETTER = "Nothing was decided. Answer with one letter; only n takes a reason."


def question_for(draft: Draft) -> str:
    runs = draft.runs and draft.kind != "delete"
    asked, choices = ("Run it?", ["[r]un"]) if runs else ("Do it?", ["[y]es"])
    if draft.editable:
        choices.append("[e]dit")
    choices.append("[n]o REASON")
    if draft.can_run_all:
        choices.append("[a]ll code in this turn")
    return f"{asked} {', '.join(choices)}: "


_LEXERS = {"edit": "diff", "markdown": "markdown", "delete": "diff"}
_LEXERS |= dict.fromkeys(("kernel", "verify", "tool"), "text")
_VERBS = {
    "insert": "",
    "edit": "edits a cell",
    "markdown": "text",
    "delete": "deletes a cell",
    "scratch": "leaves no cell",
}
_SHOWN = ("run_cell", "run_cells", "edit_cell", "scratch", "kernel", "verify")
"""Tools whose result is shown in full."""
_SHORT = ("rerun", "move")
"""Kinds without code to show: the line with the title is enough."""
_PLACE = re.compile(r"status=ok cell_id=\S{1,100} place=(\d{1,9})/")
_PICTURE = re.compile(r"^\[image: [^\]\n]{1,100}\]$", re.M)
_GOOD, _BAD = "green", "red"


class Person(Front):
    """``asks``: whether a person can answer; ``yes``: see ``fronts.py``; ``notebook``: its file,
    if it is on this machine."""

    def __init__(
        self,
        console: Console,
        stopping: Stopping,
        asks: bool,
        yes: Alone = "",
        notebook: Path | None = None,
    ) -> None:
        self._console = console
        self._stopping = stopping
        self._asks = asks
        super().__init__("" if asks else yes)
        self.yes = yes
        self._notebook = notebook
        self._live: Live | None = None
        self._is_asking = False
        """Whether a question waits for an answer."""
        self._streamed = ""
        self._titles: dict[str, str] = {}
        """Titles of tool calls."""
        self._opened: dict[str, e.DraftOpened] = {}
        self._waiting: dict[str, e.Draft] = {}
        """Drafts already shown, by id."""
        self._edits: dict[str, str] = {}
        """The person's edits of these drafts, by id."""
        self._running: Running | None = None
        self._cells: dict[str, tuple[int, int | None]] = {}
        """Place (0: unknown) and execution count of cells, by id."""
        self._names: dict[str, str] = {}
        """Titles of cells, by id."""
        self._not_done: dict[str, str] = {}
        """Titles of drafts rejected in this turn without asking, and what option allows each."""

    # --- events ----------------------------------------------------------------------

    def show(self, event: e.Event, raw: bytes) -> None:
        if isinstance(event, e.StepStarted):
            self._streamed = ""
            self._busy("thinking")
        elif isinstance(event, e.TextDelta):
            self._streamed += event.text
            self._busy("", self._streamed)
        elif isinstance(event, e.TextDone):
            self._text(event.text)
        elif isinstance(event, e.StepDiscarded):
            self._streamed = ""
            if event.reason:
                self._line("↻", "yellow", event.reason)
        elif isinstance(event, e.Retrying):
            self._retrying(event)
        elif isinstance(event, e.Note) and event.text != IN_FILE:
            self._line("·", "dim" if event.level == "info" else "yellow", event.text)
        elif isinstance(event, e.QuestionAsked):
            self._question(event)
        elif isinstance(event, e.QuestionAnswered):
            self._line(">", "dim", event.answer)
        elif isinstance(event, e.TurnEnded):
            self._ended(event)
        else:
            self._card(event)

    def _retrying(self, event: e.Retrying) -> None:
        """Show the wait; as a line where nothing can be animated."""
        words = f"{event.message} Retrying in {event.delay:.0f} s."
        if self._console.is_terminal:
            self._busy(words)
        else:
            self._line("↻", "yellow", words)

    def _card(self, event: e.Event) -> None:
        if isinstance(event, e.ToolStarted):
            self._titles[event.call_id] = event.title or event.name
            self._busy(f"writing {self._title(event.call_id)}")
        elif isinstance(event, e.DraftOpened):
            self._titles[event.call_id] = event.title or self._titles.get(event.call_id, "")
            self._opened[event.draft_id] = event
            self._busy(f"writing {self._title(event.call_id)}")
        elif isinstance(event, e.DraftWaiting):
            self._titles[event.draft.call_id] = event.draft.title
            self._show_draft(event.draft)
        elif isinstance(event, e.DraftDecided):
            self._decided(event)
        elif isinstance(event, e.KernelWaiting):
            self._busy("waiting for the kernel")
        elif isinstance(event, e.RunStarted):
            self._running = Running(visible_line(f"running {self._title(event.call_id)}"))
            self._animate(self._running)
        elif isinstance(event, e.ToolDone):
            self._done(event)

    def _title(self, call_id: str) -> str:
        return self._titles.get(call_id, "")

    def _decided(self, event: e.DraftDecided) -> None:
        opened = self._opened.get(event.draft_id)
        asked = event.draft_id in self._waiting or event.source is None
        if opened is not None and opened.kind not in _SHORT and event.action == "run" and not asked:
            self._code(opened.kind, opened.title, event.source or "", opened.old_source)
        if event.action == "run":
            self._busy(f"running {self._title(event.call_id)}")

    # --- on the screen ---------------------------------------------------------------

    def print(self, what: RenderableType) -> None:
        self.pause()
        if self._is_asking:  # The cursor is behind the question.
            self._is_asking = False
            self._console.print("")
        self._console.print(Inert(what), highlight=False, markup=False, soft_wrap=False)

    def note(self, words: str) -> None:
        self.print(Text(visible_line(words)))

    def _line(self, sign: str, style: str, words: str) -> None:
        self.print(beside(Text(sign, style=style), Text(visible_line(words), style=style)))

    def _text(self, text: str) -> None:
        self._streamed = ""
        if text.strip():
            read = cells_of(self._notebook)
            shown = without_cells(text, read or self._cells, are_all=bool(read))
            self.print(MarkdownText(shown))
            self.print("")

    def _show_draft(self, draft: e.Draft) -> None:
        self._waiting[draft.draft_id] = draft
        self._edits.pop(draft.draft_id, None)
        self._code(draft.kind, draft.title, draft.source, draft.old_source)
        for notice in draft.notices:
            self._line("!", "yellow", notice)

    def _code(self, kind: str, title: str, source: str, old_source: str) -> None:
        """Show the whole code, because the person decides on it."""
        verb = _VERBS.get(kind, "")
        heading = Text.assemble((visible_line(title), "bold"), (f"  {verb}" if verb else "", "dim"))
        shown, language = source, _LEXERS.get(kind, "python")
        if kind == "delete":
            shown = "\n".join(f"-{one}" for one in old_source.split("\n"))
        elif kind == "edit":
            shown = difference(old_source, source)
        self.print(heading)
        self.print(Barred(Text("│", style="dim"), code_text(visible(shown, code=True), language)))

    def _done(self, event: e.ToolDone) -> None:
        good, self._running = event.status == "ok", None
        if event.status == "not_run":
            self._not_done.setdefault(event.title, "")
        if good and event.name in ("run_cells", "move_cell") and not event.cell_id:
            return  # Each cell has its own line.
        if event.cell_id and event.execution_count is not None:
            self._cells[event.cell_id] = (0, event.execution_count)
        facts = [visible_line(event.title)]
        place = _PLACE.match(event.detail)
        if event.name != "move_cell":
            self._names[event.cell_id] = event.title
        elif place:
            facts.append(f"(now cell {place[1]})")
        if event.execution_count is not None:
            facts.append(f"[{event.execution_count}]")
        if event.elapsed >= 0.1:
            facts.append(f"{event.elapsed:.1f} s")
        words = event.summary or event.status.replace("_", " ")
        summary = Text.assemble(("  ".join(facts), "dim"))
        if not good:
            summary.append(f"  {visible_line(words)}", style=_BAD)
        self.print(beside(Text("✓" if good else "✗", style=_GOOD if good else _BAD), summary))
        body = for_people(event).strip("\n")
        if place and self._notebook is not None:
            body = _PICTURE.sub(f"[picture: in cell {place[1]} of {self._notebook.name}]", body)
        if event.name in _SHOWN and body and (good or event.name == "verify"):
            self.print(Barred(Text(" "), Text(bounded(body))))
        if did := sentence(event.sandbox):
            self._line("·", "dim", did)
        for finding in event.findings:
            self._line("!", "yellow", str(finding))
        self.print("")

    def _question(self, event: e.QuestionAsked) -> None:
        self._text(event.question)
        for number, option in enumerate(event.options, 1):
            self._line(f"{number}", "bold", option)

    def _ended(self, event: e.TurnEnded) -> None:
        self.pause()
        names = [self._names[one] for one in event.edited if self._names.get(one)]
        edited = f"edited ({', '.join(map(visible_line, names))})" if names else "edited"
        again = "run as they were"
        again += f" ({len(event.failed_again)} failed)" if event.failed_again else ""
        counted = (
            (len(event.added), "added"),
            (len(event.edited), edited),
            (len(event.removed), "removed"),
            (len(event.run_again), again),
        )
        changes = ", ".join(f"{number} {word}" for number, word in counted if number)
        summary = f"Cells: {changes}." if changes else "No cells changed."
        if event.stop_reason == "end_turn":
            self._line("✓", _GOOD, summary)
        else:
            self._line("■", _BAD, f"{event.message or event.stop_reason} {summary}")
        failed = (
            ("Removed after a failure", [c.cell_id for c in event.cleared if c.how == "removed"]),
            ("Put back after a failure", [c.cell_id for c in event.cleared if c.how == "put_back"]),
            ("Failed and kept", event.failed),
        )
        for words, ids in failed:
            if ids:
                which = "; ".join(self._names.get(one) or one for one in ids)
                self._line("!", "yellow", f"{words}: {which}.")
        for option in dict.fromkeys(self._not_done.values()):
            titles = [title for title, allows in self._not_done.items() if allows == option]
            allow = f" To allow it: {option}." if option else ""
            self._line("!", "yellow", f"Not done: {'; '.join(titles)}.{allow}")
        self._not_done = {}
        made = [f"{one.path}{' (new)' if one.is_new else ''}" for one in event.files]
        made += [f"{event.files_left_out} more"] if event.files_left_out else []
        if made:
            self._line("·", "dim", f"Files written: {', '.join(made)}.")

    def _busy(self, doing: str, text: str = "") -> None:
        """Show the current activity at the bottom, in a terminal only."""
        if not self._console.is_terminal:
            return
        self._animate(going_on(doing, text))

    def progress(self, line: str) -> None:
        if self._running is not None and line:
            self._running.line = line

    def _animate(self, what: RenderableType) -> None:
        if not self._console.is_terminal:
            return
        shown = Inert(what)
        if self._live is None:
            self._live = Live(
                shown,
                console=self._console,
                transient=True,
                refresh_per_second=8,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        else:
            self._live.update(shown)

    def pause(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    # --- questions -------------------------------------------------------------------

    async def decide(self, draft: e.Draft) -> Verdict:
        if covers(self.yes, draft):
            return Verdict("run", draft.source)
        if not self._asks:
            self._not_done[draft.title] = more(draft)
            return refused(draft)
        keys = KEYS | ALL if draft.can_run_all else KEYS
        while True:
            source = self._edits.get(draft.draft_id, draft.source)
            key, _, rest = (await self._ask(question_for(draft))).partition(" ")
            word = keys.get(key.lower())
            if word == "edit" and not draft.editable:
                word = None
            if word is None or (rest and word != "reject"):
                self._line("·", "dim", ONE_LETTER)
            elif word == "edit":
                await self._edit(draft, source)
            elif word in ("run", "all"):
                return Verdict("run", source, run_all=word == "all")
            elif word == "reject":
                return Verdict("reject", source, reason=rest.strip())

    async def _edit(self, draft: e.Draft, source: str) -> None:
        suffix = ".md" if draft.kind == "markdown" else ".py"
        try:
            with self._stopping.ignored():
                edited = await asyncio.to_thread(asking.edit, source, suffix)
        except asking.NoEditor as error:
            self._line("!", "yellow", str(error))
            return
        self._edits[draft.draft_id] = edited
        self._code(draft.kind, draft.title, edited, draft.old_source)

    async def answer(self, question: e.QuestionAsked) -> str | None:
        if not self._asks:
            return None
        while True:
            answer = await self._ask("Your answer: ")
            if answer.isdecimal() and 1 <= int(answer) <= len(question.options):
                return question.options[int(answer) - 1]
            if answer:
                return answer

    async def go_on(self, ended: e.TurnEnded) -> bool:
        self.pause()
        return self._asks and await asking.agrees("Continue? [y]es, [n]o: ")

    async def _ask(self, prompt: str) -> str:
        self.pause()
        self._is_asking = True
        try:
            return await asking.ask(prompt)
        finally:
            self._is_asking = False
