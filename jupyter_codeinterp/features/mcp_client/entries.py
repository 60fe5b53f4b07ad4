"""Entries of MCP servers in the person's file: ``{"mcpServers": {name: entry}}``.

An entry has ``command``, ``args`` and ``env``. Values of ``env`` may have ``${NAME}``, which stands
for a variable of the server's environment.
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
FAILED = Sentence("The MCP server “{name}” is not available: {why}")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]{0,99})\}")
NO_COMMAND = Sentence("it has no command. For an address, name a program that connects to it")


class ServerEntry(msgspec.Struct, frozen=True):
    """A server as the file names it. A person approves ``digest``, that of the whole entry."""

    name: str
    digest: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    url: str = ""
    """Of entries for other programs, which are refused."""


class _File(msgspec.Struct):
    mcpServers: dict[str, dict[str, Any]] = {}


def entries_for(person: Path) -> tuple[list[ServerEntry], list[Sentence]]:
    """The named servers, and why others cannot be used. ``person``: the folder of the file."""
    named, why = _read(person)
    found: list[ServerEntry] = []
    faults = [Sentence("{file}: {why}.", file=PERSONAL, why=why)] if why else []
    for name, given in named.items():
        entry = _entry(name, given)
        if isinstance(entry, ServerEntry):
            found.append(entry)
        else:
            faults.append(Sentence(FAILED, name=name, why=entry))
    return found, faults


def _read(person: Path) -> tuple[Mapping[str, Any], Sentence]:
    """The content of the person's file, and why it cannot be used."""
    text = read_file(person, PERSONAL)
    if text is None:
        return {}, Sentence()
    if text in NOT_READ:
        return {}, NOT_READ[text]
    try:
        return msgspec.json.decode(text, type=_File).mcpServers, Sentence()
    except (msgspec.MsgspecError, RecursionError) as error:
        return {}, Sentence("not the expected JSON: {error}", error=error)


def _entry(name: str, given: dict[str, Any]) -> ServerEntry | Sentence:
    """The entry, or why it cannot be used."""
    whole = msgspec.json.encode([name, given], order="sorted")
    digest = hashlib.sha256(whole).hexdigest()
    try:
        entry = msgspec.convert({**given, "name": name, "digest": digest}, ServerEntry)
    except msgspec.ValidationError as error:
        return Sentence("its entry is wrong: {error}", error=error)
    if entry.url or not entry.command:
        return NO_COMMAND
    for variable in _variables(entry):
        if variable not in os.environ:
            words = "the server's environment has no variable {name}"
            return Sentence(words, name=variable)
    return entry


def _variables(entry: ServerEntry) -> list[str]:
    return [name for value in entry.env.values() for name in _VARIABLE.findall(value)]


def filled(values: Mapping[str, str]) -> dict[str, str]:
    """The values with variables filled in."""
    return {
        name: _VARIABLE.sub(lambda found: os.environ[found[1]], value)
        for name, value in values.items()
    }


def secrets_of(entry: ServerEntry) -> list[str]:
    """Texts to redact: variables in the entry, and values that look like secrets. Other values may
    be ordinary words or paths."""
    found = [os.environ[variable] for variable in _variables(entry)]
    for name, value in entry.env.items():
        whole = f"{name}={value}"
        if "${" not in value and without_secrets(whole) != whole:
            found.append(value)
    return found


def described(entry: ServerEntry) -> list[Sentence]:
    """Lines for a person who decides whether to start the server: exactly what would run, with
    variables unfilled."""
    lines = [Sentence("Command: {command}", command=exact(entry.command))]
    for number, argument in enumerate(entry.args, 1):
        line = "Argument {number}: {argument}"
        lines.append(Sentence(line, number=number, argument=exact(argument)))
    for name, value in entry.env.items():
        lines.append(Sentence("Variable {name}: {value}", name=exact(name), value=exact(value)))
    return lines
