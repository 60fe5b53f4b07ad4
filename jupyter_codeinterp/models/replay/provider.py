"""The offline demo as a provider. Its one model has the provider's name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ... import demo
from ...wire.providers import Credentials, Provider, Settings

if TYPE_CHECKING:
    from .model import ReplayModel

NAME = demo.MODEL
_FOLDER = re.compile(rf"{re.escape(demo.FOLDER)}(-\d+)?")


def provider(pace: float | None = None) -> Provider:
    """``pace``: words a second; None for the default."""

    def connect(credentials: Credentials, settings: Settings) -> ReplayModel:
        from .model import PACE, ReplayModel  # not at the server's start

        return ReplayModel(pace=PACE if pace is None else pace)

    return Provider(
        NAME,
        "Offline demo",
        connect,
        default_model=NAME,
        needs_key=False,
        always_ask=True,
        answers=is_demo,
    )


def is_demo(notebook: str) -> bool:
    """Whether the notebook is in a folder named like the demo's.

    A name proves nothing, and need not: without a key, the recording answers in such a notebook.
    It comes from the package, never from the folder, and its code needs a review in every mode,
    until the person lets all of a turn run.
    """
    return any(_FOLDER.fullmatch(part) for part in notebook.split("/")[:-1])


async def notebook_for(front: str, root: Callable[[], Path]) -> str:
    """``front`` if it is a demo's notebook, else that of a new copy in ``root``. Calls ``root``
    only then. Raises OSError."""
    if is_demo(front):
        return front
    folder = root()
    return (await asyncio.to_thread(demo.copy_demo, folder)).relative_to(folder).as_posix()
