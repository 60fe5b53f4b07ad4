"""Entries of MCP servers in configuration files: ``{"mcpServers": {name: entry}}``. The admin names
servers, the person's file in the data folder, and ``.codeinterp/mcp.json`` in a notebook's folder
and those above.

An entry has ``command``, ``args``, ``env`` and ``cwd``, or ``url`` and ``headers``. Values of
``env`` and ``headers`` may have ``${NAME}``, which stands for a variable of the server's
environment.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from ...app.notebooks.rule_files import folders_of, read_instructions
from ...base.paths import root_of
from ...base.sentences import Sentence
from ...base.visible import exact, visible_line
from ...notebook.rule_file import read_file
from ...view.redaction.found_secrets import without_secrets
from ...view.rule_files import NOT_READ

PROJECT = ".codeinterp/mcp.json"
PERSONAL = "mcp-servers.json"
TIMEOUT = 1.0
"""Seconds for all files, because a drive may be slow."""
SLOW = Sentence(
    "Reading the files that name MCP servers took more than {seconds} s. Some are missing here.",
    seconds=f"{TIMEOUT:g}",
)
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
NO_FOLDER = f"Folder: {NEUTRAL} (the entry names no “cwd”)"


class _Given(msgspec.Struct, frozen=True, kw_only=True):
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = {}


class ServerEntry(_Given, frozen=True, kw_only=True):
    """A server as a file names it. ``cwd``: the whole path of the folder that it names. With
    ``url`` nothing starts, whatever else it has."""

    name: str
    digest: str
    """Of the whole entry and its file's folder. A person approves this digest."""
    place: str
    """Where it comes from: ``admin``, ``person``, or the path of a file."""
    fault: str = ""
    """Why it cannot be used; "" if it can."""


class BadFile(ValueError):
    """The message says what is wrong with the file."""


class _File(msgspec.Struct):
    mcpServers: dict[str, dict[str, Any]] = {}


def parsed(text: str, folder: str, place: str = "") -> list[ServerEntry]:
    """The entries of a file. ``folder``: the file's; ``cwd`` is relative to it. Raises BadFile."""
    try:
        given = msgspec.json.decode(text, type=_File).mcpServers
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BadFile(f"not the expected JSON: {error}") from None
    return entries(given, folder, place)


def entries(given: Mapping[str, Any], folder: str, place: str) -> list[ServerEntry]:
    """Raises BadFile."""
    if len(given) > MOST:
        raise BadFile(f"it names {len(given)} servers, and {MOST} are allowed")
    return [_entry(name, entry, folder, place) for name, entry in given.items()]


def _entry(name: str, given: Any, folder: str, place: str) -> ServerEntry:
    try:
        whole = msgspec.json.encode([folder, name, given], order="sorted")
    except (TypeError, ValueError, msgspec.MsgspecError) as error:
        raise BadFile(f"not JSON: {error}") from None
    digest = hashlib.sha256(whole).hexdigest()
    wrong = partial(ServerEntry, name=name, digest=digest, place=place)
    if not name or len(name) > LONGEST_NAME or visible_line(name) != name:
        return wrong(fault=f"its name must be a line of 1 to {LONGEST_NAME} characters")
    try:
        fields = msgspec.structs.asdict(msgspec.convert(given, _Given))
    except (msgspec.ValidationError, TypeError) as error:
        return wrong(fault=f"its entry is wrong: {error}")
    fields["cwd"] = str(Path(folder, fields["cwd"])) if fields["cwd"] else ""
    entry = ServerEntry(name=name, digest=digest, place=place, **fields)
    return msgspec.structs.replace(entry, fault=_fault(entry))


