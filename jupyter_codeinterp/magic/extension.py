"""Registers the magics with ``%load_ext``. Imports the agent only on the first prompt.

Errors are one line, never a traceback.
"""

from __future__ import annotations

import logging
import re
import sys
from typing import TYPE_CHECKING, Any

from .asking.earlier import Earlier
from .asking.options import Options, UsageProblem, interpolated, parse
from .asking.typed import Typed
from .commands import COMMANDS, Command, matcher

if TYPE_CHECKING:
    from ..wire.events import Event
    from .turn.assistant import Assistant

_SILENT = logging.NullHandler()
_FIRST_LINE = re.compile(r"%%(?:ai|codeinterp)(?:\s|$)")
_QUESTION = re.compile(r"%(ai|codeinterp) +(\S.*\?)")
NAME, ALIAS = "ai", "codeinterp"
EMPTY = "The prompt is empty. Write the task below %%ai."
NESTED = "Code that runs for a prompt cannot start another prompt. Use your own cell."
TAKEN = "{module} already provides %%ai here. Use %%codeinterp instead; it does the same."
FORMS = {
    "markdown": "",
    "text": "[Write the answer as plain text, without Markdown.]",
    "code": "[The final answer must be only code, in one fenced block.]",
    "json": "[The final answer must be one JSON value and nothing else.]",
}
QUESTION = "[This is a question: answer in words. Nothing runs.]"


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
        self._assistant: Assistant | None = None
        self._asking = False
        self._matcher: Any = None
        # Without a handler, Python prints a package's log into the notebook.
        logging.getLogger(__package__.partition(".")[0]).addHandler(_SILENT)

    def register(self) -> None:
        owner = _owner(self.shell)
        if owner:
            print(TAKEN.format(module=owner))
        names = (ALIAS,) if owner else (NAME, ALIAS)
        for name in names:
            self.shell.register_magic_function(_magic(self, name), "line_cell", name)
        self.shell.input_transformers_cleanup.append(_with_body)
        self._matcher = matcher(names)
        self.shell.Completer.custom_matchers.append(self._matcher)

    def unregister(self) -> None:
        self.earlier.unregister()
        self._typed.unregister()
        if self._matcher in self.shell.Completer.custom_matchers:
            self.shell.Completer.custom_matchers.remove(self._matcher)
        transformers = self.shell.input_transformers_cleanup
        if _with_body in transformers:
            transformers.remove(_with_body)
        for kind in ("line", "cell"):
            magics = self.shell.magics_manager.magics[kind]
            for name in (NAME, ALIAS):
                if getattr(magics.get(name), "extension", None) is not None:
                    del magics[name]

    @property
    def assistant(self) -> Assistant:
        if self._assistant is None:
            from .turn.assistant import Assistant  # Slow to import.

            self._assistant = Assistant(self.shell)
        return self._assistant

    @property
    def is_loaded(self) -> bool:
        """Whether ``assistant`` exists already; creating it takes a moment."""
        return self._assistant is not None

    # --- the magic -------------------------------------------------------------------

    def call(self, name: str, line: str, cell: str | None) -> None:
        if self._asking:
            print(NESTED, file=sys.stderr)
            return
        self._asking = True
        try:
            if cell is None:
                self._command(name, line)
            else:
                self._prompt(name, line, cell)
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

    def _prompt(self, name: str, line: str, cell: str | None) -> None:
        options, first = parse(line)
        prompt = f"{first}\n{cell or ''}".strip()
        if not prompt:
            raise UsageProblem(EMPTY)
        self._check(name, line, cell, options)
        # Code that calls the magic gets no kept answer, because that may run without asking.
        keeps = self._typed.is_typed(name, line, cell)
        self.ask(self._put_in(prompt), options, keeps=keeps)

    def _command(self, name: str, line: str) -> None:
        word, _, rest = line.strip().partition(" ")
        command = COMMANDS["help"] if word in ("", "-h", "--help") else COMMANDS.get(word)
        if command is None and rest.strip():
            self._prompt(name, line, None)
            return
        if command is None:
            raise UsageProblem(
                f"Unknown command: %{name} {word}. The commands are {', '.join(COMMANDS)}. To "
                f"ask something, write it as %{name} QUESTION, or below %%{name} in a cell."
            )
        if isinstance(command, Command):
            command.work(self, rest.strip())
            return
        options, more = parse(rest)
        self._check(name, line, None, options)
        if not options.context:
            raise UsageProblem(f"%{name} {word} needs the context. Leave out --no-context.")
        text, extra, question = command(self)
        options.question = options.question or question
        self.ask("\n".join(filter(None, (text, more))), options, extra)

    def _check(self, name: str, line: str, cell: str | None, options: Options) -> None:
        words = self._typed.refusal(name, line, cell, options.yes)
        if words:
            raise UsageProblem(words)

    def _put_in(self, prompt: str) -> str:
        shell = self.shell
        hidden = shell.user_ns_hidden
        known = {
            name: value
            for name, value in shell.user_ns.items()
            if not (name in hidden and hidden[name] is value)
        }
        return interpolated(prompt, known, self.earlier.private_names)

    def ask(
        self, text: str, options: Options, extra: tuple[Any, ...] = (), keeps: bool = False
    ) -> None:
        """Run a prompt. ``extra``: additional cells for the model. ``keeps``: use a kept answer,
        and keep a new one. Raises PromptFailed under ``--strict``."""
        from ..run.approval.modes import ASKING, BY_RANK, RUN_ALL
        from .front.choose import NoReview, review_for, screen_for
        from .front.turn_front import TurnFront
        from .front.widgets import hold_back
        from .kept import Keeping
        from .turn.assistant import Request

        shell, assistant = self.shell, self.assistant
        screen = screen_for(shell)
        review = review_for(shell, screen, assistant, options.yes)
        nobody = options.yes and isinstance(review, NoReview)
        kept = Keeping(text, options) if keeps else None
        answer = kept.model() if kept is not None else None

        def take(events: list[Event]) -> None:
            if kept is not None:
                kept.take(events, assistant.secrets.scrub, screen.note)

        front = TurnFront(
            assistant,
            screen,
            review,
            options,
            f"[{shell.execution_count - 1}]",
            lambda source: shell.set_next_input(source, replace=False),
            lambda value: self._keep(options.store, value),
            answer,
            take,
        )
        instructions = (QUESTION if options.question else "", FORMS[options.form])
        quiet = options.question or options.planned
        unasked = options.yes and not options.cell
        request = Request(
            "\n\n".join(filter(None, (text, *instructions))),
            options.model or assistant.model,
            BY_RANK[0] if quiet else RUN_ALL if unasked else ASKING,
            options.max_steps,
            (*self.earlier.cells(), *extra) if options.context else None,
            "run" if nobody else "",
            answer,
        )
        assistant.ask(request, front)
        if front.awaits_click:
            hold_back(shell)
        elif front.fault and options.strict:
            raise PromptFailed(front.fault)

    def _keep(self, name: str, value: Any) -> None:
        if name:
            self.shell.push({name: value})


