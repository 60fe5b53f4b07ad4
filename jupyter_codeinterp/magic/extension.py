"""What ``%load_ext jupyter_codeinterp`` registers. Quick: the agent is imported when it is asked.

What goes wrong is said in a line, never as a traceback.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from .asking.earlier import Earlier
from .asking.interpolation import interpolated
from .asking.options import Options, UsageProblem, parse
from .asking.typed import Typed
from .commands import COMMANDS, Command
from .completion import complete

if TYPE_CHECKING:
    from .turn.assistant import Assistant

_FIRST_LINE = re.compile(r"%%(?:ai|codeinterp)(?:\s|$)")
NAME, ALIAS = "ai", "codeinterp"
EMPTY = "The prompt is empty: write below %%ai what is to be done."
NESTED = (
    "A prompt is being answered: the code that runs for it cannot ask another. Use a cell of "
    "your own."
)
TAKEN = "%%ai belongs to {module} here. Use %%codeinterp, which is the same as %%ai elsewhere."
FORMS = {
    "markdown": "",
    "text": "[Write the answer as plain text, without Markdown.]",
    "code": "[The answer at the end must be code alone, in one fenced block.]",
    "json": "[The answer at the end must be one JSON value and nothing else.]",
}
QUESTION = "[This is a question: answer in words. Nothing runs.]"


class Extension:
    def __init__(self, shell: Any) -> None:
        self.shell = shell
        self.earlier = Earlier(shell)
        self._typed = Typed(shell)
        self._assistant: Assistant | None = None
        self._asking = False

    def register(self) -> None:
        owner = _owner(self.shell)
        if owner:
            print(TAKEN.format(module=owner))
        names = (ALIAS,) if owner else (NAME, ALIAS)
        for name in names:
            self.shell.register_magic_function(_magic(self, name), "line_cell", name)
            for prefix in (f"%{name}", f"%%{name}"):
                self.shell.set_hook("complete_command", self._complete, str_key=prefix)
        self.shell.input_transformers_cleanup.append(_with_body)

    def unregister(self) -> None:
        self.earlier.unregister()
        self._typed.unregister()
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
            from .turn.assistant import Assistant  # heavy: when it is asked for the first time

            self._assistant = Assistant(self.shell)
        return self._assistant

    @property
    def is_loaded(self) -> bool:
        """Whether anything has been asked."""
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
            print(problem, file=sys.stderr)
        except KeyboardInterrupt:
            print("Stopped.")
        except Exception as error:
            # A CodeInterpError has words for people; its class is not imported here.
            if not hasattr(error, "message"):
                raise
            print(error.message, file=sys.stderr)
        finally:
            self._asking = False

    def _prompt(self, name: str, line: str, cell: str) -> None:
        options, first = parse(line)
        prompt = f"{first}\n{cell}".strip()
        if not prompt:
            raise UsageProblem(EMPTY)
        self._check(name, line, cell, options)
        self.ask(self._put_in(prompt), options)

    def _command(self, name: str, line: str) -> None:
        word, _, rest = line.strip().partition(" ")
        command = COMMANDS.get(word or "help")
        if command is None:
            raise UsageProblem(
                f"There is no %{name} {word}. The commands are {', '.join(COMMANDS)}. "
                f"To ask something, write it into a cell below %%{name}."
            )
        if isinstance(command, Command):
            command.work(self, rest.strip())
            return
        options, more = parse(rest)
        self._check(name, line, None, options)
        if not options.context:
            raise UsageProblem(f"%{name} {word} needs what --no-context leaves out.")
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

    def ask(self, text: str, options: Options, extra: tuple[Any, ...] = ()) -> None:
        """``extra`` are cells that the model is told of besides."""
        from ..core.approval.modes import ASKING, BY_RANK, RUN_ALL
        from .front.choose import review_for, screen_for
        from .front.turn_front import TurnFront
        from .turn.assistant import Asked

        shell, assistant = self.shell, self.assistant
        screen = screen_for(shell)
        front = TurnFront(
            assistant,
            screen,
            review_for(shell, screen, assistant, options.yes),
            options,
            f"In [{shell.execution_count - 1}]",
            lambda source: shell.set_next_input(source, replace=False),
            lambda value: self._keep(options.store, value),
        )
        asides = (QUESTION if options.question else "", FORMS[options.form])
        quiet = options.question or options.planned
        unasked = options.yes and not options.cell
        asked = Asked(
            "\n\n".join(filter(None, (text, *asides))),
            options.model or assistant.model,
            BY_RANK[0] if quiet else RUN_ALL if unasked else ASKING,
            options.max_steps,
            (*self.earlier.cells(), *extra) if options.context else None,
        )
        assistant.ask(asked, front)

    def _keep(self, name: str, value: Any) -> None:
        if name:
            self.shell.push({name: value})

    def _complete(self, shell: Any, event: Any) -> list[str]:
        return complete(str(event.line))


def _magic(extension: Extension, name: str) -> Any:
    def magic(line: str, cell: str | None = None) -> None:
        extension.call(name, line, cell)

    magic.__name__ = name
    magic.__doc__ = "Ask the code interpreter. %ai help says how."
    # The line is the person's prompt: nothing in it is expanded by IPython.
    magic._ipython_magic_no_var_expand = True  # type: ignore[attr-defined]
    magic.extension = extension  # type: ignore[attr-defined]
    return magic


def _with_body(lines: list[str]) -> list[str]:
    """A prompt may stand in the magic's own line: IPython refuses a cell magic without a body."""
    alone = len(lines) == 1 and _FIRST_LINE.match(lines[0]) is not None
    return [lines[0].rstrip("\n") + "\n", "\n"] if alone else lines


# So that a terminal, which asks whether an input is complete, goes on with the next line.
_with_body.has_side_effects = True  # type: ignore[attr-defined]


def _owner(shell: Any) -> str:
    """The package that has ``%%ai`` already; "" if that is nobody, or ourselves."""
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
