"""Addresses and keys that a person entered for each provider. A key goes only to its address.

Key lookup order: the environment, the operating system's keyring, the file.
"""

from __future__ import annotations

import contextlib
import secrets as random
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any

from ...core.errors import CommandError, ModelError
from ...core.ports import ModelEvent, ModelInfo, ModelRequest
from ...core.providers import Connection, Credentials, Provider
from ...core.redaction.secrets import Secrets
from . import keyring
from .described import Origin
from .key_file import KeyFile, SavedConnection


class Connections:
    def __init__(self, file: KeyFile, secrets: Secrets, *, entered: bool) -> None:
        """``entered``: whether entered connections count at all."""
        self._file = file
        self._secrets = secrets
        self._entered = entered
        self._read: dict[str, str] = {}
        """Keys read from the keyring, by their names there."""
        for kept in file.content.connections.values():
            secrets.add(kept.key)

    def kept(self, provider: Provider) -> SavedConnection | None:
        return self._file.content.connections.get(provider.name) if self._entered else None

    def credentials(self, provider: Provider) -> Credentials:
        """The entered address and key. A key in the environment for that address wins."""
        kept = self.kept(provider)
        if kept is None:
            return Credentials()
        if provider.key_variable(kept.url):
            return Credentials(None, None if kept.url == provider.home else kept.url)
        return Credentials(self._key(kept) or None, kept.url)

    def _key(self, kept: SavedConnection) -> str:
        return kept.key or self._read.get(kept.keyring, "")

    def source(self, provider: Provider) -> Origin:
        kept = self.kept(provider)
        if provider.key_variable(kept.url if kept else ""):
            return "env"
        return "none" if kept is None else _place_of_key(kept)

    def saved(self, provider: Provider) -> Origin:
        """Where a saved key is, whether or not it is used; "none" without one."""
        kept = self._file.content.connections.get(provider.name)
        return "none" if kept is None else _place_of_key(kept)

    # --- the keyring -----------------------------------------------------------------

    def locked(self, provider: Provider) -> bool:
        """Whether the key must be read from the keyring first."""
        kept = self.kept(provider)
        return kept is not None and bool(kept.keyring) and kept.keyring not in self._read

    async def unlock(self, provider: Provider) -> None:
        """Raises ModelError ``no_key``."""
        kept = self.kept(provider)
        if kept is None or not self.locked(provider):
            return
        try:
            key = await keyring.read(kept.keyring)
        except keyring.NoKeyring as error:
            words = (
                f"Could not read the key of {provider.label} from this computer's keyring: "
                f"{error}. Unlock the keyring and try again, or enter the key again."
            )
            raise ModelError("no_key", words) from None
        self._secrets.add(key)
        self._read[kept.keyring] = key

    # --- change ----------------------------------------------------------------------

    async def keep(self, provider: Provider, url: str, key: str, default_model: str) -> str:
        """Save a connection, with the key in the keyring if possible, otherwise in the file.

        Returns a note for the person, or "". Raises CommandError
        ``not_kept`` and then changes nothing.
        """
        words = ""
        kept = SavedConnection(url, key)
        if key and keyring.installed():
            name = f"{provider.name} {random.token_hex(4)}"
            try:
                await keyring.keep(name, key)
                kept = SavedConnection(url, keyring=name)
                self._read[name] = key
            except keyring.NoKeyring as error:
                words = f"Saved the key in a file, because the keyring is not usable: {error}."
        try:
            before = await self._change(provider, kept, default_model)
        except CommandError:
            await self._delete_key(kept)
            raise
        await self._delete_key(before)
        return words

    async def forget(self, provider: Provider, default_model: str) -> str:
        """Delete a connection. Returns a note for the person, or "". Raises CommandError
        ``not_kept``."""
        return await self._delete_key(await self._change(provider, None, default_model))

    async def _change(
        self, provider: Provider, kept: SavedConnection | None, default_model: str
    ) -> SavedConnection | None:
        """Change the file and return the connection from before."""
        with contextlib.suppress(ModelError):
            await self.unlock(provider)
        before = self.kept(provider)
        self._file.change(provider.name, kept, default_model)
        self._learn(kept, before)
        return before

    def _learn(self, now: SavedConnection | None, before: SavedConnection | None) -> None:
        """Redact the new key from now on, and the old one no longer."""
        for kept, learn in ((now, self._secrets.add), (before, self._secrets.forget)):
            if kept is not None:
                learn(self._key(kept))

    async def _delete_key(self, kept: SavedConnection | None) -> str:
        """Delete the key from the keyring. Returns a note for the person, or ""."""
        if kept is None or not kept.keyring:
            return ""
        try:
            await keyring.forget(kept.keyring)
        except keyring.NoKeyring as error:
            return (
                "The key is no longer used, but could not be removed from this computer's "
                f"keyring: {error}. Its entry there: {keyring.SERVICE}, {kept.keyring}."
            )
        return ""


def _place_of_key(kept: SavedConnection) -> Origin:
    return "keyring" if kept.keyring else "file" if kept.key else "none"


class LockedConnection:
    """A connection that reads its key from the keyring before the first request."""

    def __init__(self, connection: Connection, unlock: Callable[[], Awaitable[None]]) -> None:
        self.always_ask = connection.always_ask
        self._connection = connection
        self._unlock = unlock

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ModelEvent, None]:
        await self._unlock()
        events: Any = self._connection.stream(request)
        try:
            async for event in events:
                yield event
        finally:
            if hasattr(events, "aclose"):
                await events.aclose()

    async def prepare(self) -> None:
        """Unlock and import before the timeout of ``list_models`` starts."""
        await self._unlock()
        prepare = getattr(self._connection, "prepare", None)
        if prepare is not None:
            await prepare()

    async def info(self, model: str) -> ModelInfo:
        with contextlib.suppress(ModelError):
            await self._unlock()
        return await self._connection.info(model)

    async def list_models(self) -> Sequence[ModelInfo]:
        await self._unlock()
        return await self._connection.list_models()

    async def aclose(self) -> None:
        await self._connection.aclose()
