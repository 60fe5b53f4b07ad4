"""``pypi`` in an allow list: the package index that the server's pip uses."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit, urlunsplit

from .rules import target

PRESET = "pypi"
INDEX = "https://pypi.org/simple"
FILES = {"pypi.org:443": "files.pythonhosted.org:443"}
"""Where an index has its files, if not on its own host."""
PORTS = {"https": 443, "http": 80}
TIMEOUT = 20.0
_SECTIONS = ("global", "install", ":env:")
"""Of pip's configuration; later ones win."""
_LINE = re.compile(r"(global|install|:env:)\.([a-z-]+)=(.+)")


class Index(NamedTuple):
    """``allow``: its hosts; ``variables`` for pip in the sandbox; ``certificates``: a file that pip
    checks it with, or None."""

    allow: tuple[str, ...]
    variables: dict[str, str]
    certificates: Path | None


def index() -> Index:
    """The index of the server's pip. Its settings are read once per process."""
    return index_of(_configured())


def index_of(settings: Mapping[str, str]) -> Index:
    """``settings`` by pip's names. Raises ValueError for an address that cannot be read."""
    main = settings.get("index-url", INDEX)
    urls = [urlsplit(one) for one in (main, *settings.get("extra-index-url", "").split())]
    urls = [one for one in urls if one.scheme in PORTS]
    if not urls:
        raise ValueError("SandboxProvisioner.allow: pip's index is not on a web server.")
    hosts = [str(target(_place(one), PORTS[one.scheme])) for one in urls]
    allow = dict.fromkeys([*hosts, *(FILES[one] for one in hosts if one in FILES)])
    first, *more = (urlunsplit(one._replace(netloc=_place(one))) for one in urls)
    variables = {"PIP_INDEX_URL": first, "PIP_EXTRA_INDEX_URL": " ".join(more)}
    variables["PIP_TRUSTED_HOST"] = settings.get("trusted-host", "")
    certificates = settings.get("cert")
    return Index(
        tuple(allow),
        {name: value for name, value in variables.items() if value},
        Path(certificates) if certificates else None,
    )


def _place(url: SplitResult) -> str:
    """Without a user and a password: the sandbox holds no secret."""
    return url.netloc.rpartition("@")[2]


@lru_cache(maxsize=1)
def _configured() -> Mapping[str, str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    ran = subprocess.run(
        command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT
    )
    if ran.returncode:  # an environment without pip
        names = ("index-url", "extra-index-url", "trusted-host", "cert")
        given = {one: os.environ.get(f"PIP_{one.upper().replace('-', '_')}") for one in names}
        return {name: value for name, value in given.items() if value}
    return parsed(ran.stdout.splitlines())


def parsed(lines: Sequence[str]) -> dict[str, str]:
    """What ``pip config list`` prints."""
    found = [match for match in map(_LINE.fullmatch, lines) if match is not None]
    found.sort(key=lambda one: _SECTIONS.index(one[1]))
    return {one[2]: str(ast.literal_eval(one[3])) for one in found}
