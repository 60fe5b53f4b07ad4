"""Sentences in the language of JupyterLab's page, by the catalogue of a language pack. Without
JupyterLab nothing is loaded."""

from __future__ import annotations

import sys
from typing import Any

from .sentences import Sentence, filled, in_english

DOMAIN = "jupyter_codeinterp"
LAB = "jupyterlab_server.translation_utils"


def load_catalogue() -> None:
    """Read it in a thread: Python keeps what it read for ``translator``, whose own bundles only
    the event loop may change."""
    lab: Any = sys.modules.get(LAB)
    if lab is not None:
        lab.TranslationBundle(DOMAIN, lab.translator._LOCALE)


def translated(value: object) -> str:
    """A sentence in the page's language. Also an ``enc_hook`` of msgspec."""
    english, lab = in_english(value), sys.modules.get(LAB)
    if lab is None or not isinstance(value, Sentence) or not value.template:
        return english  # gettext("") is the catalogue's head.
    return _translated(lab, value)


def _translated(lab: Any, sentence: Sentence) -> str:
    arguments = {
        name: translated(one) if isinstance(one, Sentence) else one
        for name, one in sentence.arguments.items()
    }
    words: str = lab.translator.load(DOMAIN).gettext(sentence.template)
    try:
        return filled(words, arguments)
    except (LookupError, TypeError, ValueError):  # The catalogue names other fields.
        return filled(sentence.template, arguments)
