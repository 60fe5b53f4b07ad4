"""``credentials.json``: what a person has entered, in a file that only its owner can read.

Version 2 has a connection a provider. Version 1 had one, the default provider's; it is read and
taken over with the next change.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal, Union

import msgspec

from ...core.errors import CommandError


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """One connection. A key is kept with the address that it was tried at, and is sent to no
    other, whatever the settings say later on. It is here, or in the operating system's keyring
    under the name ``keyring``; "" for none."""

    url: str
    key: str = ""
    keyring: str = ""


class Content(msgspec.Struct, frozen=True):
    """By provider. ``default_model`` is the id of the model that a person has chosen; "": what
    the settings say."""

    version: Literal[2] = 2
    connections: dict[str, Kept] = {}
    default_model: str = ""


class _First(msgspec.Struct, frozen=True):
    """Version 1."""

    api_key: Union[str, None] = None
    base_url: Union[str, None] = None
    model: Union[str, None] = None


class _AnyVersion(msgspec.Struct, frozen=True):
    version: int = 1


class KeyFile:
    def __init__(self, file: Path, default: str, home: str) -> None:
        """``default`` is the default provider's name, ``home`` where its requests go: for what
        version 1 has."""
        self.warning = ""
        """What the person should know of the file; "" if nothing."""
        self._file = file
        self._default = default
        self._home = home
        self.content = self._read() or Content()

    def change(self, provider: str, kept: Kept | None, default_model: str) -> None:
        """Keep, or forget, one connection; those that another process has kept meanwhile stay.
        Raises CommandError ``not_kept``; then nothing has changed."""
        now = self._read() or self.content
        others = {name: one for name, one in now.connections.items() if name != provider}
        connections = others if kept is None else {**others, provider: kept}
        content = Content(connections=connections, default_model=default_model)
        try:
            self._write(content)
        except OSError as error:
            words = f"Nothing is kept: {self._file} cannot be written ({error.strerror})."
            raise CommandError("not_kept", words) from None
        self.content = content
        self.warning = ""

    def _read(self) -> Content | None:
        """None if there is nothing to read: a file that cannot be read stops nobody."""
        try:
            return self._decoded(self._file.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            self.warning = f"The kept keys could not be read ({error.strerror}). Enter them again."
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            aside = self._file.with_name(f"{self._file.name}.damaged")
            self._file.replace(aside)
            self.warning = (
                "The file with the kept keys was damaged, or is of a later version. It has been "
                f"set aside as {aside.name}; enter the keys again."
            )
        return None

    def _decoded(self, data: bytes) -> Content:
        if msgspec.json.decode(data, type=_AnyVersion).version != 1:
            return msgspec.json.decode(data, type=Content)
        first = msgspec.json.decode(data, type=_First)
        connections = {}
        if first.api_key or first.base_url:
            kept = Kept(first.base_url or self._home, first.api_key or "")
            connections = {self._default: kept}
        return Content(connections=connections, default_model=first.model or "")

    def _write(self, content: Content) -> None:
        """In a file and a folder that only their owner can read, all of it or nothing."""
        if content == Content():
            self._file.unlink(missing_ok=True)
            return
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file.parent.chmod(0o700)
        new = self._file.with_name(f"{self._file.name}.new")
        new.unlink(missing_ok=True)
        try:
            with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(msgspec.json.encode(content))
            new.replace(self._file)
        except OSError:
            new.unlink(missing_ok=True)
            raise
