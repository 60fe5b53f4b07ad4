"""The models that stand for outside clients, by name."""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Union

from ...core.errors import ModelError

if TYPE_CHECKING:
    from ...adapters.providers.outside import Desk
    from ...core.ports import Model

MODELS = "mcp/"
"""Prefix of their names."""
LONGEST = 30
"""Characters of a client's name in its model's."""
NO_CLIENT = (
    "This conversation belongs to a program that is not connected. To continue it yourself, "
    "choose a model."
)


class Clients:
    def __init__(self) -> None:
        self._desks: dict[str, Desk] = {}

    def add(self, desk: Desk) -> str:
        """The name of a new model."""
        words = re.sub(r"[^a-z0-9]+", "-", desk.client.lower()).strip("-")[:LONGEST]
        name = f"{MODELS}{words}-{uuid.uuid4().hex[:8]}"
        self._desks[name] = desk
        return name

    def remove(self, name: str) -> None:
        del self._desks[name]

    def get(self, name: str) -> Union[Model, None]:
        """None for other models. Raises ModelError ``unknown_model``."""
        if not name.startswith(MODELS):
            return None
        if name not in self._desks:
            raise ModelError("unknown_model", NO_CLIENT)
        from ...adapters.providers.outside import OutsideModel  # not at the server's start

        return OutsideModel(self._desks[name])
