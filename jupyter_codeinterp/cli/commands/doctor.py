"""``doctor``: what is installed, and what to do about each problem."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from jupyter_core.paths import jupyter_config_path, jupyter_path
from traitlets.config import Config

from ..._version import __version__
from ...core.redaction.secrets import Secrets
from ...server.models import Models
from ...server.workbench.models import make_models
from ...server.workbench.settings import CodeInterpSettings
from ..local import config as config_files
from ..local.problems import DONE, FAILED, Problem
from ..terminal.inert import line
from ..terminal.stopping import Stopping
from .keys import came_from

PACKAGES = ("jupyter_server", "jupyterlab", "notebook", "jupyter_client", "ipykernel", "anthropic")
LAB_NAME = "jupyter-codeinterp"
SERVER_NAME = "jupyter_codeinterp"
INSTALL = "pip install --upgrade jupyter_codeinterp"
INSTALLS = "pip install "
"""In what is said where a package is missing."""


@dataclass(frozen=True)
class Finding:
    """``do`` is what to do about it; "" where all is well, or ``idle``: where nobody need do
    anything."""

    what: str
    do: str = ""
    idle: bool = False

    @property
    def mark(self) -> str:
        return "✗" if self.do else "·" if self.idle else "✓"


def doctor(options: argparse.Namespace, stopping: Stopping) -> int:
    problems = 0
    for finding in _findings():
        print(f"{finding.mark} {line(finding.what)}", flush=True)
        if finding.do:
            problems += 1
            print(f"  → {line(finding.do)}", flush=True)
    if problems:
        print(f"\n{problems} problem{'s' if problems > 1 else ''}.")
    return FAILED if problems else DONE


def _findings() -> Iterator[Finding]:
    yield from _versions()
    try:
        config = config_files.load()
        settings = config_files.settings(config)
    except Problem as problem:
        yield Finding(problem.words, "Mend or remove that file: nothing works until then.")
        return
    yield from _kernelspecs(config)
    yield from _models(settings)
    yield _labextension()
    yield _server_extension()
    yield _journal(settings)


def _versions() -> Iterator[Finding]:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    yield Finding(f"jupyter_codeinterp {__version__}, with {', '.join(found)}")


def _kernelspecs(config: Config) -> Iterator[Finding]:
    from jupyter_client.kernelspec import KernelSpecManager

    specs: dict[str, Any] = KernelSpecManager(config=config).get_all_specs()
    for name, found in sorted(specs.items()):
        program = (found["spec"].get("argv") or [""])[0]
        if shutil.which(program):
            yield Finding(f"kernel {name}: {found['spec'].get('display_name', name)}")
        else:
            words = f"kernel {name}: its program {program} is not there"
            yield Finding(words, f"Install it, or: jupyter kernelspec remove {name}")
    if not specs:
        yield Finding("There is no kernel.", "pip install ipykernel")


def _models(settings: CodeInterpSettings) -> Iterator[Finding]:
    models = make_models(settings, Secrets())
    if models.warning:
        yield Finding(models.warning, "jupyter codeinterp key set")
    ids = asyncio.run(_asked(models))
    yield from _providers(models)
    if not models.configured:
        words = f"The model that answers by default ({models.default}) has no key."
        yield Finding(words, "jupyter codeinterp key set, or set ANTHROPIC_API_KEY")
    elif models.default in ids:
        yield Finding(f"{len(ids)} models can be reached; {models.default} answers by default")
    else:
        words = f"The models of {models.host} do not list {models.default}, the default one."
        yield Finding(words, "Name another: c.CodeInterp.model in jupyter_server_config.py")


async def _asked(models: Models) -> set[str]:
    """The ids of all models that can be reached. Each provider knows what came of it then."""
    try:
        found, _ = await models.available()
    finally:
        await models.close()
    return {info.id for info in found}


def _providers(models: Models) -> Iterator[Finding]:
    """One each that has a key, or needs none."""
    for one in models.connections():
        if not one.connected:
            continue
        where = f"{one.label}: {came_from(one)}"
        if one.works:
            yield Finding(where)
        elif one.source == "env" and not one.entered and INSTALLS in one.said:
            yield Finding(f"{where}. {one.said}", idle=True)  # It may be there for others.
        else:
            yield Finding(f"{where}, does not work", one.said or "jupyter codeinterp key set")
    for label, wrong in models.without_keys():
        yield Finding(f"{label}: does not work" if wrong else f"{label}: needs no key", wrong)


def _labextension() -> Finding:
    places = [Path(folder, LAB_NAME) for folder in jupyter_path("labextensions")]
    place = next((one for one in places if (one / "package.json").is_file()), None)
    if place is None:
        return Finding("The labextension is not installed.", INSTALL)
    built = _json(place / "package.json").get("version")
    if built != __version__:
        words = f"The labextension in {place} is {built}, the package {__version__}."
        return Finding(words, f"{INSTALL}, and load JupyterLab's page anew")
    if by := _disabled():
        words = f"The labextension is disabled in {by}."
        return Finding(words, f"jupyter labextension enable {LAB_NAME}")
    return Finding(f"labextension {built} enabled")


def _disabled() -> str:
    """The file that disables it, as the page's configuration; "" for none."""
    folders = [Path(folder, "labconfig") for folder in jupyter_config_path()]
    folders += [
        Path(folder).parent / "lab" / "settings" for folder in jupyter_path("labextensions")
    ]
    for folder in folders:
        file = folder / "page_config.json"
        disabled = _json(file).get("disabledExtensions", {})
        named = {one: True for one in disabled} if isinstance(disabled, list) else disabled
        if isinstance(named, dict) and any(
            off and str(one).split(":")[0] == LAB_NAME for one, off in named.items()
        ):
            return str(file)
    return ""


def _server_extension() -> Finding:
    from jupyter_server.extension.config import ExtensionConfigManager

    manager: Any = ExtensionConfigManager(read_config_path=jupyter_config_path())
    enabled = manager.get_jpserver_extensions().get(SERVER_NAME)
    command = f"jupyter server extension enable {SERVER_NAME}"
    if enabled is None:
        return Finding("The server extension is not known to Jupyter.", f"{INSTALL}, or: {command}")
    if not enabled:
        return Finding("The server extension is disabled.", command)
    return Finding(f"server extension {__version__} enabled")


def _journal(settings: CodeInterpSettings) -> Finding:
    from ...adapters.storage.sqlite import SqliteStore
    from ...core.errors import StoreError

    file = settings.folder / "sessions.db"
    there = next(one for one in (settings.folder, *settings.folder.parents) if one.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        words = f"Conversations cannot be kept in {settings.folder}: {there} cannot be written in."
        return Finding(words, "Mend that, or name another folder: c.CodeInterp.data_dir")
    try:
        store = SqliteStore(file, str, settings.retention)
        try:
            kept = len(store.list(None))
        finally:
            store.close()
    except StoreError as error:
        return Finding(
            f"The journal {file} cannot be used: {error.message}", "See to what is said."
        )
    return Finding(f"{kept} conversation{'s' if kept != 1 else ''} in {file}")


def _json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
