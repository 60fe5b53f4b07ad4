"""Makes the models of all providers from the settings."""

from __future__ import annotations

from ...core.redaction.secrets import Secrets
from ..models import Models
from .settings import CodeInterpSettings


def make_models(settings: CodeInterpSettings, secrets: Secrets) -> Models:
    return Models(
        settings.folder,
        secrets,
        default_model=settings.model,
        base_url=settings.base_url,
        demo_pace=settings.demo_pace,
        limits=settings.models_allowed,
        local_addresses=settings.local_addresses,
        allowed_packages=settings.allowed_packages,
        max_tokens=settings.max_tokens,
        prices=settings.prices,
    )
