"""Entries of MCP servers, ``{"mcpServers": {name: entry}}``: the admin's, and those of the person's
file in the data folder.

An entry has ``command``, ``args``, ``env`` and ``cwd``, or ``url`` and ``headers``. Values of
``env`` and ``headers`` may have ``${NAME}``, which stands for a variable of the server's
environment. ``tools`` may name the only tools to offer.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ...base.sentences import Sentence, as_it_is
from ...base.visible import exact, visible_line
from ...notebook.rule_file import read_file
from ...view.redaction.found_secrets import without_secrets
from ...view.rule_files import NOT_READ

PERSONAL = "mcp-servers.json"
MOST = 20
"""Servers of one file."""
LONGEST_NAME = 60
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_HTTP = ("http://", "https://")
_AUTHORIZE = ("auth", "cookie", "key", "password", "secret", "session", "token")
"""Parts of the names of headers that authorize."""
HIDDEN = "…"
NEUTRAL = str(Path(os.sep).resolve())
"""The folder of a program whose entry names none. Programs load files from their folder and
those above it (``python -m``, ``npx``), and a sandboxed kernel may write into the notebook's."""
FOLDER = "Folder: {folder}. Files that a notebook's code writes there may change what this starts."
NO_FOLDER = "Folder: {folder} (the entry names no “cwd”)"


class _Given(msgspec.Struct, frozen=True, kw_only=True):
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}
    tools: tuple[str, ...] = ()


class ServerEntry(_Given, frozen=True, kw_only=True):
    """A server as a file names it. ``cwd``: the whole path of the folder that it names. With
    ``url`` nothing starts, whatever else it has."""

    name: str
    digest: str
    """Of the whole entry and the home folder. A person approves this digest."""
    place: str
    """Who named it: ``admin`` or ``person``."""
    fault: Sentence = msgspec.field(default_factory=Sentence)
    """Why it cannot be used; "" if it can."""


class BadFile(ValueError):
    """What is wrong with the file."""

    def __init__(self, why: Sentence) -> None:
        super().__init__(why)
        self.why = why


class _File(msgspec.Struct):
    mcpServers: dict[str, dict[str, Any]] = {}


def entries_for(
    person: Path, admins: Mapping[str, Any], *, files: bool
) -> tuple[list[ServerEntry], list[Sentence]]:
    """The named servers, and the faults of files. ``person``: the folder of the person's file;
    ``files``: whether it counts. Of equal names the admin's wins."""
    found: dict[str, ServerEntry] = {}
    faults: list[Sentence] = []
    for place in ("admin", "person") if files else ("admin",):
        try:
            given = admins if place == "admin" else _read(person)
            if len(given) > MOST:
                words = "it names {count} servers, and {limit} are allowed"
                raise BadFile(Sentence(words, count=len(given), limit=MOST))
            for name, entry in given.items():
                found.setdefault(name, _entry(name, entry, place))
        except BadFile as error:
            file = Sentence("admin") if place == "admin" else PERSONAL
            faults.append(Sentence("{file}: {why}.", file=file, why=error.why))
    return list(found.values()), faults


def _read(person: Path) -> Mapping[str, Any]:
    """Raises BadFile."""
    text = read_file(person, PERSONAL)
    if text is None:
        return {}
    if text in NOT_READ:
        raise BadFile(NOT_READ[text])
    try:
        return msgspec.json.decode(text, type=_File).mcpServers
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadFile(Sentence("not the expected JSON: {error}", error=error)) from None


def _entry(name: str, given: Any, place: str) -> ServerEntry:
    """Raises BadFile. A relative ``cwd`` counts from the home folder."""
    folder = str(Path.home())
    try:
        whole = msgspec.json.encode([folder, name, given], order="sorted")
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise BadFile(Sentence("not JSON: {error}", error=error)) from None
    digest = hashlib.sha256(whole).hexdigest()
    wrong = partial(ServerEntry, name=name, digest=digest, place=place)
    if not name or len(name) > LONGEST_NAME or visible_line(name) != name:
        words = "its name must be a line of 1 to {limit} characters"
        return wrong(fault=Sentence(words, limit=LONGEST_NAME))
    try:
        fields = msgspec.structs.asdict(msgspec.convert(given, _Given))
    except (msgspec.ValidationError, TypeError) as error:
        return wrong(fault=Sentence("its entry is wrong: {error}", error=error))
    fields["cwd"] = str(Path(folder, fields["cwd"])) if fields["cwd"] else ""
    entry = ServerEntry(name=name, digest=digest, place=place, **fields)
    return msgspec.structs.replace(entry, fault=_fault(entry))


