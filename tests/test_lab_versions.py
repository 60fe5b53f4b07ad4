"""The labextension asks every JupyterLab for the versions that ``package.json`` declares.

The build would ask for the versions of the JupyterLab that it was built with, unless
``jupyterlab.sharedPackages`` names others.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = json.loads((ROOT / "package.json").read_text())
HOST = re.compile(r"@jupyterlab/|@jupyter/|@lumino/|@codemirror/view$|react(-dom)?$")
OLDEST = {
    "@jupyterlab/apputils": "^4.3.0",
    "@jupyterlab/coreutils": "^6.2.0",
    "@jupyterlab/services": "^7.2.0",
}
"""Packages of JupyterLab 4.2 whose version is not 4.2."""
IMPORT = re.compile(r"(?:import|export)\s+(type\s)?[^;]*?\sfrom\s+'([^'.][^']*)'")
LOADED = re.compile(r"\bimport\('([^'.][^']*)'\)")


def imported() -> set[str]:
    """The packages of the host that the front end needs at run time."""
    found: set[str] = set()
    for path in (ROOT / "src").rglob("*.ts*"):
        if "__tests__" not in path.parts:
            source = path.read_text()
            found |= {name for types, name in IMPORT.findall(source) if not types}
            found |= set(LOADED.findall(source))
    return {name for name in found if HOST.match(name)}


def test_what_is_needed_at_run_time_is_asked_for_in_the_declared_range() -> None:
    declared = {**PACKAGE["dependencies"], "react-dom": PACKAGE["devDependencies"]["react-dom"]}
    shared = {
        name: package["requiredVersion"]
        for name, package in PACKAGE["jupyterlab"]["sharedPackages"].items()
    }
    assert len(imported()) > 20
    assert shared == {name: declared[name] for name in imported()}


def test_what_is_needed_for_its_types_alone_is_not_asked_for() -> None:
    host = {name for name in PACKAGE["dependencies"] if HOST.match(name)}
    assert host <= imported()


def test_the_oldest_jupyterlab_satisfies_every_range() -> None:
    for name, range_ in PACKAGE["dependencies"].items():
        if name.startswith("@jupyterlab/"):
            assert range_ == OLDEST.get(name, "^4.2.0"), name
