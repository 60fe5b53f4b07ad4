"""A row of the table as a provider: Anthropic's model with another profile."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from .....core.providers import Credentials, Provider, Settings, origin
from .table import ROWS, Row

if TYPE_CHECKING:
    from ..model import AnthropicModel


def providers(addresses: Mapping[str, str] = {}) -> list[Provider]:
    """``addresses``, by name, are an admin's for local servers; they replace the usual ports."""
    return [_provider(row, addresses.get(row.name, "")) for row in ROWS]


def _provider(row: Row, other: str) -> Provider:
    home = other or row.url
    return Provider(
        row.name,
        row.label,
        partial(_connect, row, home),
        key_variables=(row.variable,) if row.variable else (),
        url=home,
        keyless=row.local,
        key_looks=row.key_looks,
        key_page=row.key_page,
    )


def _connect(
    row: Row, home: str, credentials: Callable[[], Credentials], settings: Settings
) -> AnthropicModel:
    from ..model import AnthropicModel  # not at the server's start
    from ..profile import OTHER

    def endpoint() -> tuple[str | None, str | None]:
        """The variable's key belongs to ``home``, and goes to no other origin."""
        entered = credentials()
        url = entered.url or home
        at_home = origin(url) == origin(home)
        return entered.key or (os.environ.get(row.variable) if at_home else None), url

    profile = msgspec.structs.replace(
        OTHER,
        x_api_key=row.x_api_key,
        list_url=row.list_url,
        key_url=row.key_url,
        own_prices=bool(row.url) and not row.local,
        vendor=row.name,
        home=row.url,
        runs_here=row.local and not row.gateway,
    )
    return AnthropicModel(
        endpoint,
        max_tokens=settings.max_tokens,
        prices=settings.prices,
        profile=profile,
        known=row.models,
        environment={},
    )