def _fault(entry: ServerEntry) -> Sentence:
    if entry.url and not entry.url.startswith(_HTTP):
        return Sentence("its address must begin with http:// or https://")
    if not entry.url and not entry.command:
        return Sentence("it has neither a command nor an address")
    if any("${" in text for text in (entry.url, entry.command, *entry.args, entry.cwd)):
        return Sentence("only values of env and headers may have ${…}")
    if "\0" in "".join((entry.command, entry.cwd, *entry.args, *entry.env, *entry.env.values())):
        return Sentence("it has a character that no program accepts")
    return Sentence()


def missing(
    entry: ServerEntry, allowed: Collection[str], environment: Mapping[str, str]
) -> Sentence:
    """Why a value cannot be filled in; "" if all can."""
    for value in (*entry.env.values(), *entry.headers.values()):
        for name in _VARIABLE.findall(value):
            if name not in allowed:
                return Sentence(
                    "it asks for the variable {name} of the server's environment. An admin can "
                    "allow that with c.CodeInterp.mcp_env",
                    name=name,
                )
            if name not in environment:
                return Sentence("the server's environment has no variable {name}", name=name)
        if "${" in _VARIABLE.sub("", value):
            return Sentence("it has a ${…} that is not the name of a variable")
    return Sentence()


def filled(values: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """The values with variables filled in. Call ``missing`` before."""
    return {
        name: _VARIABLE.sub(lambda found: environment[found[1]], value)
        for name, value in values.items()
    }


def secrets_of(entry: ServerEntry, environment: Mapping[str, str]) -> list[str]:
    """Texts to redact: variables in the entry, headers that authorize, and values that look like
    secrets. Other values may be ordinary words or paths. Call ``missing`` before."""
    found: list[str] = []
    for values, names in ((entry.env, ()), (entry.headers, _AUTHORIZE)):
        for name, value in values.items():
            found += (environment[variable] for variable in _VARIABLE.findall(value))
            whole = f"{name}={value}"
            authorizes = any(part in name.lower() for part in names)
            if "${" not in value and (authorizes or without_secrets(whole) != whole):
                found += (value, value.rpartition(" ")[2])  # also without “Bearer”
    return found


def described(entry: ServerEntry, *, whole: bool) -> list[Sentence]:
    """Lines for a person who decides whether to start the server: exactly what would run, with
    variables unfilled. Not ``whole``: for a list, without values of headers and secrets."""
    if entry.url:
        lines = [Sentence("Address: {address}", address=exact(entry.url))]
        for name, value in entry.headers.items():
            shown = exact(value) if whole else HIDDEN
            lines.append(Sentence("Header {name}: {value}", name=exact(name), value=shown))
    else:
        lines = [Sentence("Command: {command}", command=exact(entry.command))]
        for number, argument in enumerate(entry.args, 1):
            words = "Argument {number}: {argument}"
            lines.append(Sentence(words, number=number, argument=exact(argument)))
        for name, value in entry.env.items():
            line = f"{name}={value}"
            hidden = not whole and without_secrets(line) != line
            shown = HIDDEN if hidden else exact(value)
            lines.append(Sentence("Variable {name}: {value}", name=exact(name), value=shown))
        folder = exact(entry.cwd) if entry.cwd else NEUTRAL
        lines.append(Sentence(FOLDER if entry.cwd else NO_FOLDER, folder=folder))
    if entry.tools:
        names = ", ".join(map(exact, entry.tools))
        lines.append(Sentence("Only these tools: {names}", names=names))
    return lines if whole else list(map(_without_secrets, lines))


def _without_secrets(line: Sentence) -> Sentence:
    changed, safe = line.changed(without_secrets), without_secrets(line)
    return changed if changed == safe else as_it_is(safe)
