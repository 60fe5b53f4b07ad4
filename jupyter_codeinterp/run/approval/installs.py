"""Finds the packages that code installs or removes.

A person decides on each such run, in every mode. The check reads magics, shell lines, shell cells,
and calls that start programs. Code can always hide what it does.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from ...base.sentences import Sentence, together
from ...base.visible import visible_line

_PARSED = 30_000
"""Characters of code that are parsed, as in ``code_warnings``."""
_LONGEST_LINE = 10_000
_MOST = 10
"""Packages named on a card."""
_LONGEST = 80
"""Characters of a package's name."""

_MANAGERS = frozenset(("pip", "conda", "mamba", "micromamba", "uv"))
_INSTALLS = frozenset(("install", "add", "update", "upgrade", "sync"))
_REMOVES = frozenset(("uninstall", "remove"))
_WITH_VALUE = frozenset(
    (
        *("-r", "--requirement", "-c", "--constraint", "-e", "--editable", "-t", "--target"),
        *("-i", "--index-url", "--extra-index-url", "--index", "--default-index"),
        *("-f", "--find-links", "--prefix", "--root", "--python", "-p", "-n", "--name"),
        *("--channel", "--trusted-host", "--proxy", "--cert", "--python-version", "--platform"),
    )
)
_SOURCES = frozenset(
    (
        *("-i", "--index-url", "--extra-index-url", "--index", "--default-index"),
        *("-f", "--find-links", "-c", "--channel"),
    )
)
_FILES = frozenset(("-r", "--requirement", "-e", "--editable"))

_LINE = re.compile(r"(?:[\w.,][\w.,\s]{0,200}=\s*)?(%%?|!!?)\s*(\S.*)$")
_PASSES_ON = re.compile(r"(?:capture|time|timeit|prun|system|sx)\b(?:\s+-\S+)*\s*")
_SHELL_CELL = re.compile(r"%%(?:bash|sh|script|cmd|system|sx|!)")
_STARTS = re.compile(
    r"(?:system|popen|run|Popen|call|check_call|check_output|getoutput|getstatusoutput"
    r"|create_subprocess_\w+|spawn\w*|exec\w*|run_line_magic|run_cell_magic|run_cell|magic|main)"
)
_PIP = re.compile(r"pip(?:3(?:\.\d+)?)?")
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?|\{sys\.executable\}|sys\.executable")
_REQUIREMENT = re.compile(
    r"[A-Za-z0-9][\w.-]{0,60}(?:\[[\w,. -]{1,60}\])?(?:[<>=!~]=?[\w.*<>=!~, ]{1,60})?"
)
_REDIRECTS = re.compile(r"(?:\d{0,9}|&)[<>]{1,3}&?(.*)")
_ELSEWHERE = {
    "r": re.compile(r"\b(?:install\.packages|pak|install_\w+|BiocManager::install)\s*\(([^)]*)"),
    "julia": re.compile(r"\bPkg\.add\s*\(([^)]*)"),
}
_QUOTED = re.compile(r"""["']([\w.@/-]{1,80})["']""")


class Install(msgspec.Struct, frozen=True):
    """``packages`` as written. ``here``: certainly into this kernel's environment. ``sources``:
    indexes and channels other than the default."""

    does: Literal["install", "remove"]
    packages: tuple[str, ...] = ()
    here: bool = True
    sources: tuple[str, ...] = ()


def installs(source: str, language: str) -> tuple[Sentence, ...]:
    """Lines for the card, one on installed and one on removed packages; () if none."""
    found = found_in(source, language)
    said: list[Sentence] = []
    for does in ("install", "remove"):
        same = [one for one in found if one.does == does]
        if same:
            said.append(_sentence(does, same))
    return tuple(said)


def requirements(source: str) -> tuple[str, ...]:
    """The requirements that Python code installs into this kernel's environment."""
    found = (one for one in found_in(source, "python") if one.does == "install" and one.here)
    return tuple(
        dict.fromkeys(
            name for one in found for name in one.packages if _REQUIREMENT.fullmatch(name)
        )
    )


def found_in(source: str, language: str) -> tuple[Install, ...]:
    if language.lower() in _ELSEWHERE:
        calls = _ELSEWHERE[language.lower()].finditer(source[:_PARSED])
        return tuple(Install("install", tuple(_QUOTED.findall(call[1]))) for call in calls)
    if language.lower() != "python":
        return ()
    words = (*_lines(source), *_calls(source))
    return tuple(filter(None, (_read(command, sign) for command, sign in words)))


NAMED = {
    ("install", True): Sentence("Installs {packages} into this kernel's environment: {names}."),
    ("install", False): Sentence("Installs {packages} into the environment of the shell: {names}."),
    ("remove", True): Sentence("Removes {packages} from this kernel's environment: {names}."),
    ("remove", False): Sentence("Removes {packages} from the environment of the shell: {names}."),
}
"""By what it does, and whether that is in this kernel's environment."""
UNNAMED = {
    ("install", True): Sentence("Installs packages into this kernel's environment."),
    ("install", False): Sentence("Installs packages into the environment of the shell."),
    ("remove", True): Sentence("Removes packages from this kernel's environment."),
    ("remove", False): Sentence("Removes packages from the environment of the shell."),
}