def _fault(entry: ServerEntry) -> str:
    if entry.url and not entry.url.startswith(_HTTP):
        return "its address must begin with http:// or https://"
    if not entry.url and not entry.command:
        return "it has neither a command nor an address"
    if any("${" in text for text in (entry.url, entry.command, *entry.args, entry.cwd)):
        return "only values of env and headers may have ${…}"
    if "\0" in "".join((entry.command, entry.cwd, *entry.args, *entry.env, *entry.env.values())):
        return "it has a character that no program accepts"
    return ""


async def entries_for(
    notebook: str, contents: Any, person: Path, admins: Mapping[str, Any], *, files: bool
) -> tuple[list[ServerEntry], list[Sentence]]:
    """The servers that are named for a notebook, and the faults of files. ``person``: the folder of
    the person's file; ``files``: whether files count. Of equal names the admin's wins, then the
    nearest file's, then the person's."""
    found: dict[str, ServerEntry] = {}
    faults: list[Sentence] = []
    root, home = root_of(contents), str(Path.home())

    def add(place: str, text: str, folder: str | None) -> None:
        try:
            if text in NOT_READ:
                raise BadFile(text[1:-1])
            if folder is None:
                raise BadFile("its folder cannot be found; the links to it may form a loop")
            for entry in parsed(text, folder, place):
                found.setdefault(entry.name, entry)
        except BadFile as error:
            faults.append(Sentence("{file}: {why}.", file=visible_line(place), why=error))

    async def read() -> None:
        for folder in folders_of(notebook):
            path = f"{folder}/{PROJECT}" if folder else PROJECT
            text = await read_instructions(contents, path)
            if text is not None:
                add(path, text, await asyncio.to_thread(_whole, root, folder))
        own = await asyncio.to_thread(read_file, person, PERSONAL)
        if own is not None:
            add("person", own, home)

    try:
        found.update((entry.name, entry) for entry in entries(admins, home, "admin"))
    except BadFile as error:
        faults.append(Sentence("{file}: {why}.", file="admin", why=error))
    if files:
        try:
            await asyncio.wait_for(read(), TIMEOUT)
        except asyncio.TimeoutError:
            faults.append(SLOW)
    return list(found.values()), faults


def _whole(root: Path | None, folder: str) -> str | None:
    """The folder without links: the same for every server. None if it cannot be resolved."""
    try:
        return str((root / folder).resolve() if root is not None else Path.home())
    except (OSError, RuntimeError):  # RuntimeError: a loop of links, before Python 3.13.
        return None


def missing(entry: ServerEntry, allowed: Collection[str], environment: Mapping[str, str]) -> str:
    """Why a value cannot be filled in; "" if all can."""
    for value in (*entry.env.values(), *entry.headers.values()):
        for name in _VARIABLE.findall(value):
            if name not in allowed:
                return (
                    f"it asks for the variable {name} of the server's environment. An admin can "
                    "allow that with c.CodeInterp.mcp_env"
                )
            if name not in environment:
                return f"the server's environment has no variable {name}"
        if "${" in _VARIABLE.sub("", value):
            return "it has a ${…} that is not the name of a variable"
    return ""


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


def described(entry: ServerEntry, *, whole: bool) -> list[str]:
    """Lines for a person who decides whether to start the server: exactly what would run, with
    variables unfilled. Not ``whole``: for a list, without values of headers and secrets."""
    if entry.url:
        lines = [f"Address: {exact(entry.url)}"]
        for name, value in entry.headers.items():
            lines.append(f"Header {exact(name)}: {exact(value) if whole else HIDDEN}")
    else:
        lines = [f"Command: {exact(entry.command)}"]
        lines += [f"Argument {n}: {exact(argument)}" for n, argument in enumerate(entry.args, 1)]
        for name, value in entry.env.items():
            line = f"{name}={value}"
            hidden = not whole and without_secrets(line) != line
            lines.append(f"Variable {exact(name)}: {HIDDEN if hidden else exact(value)}")
        lines.append(FOLDER.format(folder=exact(entry.cwd)) if entry.cwd else NO_FOLDER)
    return lines if whole else list(map(without_secrets, lines))
