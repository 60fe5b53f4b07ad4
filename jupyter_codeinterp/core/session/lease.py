"""This server's right to work on a session, where several have the same journal."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ..errors import CommandError, StoreError
from ..stores import LEASE_TIME, Holder, LeaseStore

RENEWED_EVERY = LEASE_TIME / 3
"""Seconds."""

log = logging.getLogger(__name__)


class SessionLease:
    def __init__(self, store: LeaseStore, session_id: str, lost: Callable[[], None]) -> None:
        """``lost`` is called if another server has the lease when it should be renewed."""
        self._store = store
        self._session_id = session_id
        self._lost = lost
        self._renewing: asyncio.Task[None] | None = None

    @property
    def held(self) -> bool:
        return self._renewing is not None

    def take(self) -> None:
        """Have it until it is released. Raises CommandError ``held_elsewhere``, StoreError."""
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
            log.info("The lease of %s will run out: %s", self._session_id, error.message)

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(RENEWED_EVERY)
            try:
                kept = self._store.renew_lease(self._session_id)
            except StoreError as error:
                # Next time, or it runs out, and what we write then is refused (``repeated``).
                log.warning("A lease could not be renewed: %s", error.message)
                continue
            if not kept:
                self._renewing = None
                self._lost()
                return


def named(holder: Holder) -> str:
    return f"{holder.host} (process {holder.pid})"


def held_elsewhere(holder: Holder) -> CommandError:
    words = (
        f"This conversation is open on the server {named(holder)}. It can be read here, and "
        "gone on with when that server has finished or was stopped."
    )
    return CommandError("held_elsewhere", words)