def _magic(extension: Extension, name: str) -> Any:
    def magic(line: str, cell: str | None = None) -> None:
        extension.call(name, line, cell)

    magic.__name__ = name
    magic.__doc__ = "Ask the code interpreter. %ai help shows how."
    # Otherwise IPython expands variables in the line, which is the person's prompt.
    magic._ipython_magic_no_var_expand = True  # type: ignore[attr-defined]
    magic.extension = extension  # type: ignore[attr-defined]
    return magic


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
    return [f"get_ipython().run_line_magic({found[1]!r}, {found[2]!r})\n"]


# A terminal skips this transformer when it checks for complete input, so it asks for more lines.
_with_body.has_side_effects = True  # type: ignore[attr-defined]


def _owner(shell: Any) -> str:
    """The other package that already provides ``%%ai``; "" for none."""
    found = shell.magics_manager.magics["cell"].get(NAME)
    if found is None or getattr(found, "extension", None) is not None:
        return ""
    owner = type(getattr(found, "__self__", None)) if hasattr(found, "__self__") else found
    return str(getattr(owner, "__module__", "")).split(".")[0] or "another extension"


_loaded: dict[int, Extension] = {}


def load(shell: Any) -> None:
    unload(shell)
    extension = _loaded[id(shell)] = Extension(shell)
    extension.register()


def unload(shell: Any) -> None:
    extension = _loaded.pop(id(shell), None)
    if extension is not None:
        extension.unregister()
