"""A row of the table as a provider."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from .....core.providers import Credentials, Provider, Settings
from .table import CLOUDS, Cloud, home

if TYPE_CHECKING:
    from .model import CloudModel


def providers() -> tuple[Provider, ...]:
    return tuple(_provider(cloud) for cloud in CLOUDS)


def _provider(cloud: Cloud) -> Provider:
    """AWS's credentials and region in the environment may be for other programs. So models are
    offered only after a person connects the cloud, or with the variable ``chosen_by``."""

    def other_url() -> str:
        return home(cloud, os.environ) if os.environ.get(cloud.chosen_by) else ""

    def secrets() -> Iterator[str]:
        return (os.environ.get(name, "") for name in cloud.secret_variables)

    return Provider(
        cloud.name,
        cloud.label,
        partial(_connect, cloud),
        default_model=cloud.models[0],
        key_variables=(cloud.key_variable,) if cloud.key_variable else (),
        secrets=secrets,
        secret_variables=cloud.secret_variables,
        url="" if cloud.chosen_by and other_url() else home(cloud, os.environ),
        other_url=other_url,
        keyless=bool(cloud.sign_in),
        key_looks=cloud.key_looks,
        key_page=cloud.key_page,
        settle=cloud.settle,
        place_looks=cloud.place_looks,
    )


def _connect(
    cloud: Cloud, credentials: Callable[[], Credentials], settings: Settings
) -> CloudModel:
    from .model import CloudModel  # not at the server's start

    def endpoint() -> tuple[str | None, str | None]:
        entered = credentials()
        return entered.key, entered.url

    return CloudModel(
        cloud,
        endpoint,
        max_tokens=settings.max_tokens,
        prices=settings.prices,
        learn=settings.learn,
    )
