"""Tables that a person looks at: variables of a notebook's kernel, and CSV files.

handlers.py  REST for the page, and tables of the kernel (``kernel/inside/tables.py`` runs there)
files.py     tables of CSV files
shapes.py    requests and answers
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...app.workbench import Workbench
    from ...extensions import Routes


def register(bench: Workbench) -> None:
    def routes() -> Routes:
        from .files import FileTables
        from .handlers import ROUTES, VariableTables  # imports a web server

        settings["codeinterp_tables"] = VariableTables(bench.kernel_at)
        settings["codeinterp_file_tables"] = FileTables(bench.contents)
        return ROUTES

    settings = bench.features.handler_settings
    bench.features.routes.append(routes)
