"""Recognizes API keys and private keys in a person's text, so that they are not sent by mistake.

``secrets.py`` removes keys that the server knows. A key that a person pastes into a message is
unknown. The patterns are valid in Python and JavaScript: ``scripts/protocol.py`` copies the table
into the page, which checks before the text leaves it. Placeholders such as ``sk-ant-…`` do not
match.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from .secrets import REMOVED


class KeyForm(NamedTuple):
    """The keys of ``providers``; without any, a key that connects no model. ``alone``: so plain
    that only a message of nothing else counts."""

    providers: tuple[str, ...]
    pattern: str
    alone: bool = False


_MIXED = r"(?=[A-Za-z]{0,99}[0-9])(?=[0-9]{0,99}[A-Za-z])"
"""Both letters and digits follow."""

KEY_FORMS = (
    KeyForm(("anthropic",), r"\bsk-ant-[A-Za-z0-9_-]{8,400}"),
    KeyForm(("openrouter",), r"\bsk-or-[A-Za-z0-9_-]{16,400}"),
    # With a digit: names such as sk-learn-contrib-examples are no keys.
    KeyForm(
        ("openai", "deepseek", "moonshot"),
        r"\bsk-(?=[A-Za-z_-]{0,60}[0-9])[A-Za-z0-9_-]{20,400}",
    ),
    KeyForm(("xai",), r"\bxai-[A-Za-z0-9]{20,200}"),
    KeyForm(("gemini",), r"\bAIza[A-Za-z0-9_-]{35}"),
    KeyForm(("bedrock",), r"\b(?:ABSK|bedrock-api-key-)[A-Za-z0-9+/=_-]{32,2000}"),
    KeyForm(("zai",), r"\b[0-9a-f]{32}\.[A-Za-z0-9]{16}\b"),
    KeyForm(("mistral", "azure-openai", "foundry"), rf"{_MIXED}[A-Za-z0-9]{{32}}", alone=True),
    KeyForm(("azure-openai", "foundry"), rf"{_MIXED}[A-Za-z0-9]{{84}}", alone=True),
    KeyForm((), r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"),
)

_FORMS = [(re.compile(form.pattern, re.ASCII), form.alone) for form in KEY_FORMS]


def looks_like_key(text: str) -> bool:
    """Whether the text contains what looks like a key."""
    whole = text.strip()
    return any(
        pattern.fullmatch(whole) if alone else pattern.search(text) for pattern, alone in _FORMS
    )


def without_keys(text: str) -> str:
    """The text, with a mark in place of whatever looks like a key."""
    for pattern, alone in _FORMS:
        text = pattern.sub(REMOVED, text) if not alone or pattern.fullmatch(text.strip()) else text
    return text
