"""``doctor``: checks the installation and suggests fixes."""

from __future__ import annotations

import argparse
import asyncio
import json
import platform
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jupyter_core.paths import jupyter_config_path, jupyter_path
from traitlets.config import Config

from ..._version import __version__
from ...app import config as config_files
from ...app.settings import CodeInterpSettings
from ...base.visible import visible_line
from ...extensions import NOT_ALLOWED, Extensions
from ...models.offered import Models
from ...view.redaction.secrets import Secrets
from ..local.problems import DONE, FAILED
from ..terminal.stopping import Stopping
from .keys import key_source

PACKAGES = ("jupyter_server", "jupyterlab", "notebook", "jupyter_client", "ipykernel", "anthropic")
LAB_NAME = "jupyter-codeinterp"
SERVER_NAME = "jupyter_codeinterp"
INSTALL = "pip install --upgrade jupyter_codeinterp"
SECTION = "CodeInterp"
_REACH = {
    "looks": " runs in every mode, without a review",
    "changes": " runs without a review; the cells that it adds are reviewed",
}
"""What a tool of another package may do, by its effect."""
INSTALLS = "pip install "
"""Part of the error for a missing package."""


@dataclass(frozen=True)
class Diagnosis:
    """``do``: the suggested fix; "" without a problem. ``idle``: unused, but no problem."""

    what: str
    do: str = ""
    idle: bool = False

    @property
    def mark(self) -> str:
        return "✗" if self.do else "·" if self.idle else "✓"


def doctor(options: argparse.Namespace, stopping: Stopping) -> int:
    problems = 0
    for finding in _findings():
        print(f"{finding.mark} {visible_line(finding.what)}", flush=True)
        if finding.do:
            problems += 1
            print(f"  → {visible_line(finding.do)}", flush=True)
    if problems:
        print(f"\n{problems} problem{'s' if problems > 1 else ''}.")
    return FAILED if problems else DONE


def _findings() -> Iterator[Diagnosis]:
    yield from _versions()
    try:
        config = config_files.load()
        settings = config_files.settings(config)
    except config_files.BadConfig as bad:
        yield Diagnosis(bad.message, "Fix or remove that file. Nothing works until then.")
        return
    yield from _unknown_settings(config)
    yield from _kernelspecs(config)
    models = settings.make_models(Secrets())
    yield from _models(models)
    yield from _added(settings, models)
    yield _labextension()
    yield _server_extension()
    yield _journal(settings)


def _versions() -> Iterator[Diagnosis]:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    yield Diagnosis(f"jupyter_codeinterp {__version__}, with {', '.join(found)}")


def _unknown_settings(config: Config) -> Iterator[Diagnosis]:
    """Settings that nothing reads, such as misspelt ones."""
    from jupyter_server.extension.application import ExtensionApp  # imports a server

    of_ours = CodeInterpSettings.class_trait_names(config=True)
    known = {*of_ours, *ExtensionApp.class_trait_names(config=True)}
    for name in sorted(config.get(SECTION, {})):
        if name not in known:
            near = get_close_matches(name, of_ours, 1)
            fix = "Remove it. jupyter server --help-all lists all settings."
            words = f"Did you mean c.{SECTION}.{near[0]}?" if near else fix
            yield Diagnosis(f"Nothing reads the setting c.{SECTION}.{name}.", words)


def _added(settings: CodeInterpSettings, models: Models) -> Iterator[Diagnosis]:
    """Tools, hooks and providers of other packages, and those that were left out."""
    extensions = Extensions(settings.allowed_packages)
    extensions.load()
    for one in (*extensions.added, *models.added):
        words = str(one)[:1].upper() + str(one)[1:]
        if one.fault == NOT_ALLOWED:
            yield Diagnosis(f"{words} was left out: {one.fault}", idle=True)
        elif one.fault:
            fix = f"Update or remove the package {one.package}."
            yield Diagnosis(f"{words} was left out: {one.fault}", fix)
        else:
            yield Diagnosis(f"{words}{_REACH.get(getattr(one.value, 'effect', ''), '')}")


