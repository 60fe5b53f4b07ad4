"""Tables that a person looks at: variables of a notebook's kernel.

handlers.py  REST for the page (``kernel/inside/tables.py`` runs in the kernel)
shapes.py    requests and answers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...extensions import Routes


def register(bench: Workbench) -> None:
    def routes() -> Routes:
        from .handlers import ROUTES  # imports a web server

        return ROUTES

    bench.features.routes.append(routes)
