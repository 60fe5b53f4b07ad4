"""Errors in the language of JupyterLab's page, by a language pack's catalogue. Without JupyterLab
nothing is loaded."""

from __future__ import annotations

import sys
from typing import Any

from .errors import CodeInterpError, filled

DOMAIN = "jupyter_codeinterp"
LAB = "jupyterlab_server.translation_utils"


def load_catalogue() -> None:
    """Read it in a thread: Python keeps what it read for ``translator``, whose own bundles only
    the event loop may change."""
    lab: Any = sys.modules.get(LAB)
    if lab is not None:
        lab.TranslationBundle(DOMAIN, lab.translator._LOCALE)


def translated(error: CodeInterpError) -> str:
    lab: Any = sys.modules.get(LAB)
    if lab is None or not error.template:  # gettext("") is the catalogue's head.
        return error.message
    try:
        words: str = lab.translator.load(DOMAIN).gettext(error.template)
        return filled(words, error.arguments)
    except (LookupError, TypeError, ValueError):  # The catalogue names other fields.
        return error.message