def _sentence(does: str, found: Sequence[Install]) -> Sentence:
    names = tuple(dict.fromkeys(name for one in found for name in one.packages))
    here = all(one.here for one in found)
    sources = tuple(dict.fromkeys(map(_short, (one for each in found for one in each.sources))))
    said = Sentence("From {sources}.", sources=", ".join(sources[:_MOST])) if sources else ""
    if not names:
        return together(UNNAMED[does, here], said)
    shown, more = ", ".join(map(_short, names[:_MOST])), len(names) - _MOST
    listed = Sentence("{names} and {more} more", names=shown, more=more) if more > 0 else shown
    counted = Sentence("{count} packages", count=len(names))
    counted = Sentence("1 package") if len(names) == 1 else counted
    return together(Sentence(NAMED[does, here], packages=counted, names=listed), said)


def _short(name: str) -> str:
    line = visible_line(name)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


# --- commands in code ------------------------------------------------------------------


def _lines(source: str) -> Iterator[tuple[list[str], str]]:
    """The commands of magics and shell lines, as words, with their sign (``%``, ``!``)."""
    in_shell = False
    for line in source.split("\n"):
        text = line[:_LONGEST_LINE].strip()
        if in_shell:
            if _is_named(text):
                yield from ((command, "!") for command in _commands(text))
            continue
        in_shell = _SHELL_CELL.match(text) is not None
        sign = ""
        match = _LINE.match(text) if _is_named(text) else None
        while match is not None:
            sign, text = match.groups()
            passed_on = _PASSES_ON.match(text) if sign.startswith("%") else None
            if passed_on is None:
                break
            shell = text.startswith(("system", "sx"))
            text = text[passed_on.end() :]
            sign = "!" if shell else sign
            match = None if shell else _LINE.match(text)
        if sign and not in_shell:
            yield from ((command, sign) for command in _commands(text))


def _is_named(text: str) -> bool:
    return any(name in text for name in _MANAGERS)


def _commands(text: str) -> Iterator[list[str]]:
    for part in re.split(r"&&|\|\||[;|]", text):
        try:
            words = shlex.split(part, comments=True)
        except ValueError:
            words = part.split()
        if words:
            yield words


def _calls(source: str) -> Iterator[tuple[list[str], str]]:
    """The commands that calls such as ``subprocess.run`` start, as words, with a sign."""
    if len(source) > _PARSED or not _is_named(source):
        return
    lines = ("" if line.lstrip()[:1] in ("%", "!") else line for line in source.split("\n"))
    try:
        nodes = list(ast.walk(ast.parse("\n".join(lines))))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for node in nodes:
        if isinstance(node, ast.Call) and _STARTS.fullmatch(_name(node.func)):
            sign = "%" if _name(node.func).endswith("magic") else "()"
            given = list(map(list, map(_words, node.args)))
            if given and len(given[0]) > 1:
                # A string with several commands; the other arguments are options of the call.
                yield from ((command, sign) for command in given[0])
            else:
                yield [word for part in given for command in part for word in command], sign


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _words(node: ast.expr) -> Iterator[list[str]]:
    """The commands in one argument of a call; a list is one command."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield from _commands(node.value[:_LONGEST_LINE])
    elif isinstance(node, (ast.List, ast.Tuple)):
        yield [word for part in node.elts for command in _words(part) for word in command]
    elif isinstance(node, ast.JoinedStr):
        parts = (
            str(part.value) if isinstance(part, ast.Constant) else "{sys.executable}"
            for part in node.values
        )
        yield from _commands("".join(parts)[:_LONGEST_LINE])
    elif isinstance(node, ast.Attribute):
        yield [f"{getattr(node.value, 'id', '')}.{node.attr}"]


# --- one command -----------------------------------------------------------------------


def _read(words: list[str], sign: str) -> Install | None:
    """What one command installs or removes; None for any other command."""
    words = [word.lstrip("%!") for word in words]
    while words and (words[0] in ("sudo", "env", "exec", "command") or "=" in words[0]):
        words = words[1:]
    here = sign.startswith("%")
    if len(words) > 2 and _PYTHON.fullmatch(_program(words[0])) and words[1] == "-m":
        here = here or "sys.executable" in words[0]
        words = words[2:]
    program = _program(words[0]) if words else ""
    if program == "uv" and words[1:2] == ["pip"]:
        words = words[1:]
    elif program not in _MANAGERS and not _PIP.fullmatch(program):
        # ``pip.main(["install", …])`` omits the program.
        if sign != "()" or program not in _INSTALLS | _REMOVES or len(words) < 2:
            return None
        words = ["pip", *words]
        here = True
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[1:]
    if not rest or rest[0] not in _INSTALLS | _REMOVES:
        return None
    names, sources = _arguments(rest[1:])
    return Install("install" if rest[0] in _INSTALLS else "remove", names, here, sources)


def _program(word: str) -> str:
    return word if "{" in word else re.split(r"[/\\]", word)[-1].removesuffix(".exe")


def _arguments(words: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The packages and sources in a command's arguments."""
    names: list[str] = []
    sources: list[str] = []
    option = ""
    for word in words:
        if option:
            if option in _SOURCES:
                sources.append(word)
            elif option in _FILES:
                names.append(f"{word} (a file or folder)")
            option = ""
        elif to := _REDIRECTS.fullmatch(word):
            option = "" if to[1] else word
        elif word.startswith("-"):
            name, equals, value = word.partition("=")
            if equals and name in _SOURCES:
                sources.append(value)
            elif not equals and name in _WITH_VALUE:
                option = name
        else:
            names.append(word)
    return tuple(names), tuple(sources)
