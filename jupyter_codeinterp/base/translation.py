"""Translates sentences into the language of JupyterLab's page, with a language pack's catalogue.
Without JupyterLab it loads nothing."""

from __future__ import annotations

import sys
from typing import Any

from .sentences import Sentence, filled, in_english

DOMAIN = "jupyter_codeinterp"
LAB = "jupyterlab_server.translation_utils"


def load_catalogue() -> None:
    """Read the catalogue; call this in a thread. Python's gettext caches it for ``translator``,
    whose own bundles only the event loop may change."""
    lab: Any = sys.modules.get(LAB)
    if lab is not None:
        lab.TranslationBundle(DOMAIN, lab.translator._LOCALE)


def translated(value: object) -> str:
    """A sentence in the page's language. Also an ``enc_hook`` of msgspec."""
    english, lab = in_english(value), sys.modules.get(LAB)
    if lab is None or not isinstance(value, Sentence) or not value.template:
        return english  # gettext("") returns the catalogue's header.
    return _translated(lab, value)


def _translated(lab: Any, sentence: Sentence) -> str:
    arguments = {
        name: translated(one) if isinstance(one, Sentence) else one
        for name, one in sentence.arguments.items()
    }
    words: str = lab.translator.load(DOMAIN).gettext(sentence.template)
    try:
        return filled(words, arguments)
    except (LookupError, TypeError, ValueError):  # The translation names unknown fields.
        return filled(sentence.template, arguments)
