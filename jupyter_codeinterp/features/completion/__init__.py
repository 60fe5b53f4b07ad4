"""Completions while a person types in a cell.

completion.py  the request to the model, and the part of its answer to show
handlers.py    REST for the page
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...extensions import Routes


def register(bench: Workbench) -> None:
    def routes() -> Routes:
        from .handlers import ROUTES, Completions  # imports a web server

        completions = Completions(bench.models, bench.names, bench.scrub_data)
        allowed = bench.settings.inline_completion
        settings["codeinterp_completions"] = completions if allowed else None
        return ROUTES

    settings = bench.features.handler_settings
    bench.features.routes.append(routes)
