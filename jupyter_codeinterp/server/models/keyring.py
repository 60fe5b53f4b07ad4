"""The operating system's keyring, through the ``keyring`` package if it is installed.

It may ask the person to unlock it, wait forever, or choose a backend that everybody can read.
So each call runs in its own thread with a timeout, every write is read back, and unsafe backends
are refused.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

SERVICE = "jupyter_codeinterp"
TIMEOUT = 15.0
"""Seconds: enough for a person to unlock it."""
REFUSED = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""These save nothing, save in a file that others can read, or ask on the terminal."""

T = TypeVar("T")
log = logging.getLogger(__name__)


class NoKeyring(Exception):
    """The keyring is not usable. The message says why, without a full stop."""


def installed() -> bool:
    return find_spec("keyring") is not None


async def keep(name: str, secret: str) -> None:
    """Save a secret. Raises NoKeyring and then saves nothing."""

    def kept() -> None:
        backend = _backend()
        backend.set_password(SERVICE, name, secret)
        if backend.get_password(SERVICE, name) != secret:
            _drop(backend, name)
            raise NoKeyring("it returns other values than it was given")

    await _in_time(kept)


async def read(name: str) -> str:
    """Raises NoKeyring."""
    found = await _in_time(lambda: _backend().get_password(SERVICE, name))
    if not found:
        raise NoKeyring("it no longer has the key")
    return str(found)


async def forget(name: str) -> None:
    """Delete a secret. Raises NoKeyring if it is still there."""
    await _in_time(lambda: _backend().delete_password(SERVICE, name))


def _drop(backend: Any, name: str) -> None:
    try:
        backend.delete_password(SERVICE, name)
    except Exception as error:
        log.info("Could not delete a key from the keyring: %r", type(error))


def _backend() -> Any:
    """The first usable backend. Raises NoKeyring."""
    import keyring.backends.chainer
    import keyring.core

    chosen: Any = keyring.core.get_keyring()
    chained = isinstance(chosen, keyring.backends.chainer.ChainerBackend)
    for backend in chosen.backends if chained else [chosen]:
        if _is_keyring(backend):
            return backend
    name = f"{type(chosen).__module__}.{type(chosen).__qualname__}"
    raise NoKeyring(f"no keyring is available here ({name} is not one)")


def _is_keyring(backend: Any) -> bool:
    """Whether the backend is safe, by all its base classes, so that a subclass of a refused one
    is refused too. A priority below 1 means "not recommended"."""
    modules = [base.__module__ for base in type(backend).__mro__]
    refused = any(m == name or m.startswith(f"{name}.") for m in modules for name in REFUSED)
    return not refused and float(backend.priority) >= 1


async def _in_time(call: Callable[[], T]) -> T:
    """Call in a daemon thread. Raises NoKeyring with the error's type only: its text may quote
    the secret."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(result)
        else:
            done.set_exception(error)

    def work() -> None:
        result: Any = None
        failed: BaseException | None = None
        try:
            result = call()
        except NoKeyring as error:
            failed = error
        except BaseException as error:
            # Backends may raise anything.
            failed = NoKeyring(_words(error))
        with contextlib.suppress(RuntimeError):  # the loop is closed: the program is ending
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=work, name="keyring", daemon=True).start()
    try:
        return await asyncio.wait_for(done, TIMEOUT)
    except asyncio.TimeoutError:
        raise NoKeyring(f"it did not respond within {TIMEOUT:.0f} seconds") from None


def _words(error: BaseException) -> str:
    kind = type(error).__name__
    if kind in ("KeyringLocked", "KeyringLockedError", "InitError"):
        return "it is locked"
    return f"it failed ({kind})"
