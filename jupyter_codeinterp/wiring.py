"""The features of this package, a line each: folders in ``features/`` that nothing imports."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

FEATURES = (
    "checks",
    "completion",
    "eval",
    "figures",
    "mcp_server",
    "mcp_client",
    "tables",
)
"""A feature's package has those of these functions that it needs:

hooks()             its hooks
register(bench)     adds tools, models, routes and more to ``bench.features`` of a workbench
commands(commands)  adds commands to the command line

Importing the package is quick: these functions import the rest. An ``in_kernel.py`` runs in
each Python kernel that the agent uses, after ``kernel/inside/watch.py``. The report on a run has
what it observes.
"""


def offering(function: str) -> Iterator[Any]:
    """The function of this name, of each feature that has it."""
    for name in FEATURES:
        found = getattr(import_module(f".features.{name}", __package__), function, None)
        if found is not None:
            yield found
