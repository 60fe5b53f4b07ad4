"""The keyring of the operating system, through the ``keyring`` package where it is installed.

It may ask the person to unlock it, wait for a service that never answers, or choose a backend
that keeps keys where everybody can read them. So each call is made in a thread of its own and is
given up after a while, what was set is read back, and only a backend that is a keyring is used.
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
PATIENCE = 15.0
"""Seconds; within them a person can unlock it."""
REFUSED = ("keyring.backends.fail", "keyring.backends.null", "keyrings.alt")
"""Keep nothing, or in a file that others can read, or ask for a password on the terminal."""

T = TypeVar("T")
log = logging.getLogger(__name__)


class NoKeyring(Exception):
    """It cannot be used; the words say why, and end without a full stop."""


def installed() -> bool:
    return find_spec("keyring") is not None


async def keep(name: str, secret: str) -> None:
    """Raises NoKeyring; then nothing is kept."""

    def kept() -> None:
        backend = _backend()
        backend.set_password(SERVICE, name, secret)
        if backend.get_password(SERVICE, name) != secret:
            _drop(backend, name)
            raise NoKeyring("it does not give back what it was given")

    await _in_time(kept)


async def read(name: str) -> str:
    """Raises NoKeyring."""
    found = await _in_time(lambda: _backend().get_password(SERVICE, name))
    if not found:
        raise NoKeyring("the key is no longer there")
    return str(found)


async def forget(name: str) -> None:
    """Raises NoKeyring; the key is still there then."""
    await _in_time(lambda: _backend().delete_password(SERVICE, name))


def _drop(backend: Any, name: str) -> None:
    try:
        backend.delete_password(SERVICE, name)
    except Exception as error:
        log.info("The keyring does not delete what it did not keep: %r", type(error))


def _backend() -> Any:
    """The one to be used. Raises NoKeyring."""
    import keyring.backends.chainer
    import keyring.core

    chosen: Any = keyring.core.get_keyring()
    chained = isinstance(chosen, keyring.backends.chainer.ChainerBackend)
    for backend in chosen.backends if chained else [chosen]:
        if _is_keyring(backend):
            return backend
    name = f"{type(chosen).__module__}.{type(chosen).__qualname__}"
    raise NoKeyring(f"none is at work here ({name} is not one)")


def _is_keyring(backend: Any) -> bool:
    """By its classes, so that a refused one is so under another name as well; and a backend
    that calls itself less than recommended (a priority below 1) is not used."""
    modules = [base.__module__ for base in type(backend).__mro__]
    refused = any(m == name or m.startswith(f"{name}.") for m in modules for name in REFUSED)
    return not refused and float(backend.priority) >= 1


async def _in_time(call: Callable[[], T]) -> T:
    """In a thread that nobody waits for when the program ends. What goes wrong is told by its
    kind alone: an error's text may quote what was to be kept."""
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
            # Backends are code of others, and raise errors of their services as well.
            failed = NoKeyring(_words(error))
        with contextlib.suppress(RuntimeError):  # The program has ended meanwhile.
            loop.call_soon_threadsafe(settle, result, failed)

    threading.Thread(target=work, name="keyring", daemon=True).start()
    try:
        return await asyncio.wait_for(done, PATIENCE)
    except asyncio.TimeoutError:
        raise NoKeyring(f"it did not answer within {PATIENCE:.0f} seconds") from None


def _words(error: BaseException) -> str:
    kind = type(error).__name__
    if kind in ("KeyringLocked", "KeyringLockedError", "InitError"):
        return "it is locked"
    return f"it failed ({kind})"
