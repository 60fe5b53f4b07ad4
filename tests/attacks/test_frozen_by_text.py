"""No text makes the server slow: whatever reads text of others takes time in proportion to it."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import importlib
import inspect
import json
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

import jupyter_codeinterp
from jupyter_codeinterp.agent.conversation import Conversation
from jupyter_codeinterp.agent.tools.built_in import read_notebook
from jupyter_codeinterp.agent.tools.built_in.edit_cell import Edit, edited
from jupyter_codeinterp.agent.tools.registry import built_in_tools
from jupyter_codeinterp.agent.tools.shared import titles
from jupyter_codeinterp.agent.tools.shared.arguments import so_far
from jupyter_codeinterp.base import visible
from jupyter_codeinterp.base.sentences import Sentence
from jupyter_codeinterp.cell_code import parsing
from jupyter_codeinterp.extensions import Extensions
from jupyter_codeinterp.features.completion import completion
from jupyter_codeinterp.features.figures import lookup
from jupyter_codeinterp.features.figures.outputs import OutputCell
from jupyter_codeinterp.features.mcp_client import server, tool
from jupyter_codeinterp.journal import exports, prose, transcript
from jupyter_codeinterp.journal.event_log import DeferredWrites
from jupyter_codeinterp.notebook import apply, collector, passive
from jupyter_codeinterp.notebook.collector import BoundedText, Collector
from jupyter_codeinterp.run import expected, reported
from jupyter_codeinterp.run.approval import code_warnings
from jupyter_codeinterp.run.approval.notices import notices
from jupyter_codeinterp.run.expected import Contract
from jupyter_codeinterp.run.turn import budget, staleness
from jupyter_codeinterp.run.turn.hooks import CellCode, CellOutputs
from jupyter_codeinterp.run.turn.notebook import found_in
from jupyter_codeinterp.run.turn.staleness import Runs
from jupyter_codeinterp.run.verify import comparing
from jupyter_codeinterp.view import (
    attached,
    images,
    notebook_prompt,
    outputs,
    plain_text,
    references,
    rule_files,
    skills,
    untrusted,
)
from jupyter_codeinterp.view.context import Context
from jupyter_codeinterp.view.injection import caution, signs
from jupyter_codeinterp.view.redaction import found_secrets, secrets
from jupyter_codeinterp.wire import events as e
from jupyter_codeinterp.wire import ops
from jupyter_codeinterp.wire.commands import SessionInfo
from jupyter_codeinterp.wire.messages import Text, ToolResult, ToolUse, assistant, user
from jupyter_codeinterp.wire.ops import CellView, Snapshot
from jupyter_codeinterp.wire.ports import KernelState, ModelInfo
from tests.attacks.shapes import SHAPES
from tests.busy import growth
from tests.core.conftest import bench, jp_asyncio_loop, room, shared_room, store
from tests.reference_window import notebook
from tests.scripted import call, run, say

__all__ = ["bench", "jp_asyncio_loop", "room", "shared_room", "store"]

PRIVATE_KEY = "-----BEGIN PRIVATE KEY-----"
KEY = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
SECRETS = secrets.Secrets()
SECRETS.add(KEY)


def outside_tool(text: str) -> object:
    given: tuple[dict[str, object], ...] = (
        {"type": "object", "description": text[:7_000]},
        {"properties": {text: {"type": text}}},
    )
    schemas = (json.dumps(one, ensure_ascii=False) for one in given)
    found = [server.OutsideTool("", text, text, text, schema) for schema in schemas]
    source: Any = None
    for one in found:
        tool.tool_for(source, one.name, one, UNTRUSTED)
    return [one.fault for one in found]


# --- every function that takes text of others ---------------------------------------------

ROOMS = "agent cell_code journal run session view wire"
NOT_IN_ROOMS = (
    "jupyter_codeinterp.journal.sqlite",
    "jupyter_codeinterp.run.approval.plain_markdown",
    "jupyter_codeinterp.session.server",
)
"""What they have to do with files, a library and windows."""
READERS = (
    "visible lookup reported collector completion rule_files "
    "skills context conversation notebook_prompt apply "
    "ops exports untrusted budget html_text images read_notebook "
    "markdown_cells out_of_sight outputs outputs passive plain_text "
    "private_names prose messages code_warnings changes secrets found_secrets "
    "code_warnings attached references titles tracebacks transcript "
    "notices caution signs cell_names parsing staleness "
    "verification comparing tool tools"
)
"""Modules that look into texts, of these rooms and as `modules` names others (two are ``outputs``).
All of their public functions are measured: here, or by `by_itself`, which measures what it can in
every module."""


def refused(work: Callable[[], object]) -> object:
    with contextlib.suppress(ValueError):
        return work()
    return None


def errors(text: str) -> dict[str, Any]:
    return {"output_type": "error", "ename": text, "evalue": text, "traceback": [text]}


def cell_outputs(text: str) -> list[dict[str, Any]]:
    data = {"text/html": text, "text/plain": "<IPython.core.display.HTML object>"}
    return [
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "display_data", "data": data, "metadata": {}},
        {"output_type": "execute_result", "data": {"text/plain": text}, "metadata": {}},
        {"output_type": "display_data", "data": {"application/json": {text: [text]}}},
        errors(text),
    ]


def snapshot(text: str) -> Snapshot:
    views = [CellView(f"c{i}", "code", text, tuple(cell_outputs(text)), 1) for i in range(2)]
    return Snapshot(text[:1_000], (*views, CellView(text, "markdown", text)), "c1")


def stale_cells(text: str) -> object:
    runs = Runs()
    for number, source in enumerate((f"x = 1\n{text}", text, f"{text}\ny = x")):
        runs.ran(str(number), number + 1, source)
    cells = [staleness.NotebookCell(str(number), f"{text}\n") for number in range(3)]
    return staleness.find(cells, runs)


def describe(text: str) -> str:
    told = Context(scrub=SECRETS.scrub)
    variables = [{"name": text, "type": text, "value": text}]
    first = told.describe(snapshot(text), [(text, 1)], None, variables, set())
    told.describe(snapshot(text + "\nx"), [(text + "y", 1)], None, variables, set())
    return first


def describe_acts(text: str) -> str:
    told = Context(scrub=SECRETS.scrub)
    told.describe(snapshot(text), [], None, [], set())
    return told.describe_acts(snapshot(text + "\nx"), set())


class Kept:
    """A store of nothing."""

    def messages(self, session_id: str) -> tuple[int, tuple[Any, ...]]:
        return 0, ()

    def append_messages(self, *args: Any) -> None:
        pass


def conversation(text: str) -> str:
    later = DeferredWrites(lambda error: None)
    talk = Conversation(Kept(), "s", later, SECRETS.scrub)  # type: ignore[arg-type]
    talk.add(user(*talk.opening(), Text(text)), assistant(Text(text), ToolUse("1", "x", {})))
    talk.add(user(ToolResult("1", (Text(f"status=ok\n{talk.untrusted.shown(text)}"),))))
    assert not talk.ends_with("nothing") and talk.attached == 0
    return talk.summary()


def journal(text: str) -> list[Any]:
    return [
        e.TurnStarted(1, text or "x", "auto", "m"),
        e.StepStarted(1),
        *(e.TextDelta(0, part) for part in (text[:9], text[9:])),
        e.ToolStarted("1", "run_cell", Sentence(text)),
        e.DraftDecided("1", "d", "run", "person", text),
        e.RunStarted("1", "c1", "r", "m", "k"),
        e.ToolDone("1", "run_cell", Sentence(text), "error", detail=f"status=error\n{text}"),
        e.Note(Sentence(text)),
        e.ToolStarted("2", "ask_user", Sentence("")),
        e.QuestionAsked("2", text, (text,)),
        e.QuestionAnswered("2", text),
        e.ToolDone("2", "ask_user", Sentence(""), "ok", detail=f"status=ok\n{text}"),
        e.TextDone(0, text),
    ]


def cautioned(text: str) -> object:
    """Each kind of data, within and without delimiters."""
    found = caution.Cautions()
    quoted = f"<output-0>\n{text}\n</output-0>"
    result = ToolResult("1", (Text(f"status=ok\n{quoted}\n<output-0>{text}"),))
    message = user(Text(f"<context>{text}"), Text(f"[{quoted}"), result)
    return found.labelled(message, "0", ("<context",), ("[",))


def info(text: str) -> SessionInfo:
    return SessionInfo(
        session_id="s",
        notebook=text[:500],
        title=text[:200],
        model="m",
        mode="auto",
        running=False,
        created=0.0,
        changed=0.0,
    )


def collect(text: str) -> object:
    bounded = BoundedText(10_000)
    collector = Collector()
    for place in range(0, len(text), 500):
        bounded.append(text[place : place + 500])
        part = {"name": "stdout", "text": text[place : place + 500]}
        collector.add("stream", part, 500)
    collector.add("error", errors(text), len(text))
    collector.add(
        "display_data",
        {"data": {"text/plain": text}, "metadata": {}, "transient": {"display_id": "d"}},
        len(text),
    )
    collector.update({"data": {"text/plain": text}, "transient": {"display_id": "d"}}, len(text))
    return str(bounded), collector.take()


def check_all(text: str) -> object:
    """All checks of a cell whose kernel reports much, and of one with a line for each letter."""
    at = (1, 0, 1, 5)
    kinds = ("not_a_number", "not_a_date", "no_match", "empty_filter", "joined")
    figures = {"near": [text], "keys": [text]}
    facts: list[object] = [{"kind": kind, "at": at, "figures": figures} for kind in kinds]
    table = {"name": "t", "rows": 20, "odd": [[text, "missing", 5, ""]]}
    facts.append({"kind": "odd_columns", "figures": table})
    lines = [f"v{n} = df[df.a == {letter!r}].b.sum() / len(df)" for n, letter in enumerate(text)]
    found: list[object] = []
    for source in (text, f"x = {text!r}", f"{text} = 1", "\n".join(lines)[: len(text)]):
        cell = CellCode(f"{source}\nt.isna()", asked=text)
        result = {"kinds": [text], "rows": 1, "missing": [text]}
        read = reported.read({"facts": facts, "result": result}, source)
        contract = Contract("x", columns=(text[:100],), rows="2")
        found += expected.findings(contract, read.result)
        seen = ({"output_type": "stream", "text": text},)
        outputs = CellOutputs(seen, read.facts)
        for hook in Extensions().hooks:
            after: Any = hook.after_run(cell, outputs) if hook.after_run is not None else ()
            found += [*after]
    return found


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


HEADS = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
KINDS: tuple[Literal["variable", "column", "cell", "file"], ...] = (
    *("variable", "column", "cell", "file"),
)
UNTRUSTED = untrusted.Untrusted(SECRETS.scrub, "0" * 16)

MEASURED: dict[str, Callable[[str], object]] = {
    "arguments.so_far": lambda t: so_far({"code": t, "after_cell_id": t}, "position"),
    "arguments.read": lambda t: refused(
        lambda: built_in_tools().parse("run_cell", {"cell_index": t, "expects": {t: t}, t: t})
    ),
    "edit_cell.edited": lambda t: refused(lambda: edited(t, [Edit(t[: len(t) // 2], t)])),
    "notebook.found_in": lambda t: found_in([], t),
    "context.Context.new_files": lambda t: Context().new_files([(t, 1)] * 3),
    "ops.place_after": lambda t: ops.place_after([t, "c1"], [t[1:], "c1"]),
    "ops.order_after": lambda t: ops.order_after([t, "c1"], ops.Move("c1", (t[1:], t))),
    "ops.after_op": lambda t: ops.after_op(snapshot(t), ops.Insert("new", "code", t, (t, "c1"))),
    "lookup.look_up": lambda t: lookup.look_up(t, t, [OutputCell("c1", tuple(cell_outputs(t)))], t),
    "lookup.work": lambda t: lookup.work(t, [OutputCell("c1", tuple(cell_outputs(t)))], t),
    "collector.BoundedText.append collector.Collector.add collector.Collector.update": collect,
    "completion.request": lambda t: completion.request(
        t, completion.Unfinished(t, t, (t,), t), (t,), str
    ),
    "context.Context.describe notebook_prompt.cells": describe,
    "context.Context.describe_acts": describe_acts,
    "conversation.Conversation.ends_with conversation.Conversation.summary": conversation,
    "notebook_prompt.bounded": lambda t: notebook_prompt.bounded(t.split("\n"), 1_000, "lines"),
    "caution.named": lambda t: caution.named([t]),
    "notebook_prompt.cell_tag": lambda t: notebook_prompt.cell_tag(
        snapshot(t).cells[0], t, SECRETS.scrub, 1_000, {"place": t}
    ),
    "notebook_prompt.earlier": lambda t: notebook_prompt.earlier(
        [CellView("c", "code", t, (), 1)], KernelState(cells_run=1, inputs=(0, 1))
    ),
    "notebook_prompt.file_lines": lambda t: notebook_prompt.file_lines([(t, 1)] * 3, str, {t: t}),
    "notebook_prompt.packages_text": lambda t: notebook_prompt.packages_text({t: t}),
    "context.Context.knows notebook_prompt.variable_lines": lambda t: Context().knows(
        [{"name": "x", "type": t, "value": t, "columns": [[t, t]]}], SECRETS.scrub
    ),
    "ops.fits": lambda t: ops.fits({t: [t, {t: list(t)}]}, 10 * len(t)),
    "ops.joined": lambda t: ops.joined([t, t]),
    "ops.shaped": lambda t: ops.shaped({"id": t, "source": [t, t], "metadata": {t: t}}),
    "ops.weight": lambda t: ops.weight({t: [t, {t: list(t)}]}),
    "budget.only_announces": budget.only_announces,
    "reported.hides_failures": lambda t: reported.hides_failures(f"%%bash {t}\n{t}"),
    "prose.fenced": lambda t: prose.fenced(t, t),
    "exports.markdown": lambda t: exports.markdown(info(t), journal(t)),
    "untrusted.Untrusted.inert": UNTRUSTED.inert,
    "untrusted.Untrusted.quoted": UNTRUSTED.quoted,
    "untrusted.Untrusted.shown": UNTRUSTED.shown,
    "untrusted.balanced": lambda t: untrusted.balanced(t, "0" * 16),
    "budget.LoopGuard.add": lambda t: budget.LoopGuard().add(ToolUse("1", "x", {"a": t}), t),
    "reported.read": check_all,
    "attached.see": lambda t: attached.see(
        "a.pdf", "a.pdf", b"%PDF-" + encoded(t), ModelInfo("m", "M"), attached.FileRoom(1)
    ),
    "images.media_type": lambda t: images.media_type(encoded(t)),
    "images.size": lambda t: [images.size(head + encoded(t), media) for head, media in HEADS],
    "read_notebook.cell_texts": lambda t: read_notebook.cell_texts(
        list(snapshot(t).cells), True, UNTRUSTED
    ),
    "transcript.for_people": lambda t: [
        transcript.for_people(
            e.ToolDone("c", "x", Sentence(""), "ok", detail=f"status=ok\n{before}{t}")
        )
        for before in ("[", "[image not shown: ", "; read_output(", "; read_output(x) reads on, of")
    ],
    "outputs.excerpt": lambda t: outputs.excerpt(t, 0),
    "outputs.picture_text": lambda t: outputs.picture_text(t, 1),
    "outputs.read": lambda t: outputs.read(cell_outputs(t), 100),
    "outputs.result_text": lambda t: outputs.result_text(status="ok", cell_id=t, body=t),
    "outputs.see": lambda t: outputs.see(cell_outputs(t), images_left=3, scrub=SECRETS.scrub),
    "passive.is_passive": lambda t: [passive.is_passive([output]) for output in cell_outputs(t)],
    "passive.is_plain_html": lambda t: [
        passive.is_plain_html(before + t)
        for before in ("", "<td ", '<td class="', "<style>", "<style>.dataframe {", "<b>" * 100)
    ],
    "passive.passive_data": lambda t: passive.passive_data({"text/html": t}),
    "plain_text.cut": lambda t: plain_text.cut(t, 500),
    "plain_text.ends": lambda t: plain_text.ends(t, 500),
    "notices.notices": lambda t: notices(t, "python", ()),
    "code_warnings.installs": lambda t: [
        code_warnings.installs(f"%pip install\n{t}", language)
        for language in ("python", "r", "julia")
    ],
    "references.named": lambda t: references.named(
        [*(e.Reference(kind, name) for kind in KINDS for name in ("c1", t)), e.Reference("error")],
        snapshot(t),
        [{"name": t, "type": t, "value": t}],
        [(t, 1)],
        UNTRUSTED,
    ),
    "secrets.Secrets.scrub": SECRETS.scrub,
    "rule_files.as_text": lambda t: rule_files.as_text(
        [(t, t)] * 3, untrusted.Untrusted(SECRETS.scrub)
    ),
    "skills.called_told": lambda t: skills.called_told(
        [(skills.parsed("x", t, f"---\n{t}\n---\n{t}"), t)] * 3,
        untrusted.Untrusted(SECRETS.scrub),
    ),
    "skills.skill_text": lambda t: skills.skill_text(
        skills.parsed("x", t, t), untrusted.Untrusted(SECRETS.scrub)
    ),
    "skills.skills_told": lambda t: skills.skills_told(
        [skills.Skill(t[:64], t, t)] * 3, untrusted.Untrusted(SECRETS.scrub)
    ),
    "skills.split": lambda t: [skills.split(one) for one in (t, f"---\n{t}\n---\n{t}")],
    "skills.arguments_in": lambda t: [
        skills.arguments_in(one, "x") for one in (t, f"/x {t}", f"/x{t}")
    ],
    "skills.nearest": lambda t: skills.nearest([skills.Skill(t, t), skills.Skill("x", t)]),
    "skills.filled": lambda t: [skills.filled(t, t), skills.filled("$1", t)],
    "skills.parsed": lambda t: skills.parsed(t, t, f"---\n{t}\n---\n{t}"),
    "titles.title_so_far": lambda t: titles.title_so_far("", t),
    "visible.visible": lambda t: [visible.visible(t), visible.visible(t, code=True)],
    "comparing.compare": lambda t: comparing.compare(
        cell_outputs(t), cell_outputs(f"{t}1"), (t[:99], "x")
    ),
    "comparing.differing_line": lambda t: comparing.differing_line([t], [f"{t} 1.5"]),
    "comparing.last_lines": lambda t: comparing.last_lines([errors(t)]),
    "comparing.same_values": lambda t: comparing.same_values(t, f"{t}.0"),
    "comparing.without_ids": lambda t: comparing.without_ids(f"<b id='a'>{t}"),
    "caution.Cautions.labelled": cautioned,
    "caution.Cautions.take_up": lambda t: caution.Cautions().take_up([user(Text(t))]),
    "found_secrets.without_secrets": lambda t: [
        found_secrets.without_secrets(one)
        for one in (t, *(t.replace("x", said)[: len(t)] for said in ("token=x", PRIVATE_KEY)))
    ],
    "signs.signs": lambda t: [signs.signs(one) for one in (t, t.replace("x", "ignore "))],
    "parsing.parse": lambda t: parsing.parse(t, 20_000),
    "staleness.find": stale_cells,
    "staleness.same_code": lambda t: staleness.same_code(t, f"{t} "),
    "tool.outputs_of": lambda t: tool.outputs_of(server.OutsideAnswer(t), str),
    "tool.words_of": lambda t: tool.words_of(t, t, {"a": t[:3_000]}),
    "tool.tool_for": outside_tool,
}
NOT_READ = {
    "keeps what it gets": (
        "conversation.Conversation.add conversation.Conversation.continue_from "
        "conversation.Conversation.restart context.Context.noted context.Context.seen "
        "context.Context.seen_source private_names.PrivateNames.learn "
        "staleness.Watch.knows staleness.Watch.put staleness.Watch.ran staleness.Watch.report "
        "titles.name_of messages.route "
        "conversation.Conversation.has"
    ),
    "looks up an id": "context.Context.source_seen context.Context.moved stores.whole_op",
    "compares ids, names, or beginnings": (
        "notebook_prompt.is_private notebook_prompt.count_text ops.Snapshot.cell "
        "ops.Snapshot.with_cell outputs.kept_under outputs.outputs_of "
        "messages.pictures messages.tool_uses messages.with_room exports.pictures "
        "reported.has_picture"
    ),
    "passes on; the adapter's own test measures it": "markdown_cells.risks messages.Sender.prepare",
    "joins what others of this list have read": (
        "attached.see attached.weight budget.no_price budget.Budget.asks_for_step "
        "code_warnings.checked code_warnings.warnings_on "
        "messages.checked messages.Queue.add messages.Queue.with_text "
        "verification.lines "
        "staleness.Runs.ran staleness.Values.run staleness.Values.value staleness.Watch.stale"
    ),
    "cuts sources": "changes.review",
    "gets a hook of a package, once": "hooks.validate",
    "refuses more than 200 characters": "messages.checked_title",
    "reads keys: they come from the person": (
        "secrets.Secrets.add secrets.Secrets.forget secrets.encodings"
    ),
}
"""Why these functions of the readers need no measuring."""
GIVEN: dict[str, Callable[[str], object]] = {
    **dict.fromkeys(("str", "object", "Any"), lambda text: text),
    **dict.fromkeys(("Scrub", "Callable[[str], str]"), lambda text: SECRETS.scrub),
    "Output": errors,
    "Sequence[Output]": cell_outputs,
    "Iterable[Event]": journal,
}
"""What to give for a parameter of this kind."""


def modules() -> Iterator[tuple[str, ModuleType]]:
    """Those of the rooms that read texts, by the last part of their names."""
    for found in in_rooms():
        if not found.ispkg:
            yield found.name.rpartition(".")[2], importlib.import_module(found.name)
    for module in (visible, apply, collector, passive, tool, server):
        yield module.__name__.rpartition(".")[2], module


def in_rooms() -> Iterator[pkgutil.ModuleInfo]:
    for name in ROOMS.split():
        package = importlib.import_module(f"jupyter_codeinterp.{name}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not found.name.startswith(NOT_IN_ROOMS):
                yield found


def takers() -> Iterator[tuple[str, str, Any]]:
    """Public functions and methods of the core that take more than numbers: each with the names
    of its module and of itself."""
    for name, module in modules():
        for key, value in vars(module).items():
            if getattr(value, "__module__", "") != module.__name__ or key.startswith("_"):
                continue
            members = vars(value).items() if inspect.isclass(value) else ()
            found = {f"{key}.{method}": one for method, one in members if method[0] != "_"}
            for qualified, function in (found or {key: inspect.unwrap(value)}).items():
                if inspect.isfunction(function) and any(map(_is_text, _kinds(function))):
                    yield name, qualified, function


def _kinds(function: Any) -> list[str]:
    return [str(kind) for name, kind in function.__annotations__.items() if name != "return"]


def _is_text(kind: str) -> bool:
    words = "str Any object Output CellView Snapshot Event Item Change Message"
    return any(re.search(rf"\b{word}\b", kind) for word in words.split())


def by_itself(function: Any) -> Callable[[str], object] | None:
    """The function as one of a text, where all that it must be given has a kind in `GIVEN`."""
    parameters = inspect.signature(function).parameters.values()
    kinds = {one.name: one.annotation for one in parameters if one.default is one.empty}
    if "language" in kinds or not (GIVEN.keys() >= set(kinds.values()) != set()):
        return None

    def work(text: str) -> object:
        result = function(**{name: GIVEN[kind](text) for name, kind in kinds.items()})
        return list(result) if isinstance(result, Iterator) else result

    return work


LISTED = {name for names in (*MEASURED, *NOT_READ.values()) for name in names.split()}
for module, qualified, function in takers():
    if (name := f"{module}.{qualified}") not in LISTED and (work := by_itself(function)):
        MEASURED[name] = work


def test_a_new_function_that_takes_text_cannot_be_forgotten() -> None:
    read = {f"{module}.{name}" for module, name, _ in takers() if module in READERS.split()}
    assert read <= LISTED | MEASURED.keys(), "measure it, or say why it needs not be"


def test_a_room_itself_holds_no_code_that_could_be_forgotten() -> None:
    for found in in_rooms():
        if found.ispkg:
            init = Path(str(importlib.import_module(found.name).__file__))
            (doc,) = ast.parse(init.read_text("utf-8")).body
            assert isinstance(doc, ast.Expr) and isinstance(doc.value, ast.Constant), init


# --- measuring ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MEASURED)
def test_text_made_to_be_slow_takes_time_in_proportion(name: str) -> None:
    """And none raises, however short."""
    for shape in SHAPES.values():
        for n in (1, 7, 500):
            MEASURED[name](shape(n))
    found = {said: growth(MEASURED[name], shape, 2_000) for said, shape in SHAPES.items()}
    assert {said: wrong for said, wrong in found.items() if wrong} == {}


def patterns() -> dict[str, re.Pattern[Any]]:
    """Every pattern of the package that has a name."""
    found = {}
    for module in pkgutil.walk_packages(jupyter_codeinterp.__path__, "jupyter_codeinterp."):
        if module.name.endswith("__main__"):
            continue
        for key, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern):
                found[f"{module.name.removeprefix('jupyter_codeinterp.')}.{key}"] = value
    return found


ONLY_AT_THE_START = {
    "run.approval.plain_markdown._DEFINITION": "a line",
    "models.anthropic.clouds._VERTEX_PATH": "an address, the whole of it",
    "run.approval.plain_markdown._FENCE": "a line",
    "kernel.iopub._NUMBERED": "a message's id, the whole of it",
    "journal.prose._FENCE": "a line",
    "journal.prose._RULE": "a line",
    "view.tracebacks._HEADER": "a line, at most 2,000 characters of it",
    "view.tracebacks._COMPILED": "a frame's file, at most 2,000 characters",
    "view.tracebacks._LIBRARY": "a frame's file, at most 2,000 characters",
    "view.tracebacks._INSIDE": "a line",
    "view.outputs._BARE": "the whole text",
    "features.checks.findings._MARK": "an example, the whole of it",
    "run.approval.notices._MAGIC": "a line",
    "features.figures.answer._VALUE": "the whole text",
    "features.figures.outputs._BARE": "the whole text",
    "sandbox.network.book._ENTRY": "an entry of a fixed size, the whole of it",
    "sandbox.network.rules._NAME": "a host's name, the whole of it",
    "sandbox.network.rules._PLACE": "an admin's entry or a request's target, the whole of it",
    "features.checks.in_kernel.NUMBER": "a value, the whole of it",
    "features.checks.in_kernel.ISO": "a value",
}
"""Patterns that are matched at one place, where searching for them would be slow."""


@pytest.mark.parametrize("name", patterns())
def test_no_pattern_of_the_package_is_slow(name: str) -> None:
    pattern = patterns()[name]
    matching = name in ONLY_AT_THE_START

    def work(text: str) -> object:
        given: Any = text if isinstance(pattern.pattern, str) else text.encode()
        return pattern.match(given) if matching else sum(1 for _ in pattern.finditer(given))

    found = {said: growth(work, shape, 3_000) for said, shape in SHAPES.items()}
    assert {said: wrong for said, wrong in found.items() if wrong} == {}


# --- outputs of the wrong shape -----------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        [{"output_type": "display_data", "data": []}],
        [{"output_type": "display_data", "data": {"text/html": 5, "text/plain": [1, "x"]}}],
        [{"output_type": "stream", "text": {"a": 1}}, {"output_type": "stream"}],
        [{"output_type": "error", "traceback": 7, "ename": None, "evalue": ["x"]}],
        [{}, {"output_type": None}, {"data": None}],
        ["no output", None, 3],
        [{"output_type": "display_data", "data": {"application/json": {"a": {1, 2}}}}],
    ],
)
def test_a_saved_output_of_the_wrong_shape_is_read_all_the_same(given: list[Any]) -> None:
    outputs.see(given, images_left=3)
    outputs.full_text(given)
    assert ops.weight(given) >= 0


def test_json_that_is_nested_too_deep_is_said_in_words() -> None:
    nested: Any = "x"
    for _ in range(100_000):
        nested = [nested]
    data = {"output_type": "display_data", "data": {"application/json": nested}}
    said = outputs.see([data], images_left=0).text
    assert "nested too deep" in said or "the rest of the JSON was not read" in said


# --- the event loop -----------------------------------------------------------------------

SILENCE = 0.05
"""Seconds for which the event loop may do nothing else."""
HEAVY = (
    "less-than signs and blanks",
    "blanks",
    "erased beginnings of lines",
    "open tags",
    "declarations",
    "backspaces",
    "invisible characters",
)


async def longest_silence(work: Any) -> float:
    """The longest time without a turn of the loop while ``work`` is awaited: processor time of
    all threads, since what else the machine does is no fault of the text's."""
    longest = 0.0
    over = False

    async def beat() -> None:
        nonlocal longest
        last = time.process_time()
        while not over:
            await asyncio.sleep(0)
            now = time.process_time()
            longest, last = max(longest, now - last), now

    beating = asyncio.ensure_future(beat())
    try:
        await work
    finally:
        over = True
        await beating
    return longest


@pytest.mark.parametrize("said", HEAVY)
async def test_a_megabyte_of_such_text_does_not_stop_the_server(bench: Any, said: str) -> None:
    text = SHAPES[said](1_000_000)
    silences = []
    for _ in range(5):
        book = notebook(text)
        book["cells"][0]["outputs"] = cell_outputs(text)
        b = bench(
            call("read_notebook", outputs=True),
            run(f"print({text[:20]!r} * 50000)"),
            say("Done."),
            book=book,
        )
        silences.append(await longest_silence(b.turn()))
        assert [done.status for done in b.of(e.ToolDone)] == ["ok", "ok"]
        if silences[-1] <= SILENCE:
            break
    assert min(silences) <= SILENCE
