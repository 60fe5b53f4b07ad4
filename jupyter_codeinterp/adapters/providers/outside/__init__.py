"""An outside client in the place of a model: what it calls goes through the agent's own loop."""

from .desk import Answer, Desk
from .model import OutsideModel

__all__ = ["Answer", "Desk", "OutsideModel"]
