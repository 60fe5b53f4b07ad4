"""Checks whether the final answers, notebook, variables and files solve a task."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from .tasks import ExpectedValue, TaskSpec

_BETWEEN = ",'\u2019\u00a0\u202f"  # thousands: comma, apostrophes, spaces that do not break
_NUMBER = re.compile(rf"[-\u2212]?\d+(?:[{_BETWEEN}]\d{{3}})*(?:\.\d+)?(?:[eE][-+]?\d{{1,3}})?")
_GROUPS = str.maketrans({"\u2212": "-", **dict.fromkeys(_BETWEEN)})
_MARKUP = str.maketrans(dict.fromkeys("*`'\""))
SLACK = 1e-9  # absolute and relative tolerance, for rounding errors

Notebook = Mapping[str, Any]


class TrialEnd(msgspec.Struct, frozen=True):
    """A finished run. ``answers``: one for each question. ``variables``: as the kernel describes
    them. ``ran_code``: whether any code ran. ``stopped``: the last turn's stop reason."""

    answers: tuple[str, ...]
    before: Notebook
    after: Notebook
    folder: Path
    variables: Sequence[Mapping[str, Any]] = ()
    ran_code: bool = False
    stopped: str = "end_turn"


def faults(spec: TaskSpec, ended: TrialEnd) -> tuple[str, ...]:
    """Sentences about what is wrong; empty if the task is solved."""
    text = "\n\n".join(ended.answers)
    early = "" if ended.stopped == "end_turn" else f"the turn stopped early: {ended.stopped}"
    found = [early, *(_answer(value, text) for value in spec.answer)]
    known = {one["name"]: str(one.get("value", "no number or text")) for one in ended.variables}
    for name, value in spec.variables.items():
        now = known.get(name, "not there")
        found.append("" if _is(value, now) else f"{name} is {now}, and should be {value}")
    for cell_id, value in spec.outputs.items():
        right = _holds(value, _output(ended.after, cell_id))
        found.append("" if right else f"the outputs of cell {cell_id} lack {value}")
    for path, wanted in spec.files.items():
        right = (ended.folder / path).is_file() == wanted
        found.append("" if right else f"{path} {'is missing' if wanted else 'must not be there'}")
    found += _changed(spec, ended)
    found.append("no picture was drawn" if spec.picture and not _has_picture(ended.after) else "")
    found.append("code ran" if spec.no_code and ended.ran_code else "")
    return tuple(filter(None, found))


def numbers(text: str) -> list[float]:
    """All numbers of a text."""
    return [float(found.translate(_GROUPS)) for found in _NUMBER.findall(text)]


def _near(value: ExpectedValue, number: float) -> bool:
    slack = value.within + SLACK
    return any(abs(number - one) <= slack + SLACK * abs(one) for one in value.near)


def _holds(value: ExpectedValue, text: str) -> bool:
    """Whether the value occurs in the text."""
    words = " ".join(text.casefold().split())
    near = any(_near(value, number) for number in numbers(text))
    return near or any(one.casefold() in words for one in value.texts)


def _is(value: ExpectedValue, text: str) -> bool:
    """Whether the text is only the value; a unit may follow a number."""
    text = text.translate(_MARKUP).strip()
    if value.texts:
        return text.casefold() in {one.casefold() for one in value.texts}
    return any(_near(value, number) for number in numbers(text)[:1])


def _answer(value: ExpectedValue, text: str) -> str:
    if not value.name:
        return "" if _holds(value, text) else f"the answer lacks {value}"
    found = re.findall(rf"@{re.escape(value.name)}\[([^\]\n]*)\]", text)
    if not found:
        return f"the answer lacks @{value.name}[…]"
    return "" if _is(value, found[-1]) else f"@{value.name}[{found[-1]}] should be {value}"


def _changed(spec: TaskSpec, ended: TrialEnd) -> list[str]:
    """Sentences about cells that should be unchanged and are not."""
    before, after = (
        {cell["id"]: cell for cell in one["cells"]} for one in (ended.before, ended.after)
    )
    named = before if spec.unchanged is True else spec.unchanged or ()
    words = [
        f"cell {cell_id} was {'changed' if cell_id in after else 'deleted'}"
        for cell_id in named
        if _content(before.get(cell_id)) != _content(after.get(cell_id))
    ]
    moved = spec.unchanged is True and [one for one in after if one in before] != list(before)
    return words or (["cells were moved"] if moved else [])


def _content(cell: Notebook | None) -> tuple[str, str] | None:
    return None if cell is None else (cell["cell_type"], _joined(cell["source"]))


def _joined(text: object) -> str:
    """Join a text of a notebook file, which may be a list of lines."""
    return "".join(map(str, text)) if isinstance(text, list) else str(text or "")


def _output(notebook: Notebook, cell_id: str) -> str:
    cells = (cell.get("outputs", ()) for cell in notebook["cells"] if cell["id"] == cell_id)
    texts = (
        (one.get("text"), one.get("data", {}).get("text/plain")) for all in cells for one in all
    )
    return "\n".join(_joined(text) for pair in texts for text in pair)


def _has_picture(notebook: Notebook) -> bool:
    outputs = (output for cell in notebook["cells"] for output in cell.get("outputs", ()))
    return any("image/png" in output.get("data", {}) for output in outputs)
