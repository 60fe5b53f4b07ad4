"""``scripts/wheel/contents.py`` refuses a wheel that lacks a file, or has one too many."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from scripts.wheel.contents import MOST_BYTES, differences, faults

DATA = "jupyter_codeinterp-1.2.3.data/data/"
LAB = DATA + "share/jupyter/labextensions/jupyter-codeinterp/"
GOOD = [
    "jupyter_codeinterp/__init__.py",
    "jupyter_codeinterp/_version.py",
    "jupyter_codeinterp/models/http/facts.json",
    "jupyter_codeinterp/agent/tools/built_in/run_cell.py",
    "jupyter_codeinterp/demo/growth.jsonl",
    "jupyter_codeinterp/demo/sales.csv",
    "jupyter_codeinterp/demo/sales.ipynb",
    "jupyter_codeinterp/features/eval/tasks/conversation/task.json",
    "jupyter_codeinterp/features/eval/tasks/sql-nulls/shop.db",
    "jupyter_codeinterp/py.typed",
    LAB + "install.json",
    LAB + "package.json",
    LAB + "schemas/jupyter-codeinterp/core.json",
    LAB + "schemas/jupyter-codeinterp/package.json.orig",
    LAB + "schemas/jupyter-codeinterp/panel.json",
    LAB + "static/232.f366a64d09421b07.js",
    LAB + "static/remoteEntry.187f0dc0dbd3f727.js",
    LAB + "static/style.js",
    LAB + "static/third-party-licenses.json",
    DATA + "etc/jupyter/jupyter_server_config.d/jupyter_codeinterp.json",
    "jupyter_codeinterp-1.2.3.dist-info/METADATA",
    "jupyter_codeinterp-1.2.3.dist-info/RECORD",
    "jupyter_codeinterp-1.2.3.dist-info/WHEEL",
    "jupyter_codeinterp-1.2.3.dist-info/entry_points.txt",
    "jupyter_codeinterp-1.2.3.dist-info/licenses/LICENSE",
]
NEEDED = [name for name in GOOD if not name.endswith((".orig", "METADATA", "RECORD", "WHEEL"))]
UNNEEDED = ("run_cell", "232.", "shop.db")
NEEDED = [name for name in NEEDED if not any(part in name for part in UNNEEDED)]
NEEDED.remove("jupyter_codeinterp-1.2.3.dist-info/entry_points.txt")
UNWANTED = [
    LAB + "static/232.f366a64d09421b07.js.map",
    LAB + "build_log.json",
    "jupyter_codeinterp/labextension/static/style.js",
    "jupyter_codeinterp/labextension/__init__.py",
    "jupyter_codeinterp/core/tests/test_agent.py",
    "jupyter_codeinterp/demo/.ipynb_checkpoints/sales-checkpoint.ipynb",
    "jupyter_codeinterp/features/eval/tasks/sql-nulls/codeinterp-eval/index.html",
    "tests/test_rest.py",
    "src/index.ts",
    "yarn.lock",
    "devtools/package.json",
]


def test_the_files_of_a_good_wheel_have_no_faults() -> None:
    assert faults(GOOD, MOST_BYTES) == []


@pytest.mark.parametrize("name", NEEDED)
def test_a_needed_file_is_missed(name: str) -> None:
    (fault,) = faults([other for other in GOOD if other != name], 1)
    assert fault.startswith("missing: ")


@pytest.mark.parametrize("name", UNWANTED)
def test_a_file_that_does_not_belong_there_is_named(name: str) -> None:
    assert faults([*GOOD, name], 1) == [f"unexpected: {name}"]


def test_the_size_has_a_bound() -> None:
    assert faults(GOOD, MOST_BYTES + 1) == ["too large: 1000001 bytes, at most 1000000"]


def test_two_wheels_differ_by_files_and_by_content(tmp_path: Path) -> None:
    given = {
        "one": {"a": "1", "b": "2"},
        "same": {"b": "2", "a": "1"},
        "other": {"a": "3", "c": ""},
    }
    for name, files in given.items():
        with ZipFile(tmp_path / name, "w") as wheel:
            for file, text in files.items():
                wheel.writestr(file, text)
    assert differences(tmp_path / "one", tmp_path / "same") == []
    assert differences(tmp_path / "one", tmp_path / "other") == [
        "differs: a",
        "differs: b",
        "differs: c",
    ]
