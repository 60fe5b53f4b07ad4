"""Registers the magics with ``%load_ext``. Imports the agent only on the first prompt.

Errors are one line, never a traceback.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .earlier import Earlier
from .typed import NAME, Typed

if TYPE_CHECKING:
    from .assistant import Assistant

_SILENT = logging.NullHandler()
_FIRST_LINE = re.compile(r"%%ai(?:\s|$)")
_QUESTION = re.compile(r"%ai +(\S.*\?)")
EMPTY = "The prompt is empty. Write the task below %%ai."
NESTED = "Code that runs for a prompt cannot start another prompt. Use your own cell."


# -------------------------------------------------------------------------------------------------
# The line of ``%%ai``: options, then the beginning of the prompt.

OPTIONS = {
    "-m": "MODEL  the model to use",
    "-y": "run the code without asking",
    "--plan": "answer or write a plan: nothing runs",
    "--strict": "raise an error if the prompt fails, so that Run All stops",
}
FLAGS = {"-y": "yes", "--plan": "planned", "--strict": "strict"}
"""Options without a value, and their fields."""
LONG = {"--model": "-m", "--yes": "-y"}
"""Aliases."""
_WORD = re.compile(r"\S+")


class UsageProblem(Exception):
    """Wrong usage. The message is for the person."""


@dataclass
class Options:
    model: str = ""
    yes: bool = False
    planned: bool = False
    strict: bool = False


def parse(line: str) -> tuple[Options, str]:
    """The options and the rest of the line. ``--`` ends the options. Raises UsageProblem."""
    options = Options()
    place = 0
    while match := _WORD.search(line, place):
        word, sign, given = match[0].partition("=")
        if not re.match(r"--?[A-Za-z]|--$", word):
            break
        place = match.end()
        if word == "--":
            break
        name = LONG.get(word, word)
        if name not in OPTIONS:
            raise UsageProblem(f"There is no option {word}. See: %ai help")
        if name in FLAGS:
            setattr(options, FLAGS[name], True)
            continue
        value = None if sign else _WORD.search(line, place)
        if value is not None:
            given, place = value[0], value.end()
        if not given or given.startswith("-"):
            raise UsageProblem(f"{name} needs a value: {name} {OPTIONS[name]}.")
        options.model = given
    if options.yes and options.planned:
        raise UsageProblem("-y runs code, but --plan runs nothing. Use only one of them.")
    return options, line[place:].strip()


# -------------------------------------------------------------------------------------------------
# The magic.


class PromptFailed(Exception):
    """Raised under ``--strict``, to stop a run of the notebook."""

    def _render_traceback_(self) -> list[str]:
        """One line for IPython in place of a traceback."""
        return [f"PromptFailed: {self}"]


class Extension:
    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.earlier = Earlier(shell)
        self._typed = Typed(shell)
        self.loaded: Assistant | None = None
        """The assistant, from the first prompt on."""
        self._asking = False
        # Without a handler, Python prints a package's log into the notebook.
        logging.getLogger(__package__.partition(".")[0]).addHandler(_SILENT)

    def register(self) -> None:
        self.shell.register_magic_function(_magic(self), "line_cell", NAME)
        self.shell.input_transformers_cleanup.append(_with_body)

    def unregister(self) -> None:
        self.earlier.unregister()
        self._typed.unregister()
        transformers = self.shell.input_transformers_cleanup
        if _with_body in transformers:
            transformers.remove(_with_body)
        for kind in ("line", "cell"):
            magics = self.shell.magics_manager.magics[kind]
            if getattr(magics.get(NAME), "extension", None) is self:
                del magics[NAME]

    @property
    def assistant(self) -> Assistant:
        if self.loaded is None:
            from .assistant import Assistant  # Slow to import.

            self.loaded = Assistant(self.shell)
        return self.loaded

    # --- the magic -------------------------------------------------------------------

    def call(self, line: str, cell: str | None) -> None:
        if self._asking:
            print(NESTED, file=sys.stderr)
            return
        self._asking = True
        try:
            if cell is None:
                self._command(line)
            else:
                self._prompt(line, cell)
        except UsageProblem as problem:
            self._failed(line, str(problem))
        except KeyboardInterrupt:
            print("Stopped.")
        except Exception as error:
            # A CodeInterpError; its class is not imported here.
            if not hasattr(error, "message"):
                raise
            self._failed(line, error.message)
        finally:
            self._asking = False

    def _failed(self, line: str, words: str) -> None:
        """Show one line. Raises PromptFailed under ``--strict``."""
        if "--strict" in line.split():
            raise PromptFailed(words) from None
        print(words, file=sys.stderr)

    def _command(self, line: str) -> None:
        command = COMMANDS.get(line.strip() or "help")
        if command is None:
            self._prompt(line, None)
        else:
            command(self)

    def _prompt(self, line: str, cell: str | None) -> None:
        options, first = parse(line)
        prompt = f"{first}\n{cell or ''}".strip()
        if not prompt:
            raise UsageProblem(EMPTY)
        words = self._typed.refusal(line, cell, options.yes)
        if words:
            raise UsageProblem(words)
        self._ask(prompt, options)

    def _ask(self, prompt: str, options: Options) -> None:
        """Run a prompt. Raises PromptFailed under ``--strict``."""
        from ..run.approval.modes import ASKING, BY_RANK, RUN_ALL
        from .assistant import Request
        from .review import NoReview, review_for
        from .screens import screen_for
        from .turn_front import TurnFront

        shell, assistant = self.shell, self.assistant
        screen = screen_for(shell)
        review = review_for(shell, screen, assistant.main.breakable, options.yes)
        nobody = options.yes and isinstance(review, NoReview)
        front = TurnFront(assistant, screen, review)
        request = Request(
            prompt,
            options.model or assistant.model,
            BY_RANK[0] if options.planned else RUN_ALL if options.yes else ASKING,
            tuple(self.earlier.cells()),
            "run" if nobody else "",
        )
        assistant.ask(request, front.show)
        if front.fault and options.strict:
            raise PromptFailed(front.fault)


def _magic(extension: Extension) -> Any:
    def ai(line: str, cell: str | None = None) -> None:
        """Ask the code interpreter. %ai help shows how."""
        extension.call(line, cell)

    # Otherwise IPython expands variables in the line, which is the person's prompt.
    ai._ipython_magic_no_var_expand = True  # type: ignore[attr-defined]
    ai.extension = extension  # type: ignore[attr-defined]
    return ai


def _with_body(lines: list[str]) -> list[str]:
    """Prepare a prompt in one line: add the body that IPython requires of a cell magic, or call
    the line magic."""
    alone = len(lines) == 1 and _FIRST_LINE.match(lines[0]) is not None
    if alone:
        return [lines[0].rstrip("\n") + "\n", "\n"]
    found = _QUESTION.fullmatch(lines[0].strip()) if len(lines) == 1 else None
    if found is None:
        return lines
    # IPython would take the question mark for a request for help.
    return [f"get_ipython().run_line_magic({NAME!r}, {found[1]!r})\n"]


# A terminal skips this transformer when it checks for complete input, so it asks for more lines.
_with_body.has_side_effects = True  # type: ignore[attr-defined]


# -------------------------------------------------------------------------------------------------
# ``%ai models`` and the others, by name. Any other text after ``%ai`` is a prompt.


def _models(extension: Extension) -> None:
    assistant = extension.assistant
    for info in assistant.list_models():
        mark = "*" if info.id == assistant.model else " "
        name = "" if info.name == info.id else f"  {info.name}"
        print(f"{mark} {info.id}{name}")


def _reset(extension: Extension) -> None:
    had = extension.loaded is not None and extension.loaded.reset()
    print("Conversation forgotten." if had else "No conversation to forget.")


def _help(extension: Extension) -> None:
    lines = []
    for name, words in OPTIONS.items():
        value, _, meaning = words.rpartition("  ")
        lines.append(f"  {f'{name} {value}':30} {meaning}")
    print(HELP.format(options="\n".join(lines)))


COMMANDS: dict[str, Callable[[Extension], None]] = {
    "models": _models,
    "reset": _reset,
    "help": _help,
}
HELP = """\
%%ai [options], with the task below it
{options}

%ai TASK         ask in one line, with the same options
%ai models       list the models
%ai reset        forget the conversation"""


_loaded: dict[int, Extension] = {}


def load(shell: Any) -> None:
    unload(shell)
    extension = _loaded[id(shell)] = Extension(shell)
    extension.register()


def unload(shell: Any) -> None:
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.unregister()
