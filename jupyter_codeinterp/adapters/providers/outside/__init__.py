"""An outside client takes the model's place, so the agent's loop carries out its calls."""

from .desk import Answer, Desk
from .model import OutsideModel

__all__ = ["Answer", "Desk", "OutsideModel"]
