"""What a key must be, to be sent at all."""

from __future__ import annotations

from ...core.errors import ModelError


def header_safe(secret: str | None) -> str | None:
    """The secret without blanks around it. An HTTP library would quote an illegal one
    in its error message, so it is refused here."""
    secret = (secret or "").strip()
    if secret and not (secret.isascii() and secret.isprintable() and " " not in secret):
        raise ModelError(
            "wrong_key",
            "The API key has characters that no key has. Copy it again, whole, and paste it.",
        )
    return secret or None
