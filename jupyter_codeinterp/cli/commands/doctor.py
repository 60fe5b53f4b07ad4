"""``doctor``: checks the installation and suggests fixes."""

from __future__ import annotations

import argparse
import asyncio
import platform
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from tempfile import TemporaryDirectory

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
        settings = config_files.settings(config_files.load())
    except config_files.BadConfig as bad:
        yield Diagnosis(bad.message, "Fix or remove that file. Nothing works until then.")
        return
    models = settings.make_models(Secrets())
    yield from _models(models)
    yield from _added(settings, models)
    yield _journal(settings)


def _versions() -> Iterator[Diagnosis]:
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    yield Diagnosis(f"jupyter_codeinterp {__version__}, with {', '.join(found)}")


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
            yield Diagnosis(words)


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
        elif one.source == "env" and one.provider != models.default_provider:
            yield Diagnosis(f"{where}. {one.said}", idle=True)  # The key may be for other programs.
        else:
            yield Diagnosis(f"{where}: does not work", one.said or "jupyter codeinterp key set")


def _journal(settings: CodeInterpSettings) -> Diagnosis:
    from ...base.errors import StoreError
    from ...journal.sqlite import SqliteStore

    file = settings.folder / "sessions.db"
    there = next(one for one in (settings.folder, *settings.folder.parents) if one.exists())
    try:
        # Some file systems refuse a folder despite the permissions.
        TemporaryDirectory(dir=there).cleanup()
        store = SqliteStore(file, str, settings.retention)
        try:
            kept = len(store.list(None))
        finally:
            store.close()
        # A file that cannot be written, or was damaged, is no exception here.
        fault = str(store.warning)
    except (StoreError, OSError) as error:
        fault = f"Cannot use the journal {file}: {error}"
    if fault:
        words = "Make its folder writable, or set another one: c.CodeInterp.data_dir"
        return Diagnosis(fault, words)
    return Diagnosis(f"{kept} conversation{'s' if kept != 1 else ''} in {file}")
