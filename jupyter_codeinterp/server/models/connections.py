"""Addresses and keys that a person entered for each provider. A key goes only to its address.

Key lookup order: the environment, the file.
"""

from __future__ import annotations

from ...core.providers import Credentials, Provider
from ...core.redaction.secrets import Secrets
from .described import Origin
from .key_file import KeyFile, SavedConnection


class Connections:
    def __init__(self, file: KeyFile, secrets: Secrets, *, entered: bool) -> None:
        """``entered``: whether entered connections count at all."""
        self._file = file
        self._secrets = secrets
        self._entered = entered
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
        return Credentials(kept.key or None, kept.url)

    def source(self, provider: Provider) -> Origin:
        kept = self.kept(provider)
        if provider.key_variable(kept.url if kept else ""):
            return "env"
        return "file" if kept is not None and kept.key else "none"

    def has_saved_key(self, provider: Provider) -> bool:
        """Whether or not it is used."""
        kept = self._file.content.connections.get(provider.name)
        return kept is not None and bool(kept.key)

    def keep(self, provider: Provider, url: str, key: str, default_model: str) -> None:
        """Save a connection. Raises CommandError ``not_kept`` and then changes nothing."""
        self._change(provider, SavedConnection(url, key), default_model)

    def forget(self, provider: Provider, default_model: str) -> None:
        """Delete a connection. Raises CommandError ``not_kept`` and then changes nothing."""
        self._change(provider, None, default_model)

    def _change(self, provider: Provider, kept: SavedConnection | None, default_model: str) -> None:
        before = self.kept(provider)
        self._file.change(provider.name, kept, default_model)
        # Redact the new key from now on, and the old one no longer.
        if kept is not None:
            self._secrets.add(kept.key)
        if before is not None:
            self._secrets.forget(before.key)
