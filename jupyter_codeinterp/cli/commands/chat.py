"""``chat``: a conversation about a notebook in the terminal."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import dataclass

from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory

from ...base.errors import CodeInterpError
from ...base.visible import visible_line
from ...run.approval.modes import MODES, within
from ...view.skills import Skill
from ...wire.events import Mode, Reference
from ..local.problems import DONE, Problem
from ..terminal.fronts import ASKED, UNASKED
from ..terminal.people import Person
from ..terminal.stopping import Stopping
from .run import OpenedNotebook, front_for, mode_of, need_terminal, not_allowed, opened
from .turn import to_the_end

HELP = {
    "/mode": f"MODE: change the permission mode, one of {', '.join(MODES)}",
    "/model": "NAME: use another model",
    "/help": "lists the commands",
    "/quit": "leaves, like Ctrl+D. Ctrl+C stops a turn",
}
WELCOME = "Ask about {notebook}, or say what to do in it. /help lists the commands, Ctrl+D leaves."
UNKNOWN = "There is no command {name}. /help lists them."


def chat(options: argparse.Namespace, stopping: Stopping) -> int:
    need_terminal(False, "a task with: jupyter codeinterp run NOTEBOOK PROMPT --yes")
    return asyncio.run(_chat(options, stopping))


async def _chat(options: argparse.Namespace, stopping: Stopping) -> int:
    mode = mode_of(options)
    async with opened(options, mode, stopping) as here:
        front = front_for(here, options, stopping)
        if not isinstance(front, Person):
            raise TypeError("a chat needs a person")
        front.note(WELCOME.format(notebook=options.notebook))
        await _Chat(here, front, stopping, mode, options.model or "").begin()
    return DONE


@dataclass
class _Chat:
    _here: OpenedNotebook
    _front: Person
    _stopping: Stopping
    _mode: Mode
    _model: str

    async def begin(self) -> None:
        """Return when the person leaves."""
        self._yes = self._front.yes
        self._session: PromptSession[str] = PromptSession(history=InMemoryHistory())
        while (text := await self._asked()) is not None:
            word, _, rest = text.partition(" ")
            if word == "/quit":
                return
            if not text:
                continue
            try:
                skills = await self._here.skills() if word.startswith("/") else []
                if not self._commanded(word, rest.strip(), skills):
                    await self._turn(text, skills)
            except Problem as problem:
                self._front.note(problem.words)
            except CodeInterpError as error:
                self._front.note(error.message)
            self._stopping.again()

    async def _asked(self) -> str | None:
        """The person's next line; None if the person leaves."""
        try:
            text = await self._session.prompt_async(
                f"{MODES[self._mode].label}> ", handle_sigint=False
            )
        except KeyboardInterrupt:
            return ""
        except EOFError:
            return None
        return text.strip()

    def _commanded(self, word: str, rest: str, skills: list[Skill]) -> bool:
        """Carry out a command of this file, or refuse an unknown one; False for any other line."""
        if word == "/help":
            for name, words in HELP.items():
                self._front.note(f"{name} {words}")
            for one in skills:
                told = one.trouble or one.description
                self._front.note(visible_line(f"/{one.name}  {told}"))
        elif word == "/mode":
            self._set_mode(rest.lower())
        elif word == "/model":
            self._model = rest or self._model
            self._front.note(f"The model is {visible_line(self._model) or 'the default'}.")
        elif word.startswith("/") and not any(word == f"/{one.name}" for one in skills):
            self._front.note(UNKNOWN.format(name=visible_line(word)))
        else:
            return False
        return True

    def _set_mode(self, name: str) -> None:
        modes: dict[str, Mode] = {str(mode): mode for mode in MODES}
        mode = modes.get(name)
        if mode is None:
            self._front.note(f"/mode takes one of {', '.join(MODES)}.")
        elif not within(mode, self._here.highest):
            self._front.note(not_allowed(mode, self._here.highest))
        else:
            self._mode = mode
            self._front.yes = self._yes if MODES[mode].unasked else ""
            self._front.note(f"{MODES[mode].label}: {self._asks()}")

    def _asks(self) -> str:
        may = MODES[self._mode]
        if may.unasked:
            return UNASKED.get(self._yes, ASKED)
        return "Asks before each run and change." if may.changes else "Nothing runs or changes."

    async def _turn(self, text: str, skills: list[Skill]) -> None:
        called = text.partition(" ")[0].removeprefix("/")
        named = [one for one in skills if one.name == called and not one.trouble][:1]
        references = tuple(Reference("skill", one.name) for one in named)
        await self._here.talk.send(text, self._mode, self._model, references)
        await to_the_end(self._here.talk, self._front, self._stopping)
