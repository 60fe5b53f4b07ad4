"""The offline demo as a provider. Its one model goes by the provider's own name."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from .... import demo
from ....core.providers import Credentials, Provider, Settings

if TYPE_CHECKING:
    from .model import ReplayModel
    from .recording import Recording

NAME = demo.MODEL
_FOLDER = re.compile(rf"{re.escape(demo.FOLDER)}(-\d+)?")


def provider(pace: float | None = None, recording: Recording | None = None) -> Provider:
    """``pace`` in words a second; None for the usual one. ``recording``: another than the
    package's."""

    def connect(credentials: Callable[[], Credentials], settings: Settings) -> ReplayModel:
        from .model import PACE, ReplayModel  # not at the server's start

        return ReplayModel(recording or "growth", pace=PACE if pace is None else pace)

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
    """Whether the notebook lies in a folder named as the demo names its own.

    A name is no proof, and need not be one: without a key such a notebook is answered by
    the recording, which comes from the package and never from the folder, and whose code
    is asked for in every mode, until the person lets all of a turn run.
    """
    return any(_FOLDER.fullmatch(part) for part in notebook.split("/")[:-1])


async def notebook_for(front: str, root: Callable[[], Path]) -> str:
    """``front`` if it is a demo's notebook, else that of a new copy in ``root``, which is only
    asked for then. Raises OSError."""
    if is_demo(front):
        return front
    folder = root()
    return (await asyncio.to_thread(demo.copy_demo, folder)).relative_to(folder).as_posix()
