"""The settings that a server started here would have, for a command."""

from __future__ import annotations

from traitlets.config import Config

from ...server.workbench import config as files
from ...server.workbench.settings import CodeInterpSettings
from .problems import Problem


def load() -> Config:
    """Raises Problem for a file that cannot be read: a limit may stand there."""
    try:
        return files.load()
    except files.BadConfig as bad:
        raise Problem(str(bad)) from None


def settings(config: Config) -> CodeInterpSettings:
    """Raises Problem."""
    try:
        return files.settings(config)
    except files.BadConfig as bad:
        raise Problem(str(bad)) from None
