"""Packages: what asks in every mode and how the card names it, what is missing, and the cell that
installs it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.run.approval.installs import installs, requirements
from jupyter_codeinterp.run.approval.packages import hint, missing_module
from jupyter_codeinterp.wire import events as e
from tests.core.conftest import Room, bench, jp_asyncio_loop, room, shared_room, store
from tests.scripted import Bench, run, say

__all__ = ["bench", "jp_asyncio_loop", "room", "shared_room", "store"]
Benches = Callable[..., Bench]

HERE = "into this kernel's environment"
SHELL = "into the environment of the shell"

# source, what the card says, what can be written down in the notebook
TABLE = [
    ("df.head()", "", ""),
    ("print('pip install x')", "", ""),
    ("%pip list", "", ""),
    ("%pip install x", f"Installs 1 package {HERE}: x.", "x"),
    ('%pip install -q x "y>=2"', f"Installs 2 packages {HERE}: x, y>=2.", "x y>=2"),
    ("%pip install x[all]==2.1  # it", f"Installs 1 package {HERE}: x[all]==2.1.", "x[all]==2.1"),
    ("%pip uninstall -y x", "Removes 1 package from this kernel's environment: x.", ""),
    ("%pip install -r a.txt", f"Installs 1 package {HERE}: a.txt (a file or folder).", ""),
    (
        "%pip install x -i https://else.example/simple",
        f"Installs 1 package {HERE}: x. From https://else.example/simple.",
        "x",
    ),
    ("%pip install git+https://a.example/x", f"Installs 1 package {HERE}: git+https", ""),
    ("%conda install -y -c forge x", f"Installs 1 package {HERE}: x. From forge.", "x"),
    ("%mamba install x", f"Installs 1 package {HERE}: x.", "x"),
    ("%uv pip install x", f"Installs 1 package {HERE}: x.", "x"),
    ("%%capture\n%pip install x", f"Installs 1 package {HERE}: x.", "x"),
    ("%time %pip install x", f"Installs 1 package {HERE}: x.", "x"),
    ("if True:\n    %pip install x", f"Installs 1 package {HERE}: x.", "x"),
    ("!pip install x", f"Installs 1 package {SHELL}: x.", ""),
    ("!uv pip install x", f"Installs 1 package {SHELL}: x.", ""),
    ("!cd y && pip3 install x", f"Installs 1 package {SHELL}: x.", ""),
    ("!pip install x 2>/dev/null", f"Installs 1 package {SHELL}: x.", ""),
    ("!pip install >> a.log x 2>&1 <b", f"Installs 1 package {SHELL}: x.", ""),
    ("log = !pip install x", f"Installs 1 package {SHELL}: x.", ""),
    ("%system pip install x", f"Installs 1 package {SHELL}: x.", ""),
    ("!{sys.executable} -m pip install x", f"Installs 1 package {HERE}: x.", "x"),
    ("!A=1 python -m pip install x", f"Installs 1 package {SHELL}: x.", ""),
    ("%%bash\nset -e\npip install x", f"Installs 1 package {SHELL}: x.", ""),
    ("import os\nos.system('pip install x; ls')", f"Installs 1 package {SHELL}: x.", ""),
    (
        "subprocess.run([sys.executable, '-m', 'pip', 'install', 'x'], check=True)",
        f"Installs 1 package {HERE}: x.",
        "x",
    ),
    ("sp.check_call(('uv', 'pip', 'install', 'x'))", f"Installs 1 package {SHELL}: x.", ""),
    ("pip.main(['install', 'x'])", f"Installs 1 package {HERE}: x.", "x"),
    ("get_ipython().run_line_magic('pip', 'install x')", f"Installs 1 package {HERE}: x.", "x"),
    ("get_ipython().system('pip install x')", f"Installs 1 package {SHELL}: x.", ""),
    (
        "%pip install " + " ".join(f"p{n}" for n in range(12)),
        f"Installs 12 packages {HERE}: p0",
        None,
    ),
]


@pytest.mark.parametrize(("source", "said", "written"), TABLE)
def test_python(source: str, said: str, written: str | None) -> None:
    found = installs(source, "python")
    assert " ".join(found).startswith(said) and bool(found) == bool(said)
    if written is not None:
        assert " ".join(requirements(source)) == written


def test_other_languages() -> None:
    assert installs('install.packages(c("a", "b"))', "R") == (f"Installs 2 packages {HERE}: a, b.",)
    assert installs('using Pkg\nPkg.add("CSV")', "julia") == (f"Installs 1 package {HERE}: CSV.",)
    assert installs("%pip install x", "bash") == ()


@pytest.mark.parametrize(
    ("message", "package"),
    [
        ("No module named 'sklearn'", "scikit-learn"),
        ("No module named 'cv2'", "opencv-python-headless"),
        ("No module named 'PIL.Image'", "pillow"),
        ("No module named 'yaml'", "PyYAML"),
        ("No module named 'bs4'", "beautifulsoup4"),
        ("No module named 'some_module'", "some-module"),
    ],
)
def test_the_package_of_a_missing_module(message: str, package: str) -> None:
    said = hint(message, ())
    assert f"`%pip install {package}`" in said and len(said) < 300 and "\n" not in said


@pytest.mark.parametrize(
    "message",
    ["No module named 'distutils'", "No module named 'helper'", "No module named 'x; y'", "x", ""],
)
def test_nothing_to_install(message: str) -> None:
    assert hint(message, {"helper"}) == ""
    assert missing_module(message) in ("", "helper")


async def test_auto_asks_before_it_installs(bench: Benches, room: Room) -> None:
    # ``pip help install`` reaches no network.
    b = bench(run("import no_such_module"), run("%pip install --help no_such_module"), say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert (draft.kind, draft.can_run_all) == ("insert", False)
    assert draft.notices == (f"Installs 1 package {HERE}: no_such_module.",)
    assert b.document.sources()[1:] == [
        "import no_such_module",
        "%pip install --help no_such_module",
    ]
    failed = b.of(e.ToolDone)[0]
    assert "pip install" not in failed.detail, "only the model reads it"
    told = str(b.model.requests[1].messages[-1])
    assert "`%pip install no-such-module`" in told
    b.decide(draft)
    await b.ended()
    assert b.of(e.ToolDone)[1].status == "ok"
