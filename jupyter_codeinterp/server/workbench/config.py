"""The settings that a server started here would have: a limit that an admin has set for it holds
on the command line and in `%%ai` as well.

Configuration beside the person's notebooks is not read (a server reads the folder that it is
started in): it may have come with the notebooks.
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

from .settings import CodeInterpSettings

FILES = (
    "jupyter_config",
    "jupyter_server_config",
    "jupyter_lab_config",
    "jupyter_notebook_config",
    "jupyter_jupyter_codeinterp_config",
)
"""What applications that run the extension read, without suffixes; the last one counts most."""
LOADERS: dict[str, type[FileConfigLoader]] = {
    ".py": PyFileConfigLoader,
    ".json": JSONFileConfigLoader,
}


class BadConfig(Exception):
    """The words say which file, and what is wrong with it."""


class CodeInterp(CodeInterpSettings):
    """Has the server extension's name, and so its settings."""


def load() -> Config:
    """Raises BadConfig for a file that cannot be read: a limit may stand there."""
    config = Config()
    for name in FILES:
        # The person's own folder comes first, and counts most.
        for folder in reversed(jupyter_config_path()):
            for suffix, loader in LOADERS.items():
                file = Path(folder, name + suffix)
                if file.is_file():
                    config.merge(_load(loader, file))
    return config


def _load(loader: type[FileConfigLoader], file: Path) -> Config:
    try:
        # It may print what it likes: our output is for events alone.
        with contextlib.redirect_stdout(sys.stderr):
            return Config(loader(file.name, path=str(file.parent)).load_config())
    except (Exception, SystemExit) as error:
        kind = "" if isinstance(error, ConfigError) else f"{type(error).__name__}: "
        words = f"{file} cannot be read, and may set a limit: {kind}{error}"
        raise BadConfig(words) from None


def settings(config: Config) -> CodeInterpSettings:
    """Raises BadConfig."""
    try:
        return CodeInterp(config=config)
    except TraitError as error:
        raise BadConfig(f"A setting of CodeInterp is wrong: {error}") from None