def _kernelspecs(config: Config) -> Iterator[Diagnosis]:
    from jupyter_client.kernelspec import KernelSpecManager

    specs: dict[str, Any] = KernelSpecManager(config=config).get_all_specs()
    for name, found in sorted(specs.items()):
        program = (found["spec"].get("argv") or [""])[0]
        if shutil.which(program):
            yield Diagnosis(f"kernel {name}: {found['spec'].get('display_name', name)}")
        else:
            words = f"kernel {name}: its program {program} is missing"
            yield Diagnosis(words, f"Install it, or: jupyter kernelspec remove {name}")
    if not specs:
        yield Diagnosis("No kernel is installed.", "pip install ipykernel")


def _models(models: Models) -> Iterator[Diagnosis]:
    if models.warning:
        yield Diagnosis(models.warning, "jupyter codeinterp key set")
    ids = asyncio.run(_asked(models))
    yield from _providers(models)
    if not models.configured:
        words = f"The default model ({models.default}) has no key."
        yield Diagnosis(words, "jupyter codeinterp key set, or set ANTHROPIC_API_KEY")
    elif models.fault:
        return  # The finding on the provider has the error.
    elif models.default in ids:
        yield Diagnosis(f"{len(ids)} models available; default: {models.default}")
    else:
        words = f"No server lists the default model, {models.default}."
        yield Diagnosis(words, "Set another model: c.CodeInterp.model in jupyter_server_config.py")


async def _asked(models: Models) -> set[str]:
    """The ids of all available models. This also tests each provider."""
    try:
        found, _ = await models.available()
    finally:
        await models.close()
    return {info.id for info in found}


def _providers(models: Models) -> Iterator[Diagnosis]:
    """A finding for each provider that has a key or needs none."""
    for one in models.connections():
        if not one.connected:
            continue
        where = f"{one.label}: {key_source(one)}"
        if one.works:
            yield Diagnosis(where)
        elif one.source == "env" and not one.entered and INSTALLS in one.said:
            yield Diagnosis(f"{where}. {one.said}", idle=True)  # The key may be for other programs.
        else:
            yield Diagnosis(f"{where}: does not work", one.said or "jupyter codeinterp key set")


def _labextension() -> Diagnosis:
    places = [Path(folder, LAB_NAME) for folder in jupyter_path("labextensions")]
    place = next((one for one in places if (one / "package.json").is_file()), None)
    if place is None:
        return Diagnosis("The labextension is not installed.", INSTALL)
    built = _json(place / "package.json").get("version")
    if built != __version__:
        words = f"The labextension in {place} is {built}, the package {__version__}."
        return Diagnosis(words, f"{INSTALL}, then reload JupyterLab")
    if by := _disabled():
        words = f"The labextension is disabled in {by}."
        return Diagnosis(words, f"jupyter labextension enable {LAB_NAME}")
    return Diagnosis(f"labextension {built} enabled")


def _disabled() -> str:
    """The page configuration file that disables the labextension; "" for none."""
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


def _server_extension() -> Diagnosis:
    from jupyter_server.extension.config import ExtensionConfigManager

    manager: Any = ExtensionConfigManager(read_config_path=jupyter_config_path())
    enabled = manager.get_jpserver_extensions().get(SERVER_NAME)
    command = f"jupyter server extension enable {SERVER_NAME}"
    if enabled is None:
        return Diagnosis("Jupyter does not know the server extension.", f"{INSTALL}, or: {command}")
    if not enabled:
        return Diagnosis("The server extension is disabled.", command)
    return Diagnosis(f"server extension {__version__} enabled")


def _journal(settings: CodeInterpSettings) -> Diagnosis:
    from ...base.errors import StoreError
    from ...journal.sqlite import SqliteStore

    file = settings.folder / "sessions.db"
    there = next(one for one in (settings.folder, *settings.folder.parents) if one.exists())
    if fault := _not_writable(there):
        words = (
            f"Cannot save conversations in {settings.folder}: {there} is not writable ({fault})."
        )
        return Diagnosis(words, "Make it writable, or set another folder: c.CodeInterp.data_dir")
    try:
        store = SqliteStore(file, str, settings.retention)
        try:
            kept = len(store.list(None))
        finally:
            store.close()
    except StoreError as error:
        return Diagnosis(
            f"Cannot use the journal {file}: {error.message}", "Fix the problem named above."
        )
    return Diagnosis(f"{kept} conversation{'s' if kept != 1 else ''} in {file}")


def _not_writable(folder: Path) -> str:
    """Why no folder can be made in ``folder``; "" if one can. Try it: some file systems refuse
    despite the permissions."""
    try:
        with TemporaryDirectory(dir=folder):
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


def _json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}
