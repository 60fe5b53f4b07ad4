"""What a person has entered for each provider: an address, and a key that goes to it alone.

Keys are looked for in this order: the environment, the operating system's keyring, the file.
"""

from __future__ import annotations

import asyncio
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
from .key_file import Kept, KeyFile

_undone: set[asyncio.Task[None]] = set()
"""Tasks that tidy up; the loop itself holds them weakly."""


class Connections:
    def __init__(self, file: KeyFile, secrets: Secrets, *, entered: bool) -> None:
        """``entered``: whether what a person enters counts at all."""
        self._file = file
        self._secrets = secrets
        self._entered = entered
        self._read: dict[str, str] = {}
        """Keys that the keyring has given, by their names there."""
        for kept in file.content.connections.values():
            secrets.add(kept.key)

    def kept(self, provider: Provider) -> Kept | None:
        return self._file.content.connections.get(provider.name) if self._entered else None

    def credentials(self, provider: Provider) -> Credentials:
        """What counts of what has been entered: not a key where the environment has one for
        the same address."""
        kept = self.kept(provider)
        if kept is None:
            return Credentials()
        if provider.key_variable(kept.url):
            return Credentials(None, None if kept.url == provider.home else kept.url)
        return Credentials(self._key(kept) or None, kept.url)

    def _key(self, kept: Kept) -> str:
        return kept.key or self._read.get(kept.keyring, "")

    def source(self, provider: Provider) -> Origin:
        """Where its key comes from."""
        kept = self.kept(provider)
        if provider.key_variable(kept.url if kept else ""):
            return "env"
        if kept is None:
            return "none"
        return "keyring" if kept.keyring else "file" if kept.key else "none"

    # --- the keyring -----------------------------------------------------------------

    def locked(self, provider: Provider) -> bool:
        """Whether its key must be read from the keyring first."""
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
                f"The key of {provider.label} is in this computer's keyring, and {error}. Unlock "
                "the keyring and try again, or enter the key again."
            )
            raise ModelError("no_key", words) from None
        self._secrets.add(key)
        self._read[kept.keyring] = key

    # --- change ----------------------------------------------------------------------

    async def keep(self, provider: Provider, url: str, key: str, default_model: str) -> str:
        """In the keyring if there is one, else in the file; what the person should know of
        that, "" if nothing. Raises CommandError ``not_kept``; then all is as it was."""
        words = ""
        kept = Kept(url, key)
        if key and keyring.installed():
            name = f"{provider.name} {random.token_hex(4)}"
            try:
                await keyring.keep(name, key)
                kept = Kept(url, keyring=name)
                self._read[name] = key
            except keyring.NoKeyring as error:
                words = f"The key is kept in a file: as to this computer's keyring, {error}."
        before = self.kept(provider)
        try:
            self._file.change(provider.name, kept, default_model)
        except CommandError:
            await self._forgotten(kept)
            raise
        await self._forgotten(before)
        return words

    async def forget(self, provider: Provider, default_model: str) -> str:
        """What the person should know, "" if nothing. Raises CommandError ``not_kept``."""
        before = self.kept(provider)
        self._file.change(provider.name, None, default_model)
        return await self._forgotten(before)

    async def _forgotten(self, kept: Kept | None) -> str:
        """Nothing of it stays in the keyring."""
        if kept is None or not kept.keyring:
            return ""
        try:
            await keyring.forget(kept.keyring)
        except keyring.NoKeyring as error:
            return (
                "The key is not used any more, but could not be removed from this computer's "
                f"keyring: {error}. It stands there under {keyring.SERVICE}, {kept.keyring}."
            )
        return ""

    async def put_back(self, provider: Provider) -> Callable[[], None]:
        """What makes this connection, and the chosen model, again what they are now. A key that
        is in the keyring now goes into the file then: that works at once, and for certain."""
        with contextlib.suppress(ModelError):
            await self.unlock(provider)
        before, default_model = self.kept(provider), self._file.content.default_model
        if before is not None and before.keyring:
            key = self._key(before)
            before = Kept(before.url, key) if key else None

        def back() -> None:
            now = self.kept(provider)
            self._file.change(provider.name, before, default_model)
            if now is not None and now.keyring:
                task = asyncio.get_running_loop().create_task(self._tidy(now))
                _undone.add(task)
                task.add_done_callback(_undone.discard)

        return back

    async def _tidy(self, kept: Kept) -> None:
        await self._forgotten(kept)


class Locked:
    """A connection whose key must be read from the keyring before anything is asked."""

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
        """So that neither the person nor an import is in the time that a list may take."""
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
