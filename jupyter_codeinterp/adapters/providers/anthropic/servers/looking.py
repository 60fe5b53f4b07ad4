"""Finds servers on this machine that speak the Messages API, at their usual ports."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

import msgspec

from .....core.errors import ModelError
from .table import ROWS

LOCAL_TIMEOUT = 2.0
"""Seconds to accept a connection, and then to list the models."""


class Place(msgspec.Struct, frozen=True):
    """Where a server may be; ``name`` is for people."""

    provider: str
    name: str
    base_url: str


class LocalServer(Place, frozen=True):
    """A model server on this machine."""

    models: list[str]


def places(
    addresses: Mapping[str, str] = {}, allowed: Callable[[str], bool] = lambda name: True
) -> list[Place]:
    """Each address once: servers with the same usual port share the first one's row, under both
    names."""
    found: dict[str, Place] = {}
    for row in ROWS:
        if row.local and allowed(row.name):
            url = addresses.get(row.name, row.url)
            name = f"{found[url].name} or {row.label}" if url in found else row.label
            found[url] = Place(found[url].provider if url in found else row.name, name, url)
    return list(found.values())


async def found(places: Sequence[Place]) -> list[LocalServer]:
    """Servers that answer, in the order of ``places``. Imports take seconds on a busy machine, so
    they come before the time limit, and only if there is a server to ask."""
    listening = await asyncio.gather(*(_listens(place) for place in places))
    there = [place for place, listens in zip(places, listening, strict=True) if listens]
    servers = await asyncio.gather(*(_asked(place) for place in there))
    return [server for server in servers if server is not None]


async def _listens(place: Place) -> bool:
    address = urlsplit(place.base_url)
    try:
        opening = asyncio.open_connection(address.hostname, address.port)
        _, writer = await asyncio.wait_for(opening, LOCAL_TIMEOUT)
    except (OSError, ValueError, asyncio.TimeoutError):
        return False
    writer.close()
    return True


async def _asked(place: Place) -> LocalServer | None:
    from ..model import AnthropicModel  # not at the server's start

    model = AnthropicModel(lambda: (None, place.base_url), attempts=1, environment={}, known=())
    try:
        await model.prepare()
        models = await asyncio.wait_for(model.list_models(), LOCAL_TIMEOUT)
    except (ModelError, asyncio.TimeoutError):
        return None  # Something else listens there.
    finally:
        await model.aclose()
    ids = [info.id for info in models]
    return LocalServer(place.provider, place.name, place.base_url, ids)
