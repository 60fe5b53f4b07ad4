"""Entries of MCP servers, ``{"mcpServers": {name: entry}}``: the admin's, and those of the person's
file in the data folder.

An entry has ``command``, ``args`` and ``env``, or ``url`` and ``headers``. Values of ``env`` and
``headers`` may have ``${NAME}``, which stands for a variable of the server's environment.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from ...base.sentences import Sentence
from ...base.visible import exact
from ...notebook.rule_file import read_file
from ...view.redaction.found_secrets import without_secrets
from ...view.rule_files import NOT_READ

PERSONAL = "mcp-servers.json"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
_AUTHORIZE = ("auth", "cookie", "key", "password", "secret", "session", "token")
"""Parts of the names of headers that authorize."""


class ServerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A server as a file names it."""

    name: str
    digest: str
    """Of the whole entry. A person approves this digest."""
    is_admins: bool
    fault: Sentence = msgspec.field(default_factory=Sentence)
    """Why it cannot be used; "" if it can."""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}

    @property
    def values(self) -> dict[str, str]:
        """Headers of an address, or variables of a program's environment."""
        return self.headers if self.url else self.env


class _File(msgspec.Struct):
    mcpServers: dict[str, dict[str, Any]] = {}


def entries_for(
    person: Path | None, admins: Mapping[str, Any]
) -> tuple[list[ServerEntry], list[Sentence]]:
    """The named servers, and the fault of the person's file. ``person``: its folder; None if it
    does not count. Of equal names the admin's wins."""
    theirs, faults = _read(person) if person is not None else ({}, [])
    found = [_entry(name, given, is_admins=True) for name, given in admins.items()]
    for name, given in theirs.items():
        if name not in admins:
            found.append(_entry(name, given, is_admins=False))
    return found, faults


def _read(person: Path) -> tuple[Mapping[str, Any], list[Sentence]]:
    """The content of the person's file, and its fault."""
    text = read_file(person, PERSONAL)
    if text is None:
        return {}, []
    why = NOT_READ.get(text)
    if why is None:
        try:
            return msgspec.json.decode(text, type=_File).mcpServers, []
        except (msgspec.MsgspecError, RecursionError) as error:
            why = Sentence("not the expected JSON: {error}", error=error)
    return {}, [Sentence("{file}: {why}.", file=PERSONAL, why=why)]


def _entry(name: str, given: Any, *, is_admins: bool) -> ServerEntry:
    whole = msgspec.json.encode([name, given], order="sorted", enc_hook=repr)
    digest = hashlib.sha256(whole).hexdigest()
    ours = {"name": name, "digest": digest, "is_admins": is_admins, "fault": Sentence()}
    try:
        entry = msgspec.convert({**given, **ours}, ServerEntry)
    except (msgspec.ValidationError, TypeError) as error:
        fault = Sentence("its entry is wrong: {error}", error=error)
        return ServerEntry(name=name, digest=digest, is_admins=is_admins, fault=fault)
    return msgspec.structs.replace(entry, fault=_fault(entry))


def _fault(entry: ServerEntry) -> Sentence:
    if not entry.url and not entry.command:
        return Sentence("it has neither a command nor an address")
    if entry.url and (entry.command or entry.args or entry.env):
        return Sentence("an address takes headers, but no command, arguments or variables")
    if entry.command and entry.headers:
        return Sentence("a command takes variables, but no headers")
    for value in entry.values.values():
        for name in _VARIABLE.findall(value):
            if name not in os.environ:
                return Sentence("the server's environment has no variable {name}", name=name)
    return Sentence()


def filled(entry: ServerEntry) -> dict[str, str]:
    """The entry's values with variables filled in."""
    return {
        name: _VARIABLE.sub(lambda found: os.environ[found[1]], value)
        for name, value in entry.values.items()
    }


def secrets_of(entry: ServerEntry) -> list[str]:
    """Texts to redact: variables in the entry, headers that authorize, and values that look like
    secrets. Other values may be ordinary words or paths."""
    found: list[str] = []
    for name, value in entry.values.items():
        found += (os.environ[variable] for variable in _VARIABLE.findall(value))
        whole = f"{name}={value}"
        authorizes = entry.url and any(part in name.lower() for part in _AUTHORIZE)
        if "${" not in value and (authorizes or without_secrets(whole) != whole):
            found += (value, value.rpartition(" ")[2])  # also without “Bearer”
    return found


def described(entry: ServerEntry) -> list[Sentence]:
    """Lines for a person who decides whether to start the server: exactly what would run, with
    variables unfilled."""
    if entry.url:
        lines = [Sentence("Address: {address}", address=exact(entry.url))]
    else:
        lines = [Sentence("Command: {command}", command=exact(entry.command))]
        for number, argument in enumerate(entry.args, 1):
            line = "Argument {number}: {argument}"
            lines.append(Sentence(line, number=number, argument=exact(argument)))
    words = "Header {name}: {value}" if entry.url else "Variable {name}: {value}"
    for name, value in entry.values.items():
        lines.append(Sentence(words, name=exact(name), value=exact(value)))
    return lines
