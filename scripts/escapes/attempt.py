"""An attempt: code that raises where the sandbox holds."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


class Control(Enum):
    """Where the same code succeeds without a sandbox, as a control."""

    PLAIN = "in a plain kernel"
    ROOT = "in root's plain kernel"
    SOME = "in a plain kernel on some machines"
    NONE = "not tried: it could harm this machine, or there is nothing to compare"


class Groups(Enum):
    """Users whose kernels are limited only with control groups."""

    OF_NO_ONE = ""
    OF_ROOT = "root's"
    OF_ALL = "everyone's"


class Attempt(NamedTuple):
    """``code`` uses the names of ``prelude.py``. If the attempt leaves its mark outside, ``proof``
    names the place (``World.reached``), and an error alone does not count as held."""

    name: str
    code: str
    control: Control = Control.PLAIN
    proof: str = ""
    groups: Groups = Groups.OF_NO_ONE


def plain(tried: Mapping[str, str], control: Control = Control.PLAIN) -> tuple[Attempt, ...]:
    """Attempts whose only proof is that no error is raised."""
    return tuple(Attempt(name, code, control) for name, code in tried.items())
