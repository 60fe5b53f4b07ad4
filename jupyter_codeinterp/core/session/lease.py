"""This server's exclusive right to work on a session, among servers with the same journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ..errors import CommandError, StoreError
from ..stores import LEASE_TIME, Holder, LeaseStore

RENEWED_EVERY = LEASE_TIME / 3

log = logging.getLogger(__name__)


class SessionLease:
    def __init__(self, store: LeaseStore, session_id: str, lost: Callable[[], None]) -> None:
        """Calls ``lost`` if another server has the lease at a renewal."""
        self._store = store
        self._session_id = session_id
        self._lost = lost
        self._renewing: asyncio.Task[None] | None = None

    @property
    def held(self) -> bool:
        return self._renewing is not None

    def take(self) -> None:
        """Hold the lease until ``release``. Raises CommandError ``held_elsewhere``, StoreError."""
        holder = self._store.take_lease(self._session_id)
        if holder is not None:
            raise held_elsewhere(holder)
        if self._renewing is None:
            self._renewing = asyncio.get_running_loop().create_task(self._renew())

    def release(self) -> None:
        if self._renewing is None:
            return
        self._renewing.cancel()
        self._renewing = None
        try:
            self._store.release_lease(self._session_id)
        except StoreError as error:
            log.info("The lease of %s is about to expire: %s", self._session_id, error.message)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWED_EVERY)
            try:
                kept = self._store.renew_lease(self._session_id)
            except StoreError as error:
                # Try again. If the lease runs out, the store refuses writes (``repeated``).
                log.warning("Could not renew a lease: %s", error.message)
                continue
            if not kept:
                self._renewing = None
                self._lost()
                return


def named(holder: Holder) -> str:
    return f"{holder.host} (process {holder.pid})"


def held_elsewhere(holder: Holder) -> CommandError:
    words = (
        f"This conversation is open on the server {named(holder)}. It is read-only here until "
        "that server finishes or stops."
    )
    return CommandError("held_elsewhere", words)
