"""Keys, and other secrets, that an HTTP header can carry."""

from __future__ import annotations

import os

from ...core.errors import ModelError


def header_safe(secret: str | None) -> str | None:
    """The secret without surrounding blanks. Refuses an illegal one here, because an HTTP
    library would quote it in its error message."""
    secret = (secret or "").strip()
    if secret and not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise ModelError(
            "wrong_key",
            "The API key contains invalid characters. Copy the complete key and paste it again.",
        )
    return secret or None


def custom_headers(variable: str) -> list[tuple[str, str]]:
    """Headers from the environment, one a line, that an SDK sends with each request."""
    lines = os.environ.get(variable, "").split("\n")
    found = (line.partition(":") for line in lines)
    return [(name.strip(), value) for name, colon, value in found if colon]
