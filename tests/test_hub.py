"""The configuration of deploy/hub. `scripts/engines hub` starts it with two people."""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import yaml
from traitlets.config import Config

from jupyter_codeinterp.app.config import CodeInterp

HUB = Path(__file__).parents[1] / "deploy" / "hub"


@pytest.fixture
def hub_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The file's names after it ran, without a hub: its spawner gets a base that does nothing."""
    config = Config()
    spawner = types.ModuleType("jupyterhub.spawner")
    spawner.SimpleLocalProcessSpawner = type("SimpleLocalProcessSpawner", (), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jupyterhub", types.ModuleType("jupyterhub"))
    monkeypatch.setitem(sys.modules, "jupyterhub.spawner", spawner)
    monkeypatch.setenv("HUB_FOLDER", str(tmp_path / "hub"))
    monkeypatch.setenv("HUB_PASSWORD", "a word for tests")
    before = os.umask(0o022)
    try:
        names = runpy.run_path(
            str(HUB / "jupyterhub_config.py"), init_globals={"get_config": lambda: config}
        )
    finally:
        os.umask(before)
    return {**names, "config": config}


def test_every_limit_is_a_setting(hub_config: dict[str, Any]) -> None:
    known = CodeInterp.class_traits(config=True)
    for limits in (
        hub_config["LIMITS"],
        _values()["singleuser"]["extraFiles"]["limits"]["data"]["CodeInterp"],
    ):
        assert limits.keys() <= known.keys()
        settings = CodeInterp(config=Config(CodeInterp=limits))
        for name in limits:
            getattr(settings, name)
        # Without a price, a limit in dollars lets no model answer.
        priced = {f"anthropic/{model}" for model in limits["prices"]}
        assert priced == set(limits["allowed_models"])


def test_people_read_the_limits_and_nothing_else(hub_config: dict[str, Any]) -> None:
    file = hub_config["SETTINGS"] / "jupyter_server_config.json"
    assert json.loads(file.read_text())["CodeInterp"]["keys_from_environment"] is True
    environment = hub_config["config"].Spawner.environment
    assert environment["JUPYTER_CONFIG_PATH"] == str(file.parent)
    assert hub_config["config"].Spawner.disable_user_config is True
    modes = {path.name: path.stat().st_mode & 0o777 for path in (file, file.parent)}
    assert modes == {"jupyter_server_config.json": 0o644, "settings": 0o711}
    assert hub_config["FOLDER"].stat().st_mode & 0o777 == 0o711


def test_each_person_has_the_key_of_their_own(hub_config: dict[str, Any]) -> None:
    hub_config["KEYS"].write_text('{"alice": "sk-of-alice", "bob": "sk-of-bob"}')
    for name in ("alice", "bob"):
        spawner = types.SimpleNamespace(user=types.SimpleNamespace(name=name))
        assert hub_config["key_of"](spawner) == f"sk-of-{name}"


def test_limits_win_over_a_file_in_the_home(hub_config: dict[str, Any], tmp_path: Path) -> None:
    """As the command line reads files of one name; servers read none of the home."""
    home = tmp_path / "home"
    (home / ".jupyter").mkdir(parents=True)
    own = "c.CodeInterp.max_steps = 1000\nc.CodeInterp.turn_timeout = 7.0\n"
    (home / ".jupyter" / "jupyter_server_config.py").write_text(own)
    code = (
        "from jupyter_codeinterp.app.config import load\n"
        "settings = load().CodeInterp\nprint(settings.max_steps, settings.turn_timeout)"
    )
    environment = {
        "HOME": str(home),
        "PATH": os.environ["PATH"],
        "JUPYTER_CONFIG_PATH": str(hub_config["SETTINGS"]),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["25", "7.0"]


def _values() -> Any:
    return yaml.safe_load((HUB / "values.yaml").read_text())
