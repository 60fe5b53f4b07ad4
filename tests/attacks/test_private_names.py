"""What a private cell has assigned stays private: names and types go to the model, no values."""

from __future__ import annotations

import json

import pytest

from jupyter_codeinterp.session.server import manager as session_manager
from jupyter_codeinterp.view.redaction.private_names import PrivateNames, assigned
from jupyter_codeinterp.wire import commands as c
from jupyter_codeinterp.wire.ops import CellView
from tests.busy import growth
from tests.fake_anthropic import FakeAnthropic, Request, answer, edit_cell, in_order, run_cell, text
from tests.fake_anthropic.turns import Turn, call
from tests.reference_window import notebook
from tests.site import Site

SECRET = "correct horse battery staple"
CODE = f"""import decimal as money
token = {SECRET!r}
first, (second, *rest) = {SECRET!r}, ({SECRET!r}, {SECRET!r})
if (found := {SECRET!r}): pass
for each in [{SECRET!r}]: pass
noted: str = {SECRET!r}
added = {SECRET!r}
added += {SECRET!r}
"""
NAMES = ["token", "first", "second", "rest", "found", "each", "noted", "added"]


@pytest.mark.parametrize("then", ["stays", "is deleted", "loses its tag and its code"])
async def test_the_model_reads_a_private_cells_variables(
    site: Site, api: FakeAnthropic, then: str
) -> None:
    book = notebook(CODE, "public = 41 + 1")
    book["cells"][0]["metadata"]["tags"] = ["codeinterp-private"]
    kernel_id = await site.kernel()
    person = await site.watch(kernel_id)
    await person.run(CODE)
    await person.run("public = 41 + 1")
    ask = answer(call("inspect_variables", {"names": [*NAMES, "public"]}))
    api.play(in_order([ask, answer(text("Done.")), ask, answer(text("Done."))]))
    w = await site.window("a.ipynb", book, kernel_id)
    await w.ask("What is there?")
    await w.ended()
    if then == "is deleted":
        del w.notebook["cells"][0]
    elif then != "stays":
        w.notebook["cells"][0] |= {"metadata": {}, "source": "pass"}
    await w.ask("And now?")
    await w.ended(2)
    sent = json.dumps([request.body for request in api.requests])
    assert "horse" not in sent
    assert all(f'\\"{name}\\"' in sent or f"{name}:" in sent for name in NAMES)
    assert "42" in sent, "what is not private is told"


async def test_names_follow_a_notebook_that_is_renamed(
    site: Site, api: FakeAnthropic, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The private cell is gone, and nobody follows the conversation meanwhile."""
    monkeypatch.setattr(session_manager, "GRACE", 0.1)
    book = notebook(CODE, "x = 20")
    book["cells"][0]["metadata"]["tags"] = ["codeinterp-private"]
    kernel_id = await site.kernel()
    await (await site.watch(kernel_id)).run(CODE)
    ask = answer(call("inspect_variables", {"names": NAMES}))
    api.play(in_order([answer(text("Done.")), ask, answer(text("Done."))]))
    w = await site.window("a.ipynb", book, kernel_id)
    await w.ask("Go")
    await w.ended()
    del w.notebook["cells"][0]
    assert (await w.send(c.RenameNotebook("a.ipynb", "b.ipynb"))).error is None
    w.path = "b.ipynb"
    manager = site.extension.workbench.manager
    assert manager.is_private("b.ipynb", "token")
    await w.send(c.Unsubscribe(w.session_id))
    await site.until(lambda: manager.sessions.get(w.session_id) is None)
    assert manager.is_private("b.ipynb", "token")
    assert (await w.ask("What is there?")).error is None
    await w.send(c.Subscribe(w.session_id, w.events[-1][0]))
    await w.ended(2)
    sent = json.dumps([request.body for request in api.requests])
    assert "horse" not in sent and "token" in sent


async def test_a_cell_that_becomes_private_in_mid_turn(site: Site, api: FakeAnthropic) -> None:
    """An edit reads its own cell alone; who asks for variables reads them all."""

    def edited(request: Request) -> Turn:
        (cell,) = (cell for cell in w.notebook["cells"] if cell["source"] == "told = 'horse'")
        cell["metadata"] = {**cell["metadata"], "tags": ["codeinterp-private"]}
        return answer(edit_cell("c1", "x = 21"))

    looked = answer(call("inspect_variables", {}))
    api.play(in_order([answer(run_cell("told = 'horse'")), edited, looked, answer(text("Done."))]))
    w = await site.window(kernel_id=await site.kernel())
    await w.ask("Go")
    await w.decide(await w.draft())
    await w.decide(await w.draft(2))
    assert (await w.ended()).stop_reason == "end_turn"
    result = json.dumps(api.requests[-1].body["messages"][-1])
    assert "told" in result and "horse" not in result


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("a = b = f(c)", "a b"),
        ("(a,\n [b, *c]) = d", "a b c"),
        ("a.b = c\nd[e] = f", "a d"),
        ("with open(p) as (a, b), x as c: pass", "a b c"),
        ("import a.b, c as d\nfrom e import f as g, h", "a d g h"),
        ("def a(b): pass\nclass C: pass\nasync def d(): pass", "a C d"),
        ("try: pass\nexcept E as a: pass", "a"),
        ("a: int = 1\nb += 1\n[c := 2]", "a b c"),
        ("for a, (b, c) in d: pass", "a b c"),
        ("!ls\na = 1\nb = !ls\nfor c in d: pass", "a b c"),
        ("%%time\nwith x as a:\n    b = 1", "a b"),
        ("%%capture a\nb = 1", "a b"),
        ("größe = 1\nﬁ = 2", "größe fi"),
        ("a = 1; b = 2", "a b"),
        ("x = $$$\na, b = 1", "x a b"),
        ("match a:\n case {'k': b, **c}: pass\n case [d, *e]: pass", "b c d e"),
    ],
)
def test_names_that_are_assigned(source: str, names: str) -> None:
    found = assigned(source)
    assert set(names.split()) <= set(found)


@pytest.mark.parametrize("shape", ["(", "a=", "for ", "a,", "\n", " ", "as ", "[a", "=", "\\\n"])
def test_a_private_cell_stops_the_server(shape: str) -> None:
    """Linear in what it holds."""

    def source(size: int) -> str:
        return (shape * size)[:size] + "$"

    assert growth(assigned, source, 50_000) == ""


def test_a_column_of_a_private_table_is_not_told() -> None:
    private = PrivateNames()
    private.learn([CellView("a", "code", "", assigns=("token",))])
    told = [{"name": name, "type": "t", "len": 1} for name in ("token['a']", "token", "df['a']")]
    assert private.redact(told) == [{"name": "token", "type": "t"}, told[2]]
