"""Addresses and keys that a person entered for each provider. A key goes only to its address.

Key lookup order: the environment, the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Union

import msgspec

from ...base import private_file
from ...base.errors import CommandError
from ...base.sentences import Sentence
from ...view.redaction.secrets import Secrets
from ...wire.providers import Credentials, Provider

# -------------------------------------------------------------------------------------------------
# Connections as people see them, without keys.

Origin = Literal["env", "file", "none"]
"""The source of a key: the server's environment, credentials.json, or nothing."""


class Described(msgspec.Struct, frozen=True):
    """A provider and its connection.

    connected  whether a person can choose its models
    entered    whether a person entered a connection, which can be deleted
    source     the source of its key; ``variable`` names the environment variable
    address    where requests go; "" if unknown
    origin     scheme, host and port of the address, which receive the key
    works      result of the last test; None: not tested. ``said``: the error
    keyless    whether it works without a key
    """

    provider: str
    label: str
    connected: bool
    entered: bool
    source: Origin
    variable: str
    address: str
    origin: str
    works: Union[bool, None]
    said: str
    keyless: bool
    key_page: str


# -------------------------------------------------------------------------------------------------
# ``credentials.json``: entered connections, in a file that only its owner can read.


class SavedConnection(msgspec.Struct, frozen=True, omit_defaults=True):
    """One connection: an address, and the key that was tested there.

    The key ("" for none) goes to no other address, whatever the settings say later.
    """

    url: str
    key: str = ""


class Content(msgspec.Struct, frozen=True):
    """Connections by provider. ``default_model``: the chosen model's id; "": the settings'."""

    version: Literal[2]
    connections: dict[str, SavedConnection] = {}
    default_model: str = ""


class SavedConnections:
    """The file's content. Saved keys are redacted in all texts."""

    def __init__(self, file: Path, secrets: Secrets, *, entered: bool) -> None:
        """``entered``: whether entered connections count at all."""
        self.warning = Sentence()
        """A problem with the file, for the person; "" for none."""
        self._file = file
        self._secrets = secrets
        self._entered = entered
        self._content = self._read() or Content(2)
        for kept in self._content.connections.values():
            secrets.add(kept.key)

    @property
    def default_model(self) -> str:
        return self._content.default_model

    def kept(self, provider: Provider) -> SavedConnection | None:
        return self._content.connections.get(provider.name) if self._entered else None

    def credentials(self, provider: Provider) -> Credentials:
        """The entered address and key. A key in the environment for that address wins."""
        kept = self.kept(provider)
        if kept is None:
            return Credentials()
        if provider.key_variable(kept.url):
            return Credentials(None, None if kept.url == provider.home else kept.url)
        return Credentials(kept.key or None, kept.url)

    def source(self, provider: Provider) -> Origin:
        kept = self.kept(provider)
        if provider.key_variable(kept.url if kept else ""):
            return "env"
        return "file" if kept is not None and kept.key else "none"

    def change(self, provider: Provider, kept: SavedConnection | None, default_model: str) -> None:
        """Save or delete (None) one connection. Those that another process saved stay.

        Raises CommandError ``not_kept`` and then changes nothing.
        """
        before = self.kept(provider)
        name = provider.name
        try:
            with private_file.locked(self._file):
                now = self._read() or self._content
                others = {other: one for other, one in now.connections.items() if other != name}
                connections = others if kept is None else {**others, name: kept}
                content = Content(2, connections, default_model)
                self._write(content)
        except OSError as error:
            words = "Nothing saved: cannot write {path} ({why})."
            raise CommandError("not_kept", words, path=self._file, why=error.strerror) from None
        self._content = content
        self.warning = Sentence()
        # Redact the new key from now on, and the old one no longer.
        if kept is not None:
            self._secrets.add(kept.key)
        if before is not None:
            self._secrets.forget(before.key)

    def _read(self) -> Content | None:
        """The content; None without a readable file. Sets ``warning`` for a problem."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=Content)
        except FileNotFoundError:
            return None
        except OSError as error:
            words = "Could not read the saved keys ({why}). Enter them again."
            self.warning = Sentence(words, why=error.strerror)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            damaged = self._file.with_name(f"{self._file.name}.damaged")
            self._file.replace(damaged)
            self.warning = Sentence(
                "The file of saved keys is damaged or from another version. It was renamed to "
                "{name}. Enter the keys again.",
                name=damaged.name,
            )
        return None

    def _write(self, content: Content) -> None:
        """Raises OSError."""
        if content == Content(2):
            self._file.unlink(missing_ok=True)
            return
        private_file.replace(self._file, msgspec.json.encode(content))
