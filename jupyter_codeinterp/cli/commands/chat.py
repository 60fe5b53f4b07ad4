"""``chat``: a conversation about a notebook in the terminal."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.history import InMemoryHistory

from ...adapters import typed_ahead
from ...core.approval.modes import HIGHEST, MODES, within
from ...core.errors import CodeInterpError
from ...core.own_command import OwnCommand
from ...core.redaction.found_secrets import looks_like_key
from ...core.visible import visible_line
from ...core.wire.events import Mode, Reference
from ...server.files.own_commands import own_commands
from ..local.problems import DONE, Problem
from ..terminal.fronts import ASKED, UNASKED
from ..terminal.people import Person
from ..terminal.stopping import Stopping
from .run import front_for, mode_of, need_terminal, opened
from .turn import Conversation, LocalConversation, nothing, to_the_end

HELP = {
    "/mode": f"MODE: change the permission mode, one of {', '.join(MODES)}",
    "/model": "NAME: use another model",
    "/help": "lists the commands",
    "/quit": "leaves, like Ctrl+D. Ctrl+C stops a turn",
}
WELCOME = "Ask about {notebook}, or say what to do in it. /help lists the commands, Ctrl+D leaves."
EARLIER = "This is a new conversation. --continue goes on with the last one: {title}"
Commands = Callable[[], Awaitable[list[OwnCommand]]]
LOOKS_LIKE_KEY = "This looks like an API key, so it was not sent."
UNKNOWN = "There is no command {name}. /help lists them."


def chat(options: argparse.Namespace, stopping: Stopping) -> int:
    need_terminal(False, "a task with: jupyter codeinterp run NOTEBOOK PROMPT --yes")
    return asyncio.run(_chat(options, stopping))


async def _chat(options: argparse.Namespace, stopping: Stopping) -> int:
    mode, told = mode_of(options), ""
    async with AsyncExitStack() as stack:
        stack.enter_context(typed_ahead.echo(False))  # The prompt shows what was typed before.
        talk: Conversation
        highest: Mode = HIGHEST
        if options.server:
            from .elsewhere import conversation_there  # with an HTTP client

            talk = await stack.enter_async_context(conversation_there(options))
            language: Callable[[], str] = str
            file = None
            commands: Commands = _none
        else:
            here = await stack.enter_async_context(opened(options, mode))
            bench, path, file, last = here.bench, here.path, here.file, here.latest
            if last is not None and not options.continued:
                told = EARLIER.format(title=last.title)
            talk = await here.conversation(options, stopping)
            highest = bench.manager.rules.highest_mode
            language = lambda: bench.language  # noqa: E731
            commands = lambda: own_commands(bench.contents, path)  # noqa: E731
        front = front_for(language, False, stopping, options.yes or "", file)
        if not isinstance(front, Person):
            raise TypeError("a chat needs a person")
        for words in filter(None, (WELCOME.format(notebook=options.notebook), told)):
            front.note(words)
        model = options.model or ""
        await _Chat(talk, front, stopping, commands, mode, highest, model).begin()
    return DONE


async def _none() -> list[OwnCommand]:
    return []


@dataclass
class _Chat:
    _talk: Conversation
    _front: Person
    _stopping: Stopping
    _commands: Commands
    _mode: Mode
    _highest: Mode
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
                own = await self._commands() if word.startswith("/") else []
                if not self._commanded(word, rest.strip(), own):
                    await self._turn(text, own)
            except Problem as problem:
                self._front.note(problem.words)
            except CodeInterpError as error:
                self._front.note(error.message)
            self._stopping.again()

    async def _asked(self) -> str | None:
        """The person's next line; None if the person leaves."""
        words = [*HELP, *(f"/{one.name}" for one in await self._commands() if not one.trouble)]
        completer = WordCompleter(words, sentence=True)
        try:
            text = await self._session.prompt_async(
                f"{MODES[self._mode].label}> ",
                completer=completer,
                complete_while_typing=False,
                handle_sigint=False,
            )
        except KeyboardInterrupt:
            return ""
        except EOFError:
            return None
        return text.strip()

    def _commanded(self, word: str, rest: str, own: list[OwnCommand]) -> bool:
        """Carry out a command of this file, or refuse an unknown one; False for any other line."""
        if word == "/help":
            for name, words in HELP.items():
                self._front.note(f"{name} {words}")
            for one in own:
                told = one.trouble or one.description
                self._front.note(visible_line(f"/{one.name} {one.hint}  {told}"))
        elif word == "/mode":
            self._set_mode(rest.lower())
        elif word == "/model":
            self._model = rest or self._model
            self._front.note(f"The model is {visible_line(self._model) or 'the default'}.")
        elif word.startswith("/") and not any(word == f"/{one.name}" for one in own):
            self._front.note(UNKNOWN.format(name=visible_line(word)))
        else:
            return False
        return True

    def _set_mode(self, name: str) -> None:
        modes: dict[str, Mode] = {str(mode): mode for mode in MODES}
        mode = modes.get(name)
        if mode is None:
            self._front.note(f"/mode takes one of {', '.join(MODES)}.")
        elif not within(mode, self._highest):
            self._front.note(f"The {mode} mode is not allowed here (c.CodeInterp.highest_mode).")
        else:
            self._mode = mode
            self._front.yes = self._yes if MODES[mode].unasked else ""
            self._front.note(f"{MODES[mode].label}: {self._asks()}")

    def _asks(self) -> str:
        may = MODES[self._mode]
        if may.unasked:
            return UNASKED.get(self._yes, ASKED)
        return "Asks before each run and change." if may.changes else "Nothing runs or changes."

    async def _turn(self, text: str, own: list[OwnCommand]) -> None:
        if looks_like_key(text):
            self._front.note(LOOKS_LIKE_KEY)
            return
        called = text.partition(" ")[0].removeprefix("/")
        named = [one for one in own if one.name == called and not one.trouble][:1]
        references = tuple(Reference(one.kind, one.name) for one in named)
        await self._talk.send(text, self._mode, self._model, references)
        begin = self._talk.watch if isinstance(self._talk, LocalConversation) else nothing
        await to_the_end(self._talk, self._front, self._stopping, begin)
