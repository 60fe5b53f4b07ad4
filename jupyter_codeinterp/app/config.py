"""Loads the server's settings, so that an admin's limits also hold on the command line.

Unlike a server, it does not read configuration in the current folder: that may have come with
untrusted notebooks.
"""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

from jupyter_core.paths import jupyter_config_path
from traitlets import TraitError
from traitlets.config import Config
from traitlets.config.loader import (
    ConfigError,
    FileConfigLoader,
    JSONFileConfigLoader,
    PyFileConfigLoader,
)

from ..base.errors import CodeInterpError
from .settings import CodeInterpSettings

FILES = (
    "jupyter_config",
    "jupyter_server_config",
    "jupyter_lab_config",
    "jupyter_notebook_config",
    "jupyter_jupyter_codeinterp_config",
)
"""Configuration files of the applications that run the extension; the last one wins."""
LOADERS: dict[str, type[FileConfigLoader]] = {
    ".py": PyFileConfigLoader,
    ".json": JSONFileConfigLoader,
}


class BadConfig(CodeInterpError):
    """A wrong setting, or a file that cannot be read."""

    def __init__(self, message: str) -> None:
        super().__init__("bad_config", message)


class CodeInterp(CodeInterpSettings):
    """Has the server extension's name, so traitlets gives it the same settings."""


def load() -> Config:
    """Raises BadConfig for a file that cannot be read, because it may set a limit."""
    config = Config()
    for name in FILES:
        # The person's own folder is first in the path and wins.
        for folder in reversed(jupyter_config_path()):
            for suffix, loader in LOADERS.items():
                file = Path(folder, name + suffix)
                if file.is_file():
                    config.merge(_load(loader, file))
    return config


def _load(loader: type[FileConfigLoader], file: Path) -> Config:
    try:
        # Configuration may print; standard output is for events only.
        with contextlib.redirect_stdout(sys.stderr):
            return Config(loader(file.name, path=str(file.parent)).load_config())
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
        words = f"Cannot read {file}, which may set a limit: {kind}{error}"
        raise BadConfig(words) from None


def settings(config: Config) -> CodeInterpSettings:
    """Raises BadConfig."""
    try:
        return CodeInterp(config=config)
    except TraitError as error:
        raise BadConfig(f"A setting of CodeInterp is wrong: {error}") from None
