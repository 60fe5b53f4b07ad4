"""Packages: which code asks in every mode, and how the card names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_codeinterp.run.approval.code_warnings import installs
from jupyter_codeinterp.wire import events as e
from tests.core.conftest import Room, bench, jp_asyncio_loop, room, shared_room, store
from tests.scripted import Bench, run, say

__all__ = ["bench", "jp_asyncio_loop", "room", "shared_room", "store"]
Benches = Callable[..., Bench]

QUIET = r"""
df.head()
%pip list
!pip show install
!pip list | grep install
import shap  # pip install shap
# %pip install x
uv.update(1)
uv = conda = 1
conda config --add channels x
pip = add(1)
my_pip install
"""
INSTALLS = r"""
%pip install x
%pip install -q x "y>=2"
%pip install x[all]==2.1  # it
%pip install -r a.txt
%pip install x -i https://else.example/simple
%pip install git+https://a.example/x
%conda install -y -c forge x
%mamba install x
%uv pip install x
%uv add x
%conda env update -f a.yml
%%capture\n%pip install x
%time %pip install x
if True:\n    %pip install x
!pip install x
!cd y && pip3 install x
!pip install x 2>/dev/null
log = !pip install x
%system pip install x
!{sys.executable} -m pip install x
!A=1 /opt/bin/python -m pip --quiet install x
%%bash\nset -e\npip install x
import os\nos.system('pip install x; ls')
command = "pip install x"\nos.system(command)
subprocess.run([sys.executable, '-m', 'pip', 'install', 'x'], check=True)
subprocess.run([\n    "pip",\n    "install",\n    "x",\n])
subprocess.run([\n                            "pip",\n                            "install",\n])
sp.check_call(('uv', 'pip', 'install', 'x'))
pip.main(['install', 'x'])
from pip import main\nmain(['install', 'x'])
get_ipython().run_line_magic('pip', 'install x')
get_ipython().system('pip install x')
os.system("true # "); os.system("pip install x")
"""


def cases(table: str) -> list[str]:
    return [line.replace(r"\n", "\n") for line in table.strip().split("\n")]


@pytest.mark.parametrize("source", cases(QUIET))
def test_code_that_installs_nothing(source: str) -> None:
    assert installs(source, "python") == ()


@pytest.mark.parametrize("source", cases(INSTALLS))
def test_code_that_installs(source: str) -> None:
    (said,) = installs(source, "python")
    assert said.startswith("Installs packages: ") and said.partition(": ")[2] in " ".join(
        source.split()
    )


def test_the_card_shows_the_lines() -> None:
    code = "x = 1\n!pip uninstall -y x\n!pip install y\n!pip install y"
    assert installs(code, "python") == (
        "Removes packages: !pip uninstall -y x",
        "Installs packages: !pip install y",
    )
    (said,) = installs(f"!pip install {'x' * 500}", "python")
    assert said.endswith("xx…") and len(said) < 130
    many = "\n".join(f"!pip install x{number}" for number in range(20))
    assert len(installs(many, "python")) == 5


def test_other_languages() -> None:
    code = 'install.packages(c("a", "b"))'
    assert installs(code, "R") == (f"Installs packages: {code}",)
    assert installs('using Pkg\nPkg.add("CSV")', "julia") == ('Installs packages: Pkg.add("CSV")',)
    assert installs("%pip install x", "bash") == ()


async def test_auto_asks_before_it_installs(bench: Benches, room: Room) -> None:
    # ``pip help install`` reaches no network.
    b = bench(run("import no_such_module"), run("%pip install --help no_such_module"), say("Done."))
    b.send(mode="auto")
    draft = await b.draft()
    assert (draft.kind, draft.can_run_all) == ("insert", False)
    assert draft.notices == ("Installs packages: %pip install --help no_such_module",)
    assert b.document.sources()[1:] == [
        "import no_such_module",
        "%pip install --help no_such_module",
    ]
    b.decide(draft)
    await b.ended()
    assert b.of(e.ToolDone)[1].status == "ok"
