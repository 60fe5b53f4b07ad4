"""Compares the notebook's outputs with those of a new run."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, Union

from ...view.html_text import strip_html
from ...view.plain_text import clean
from ...view.tracebacks import folded
from ...wire.ops import joined
from .verification import MOST_TEXT, Difference

# -------------------------------------------------------------------------------------------------
# Removes from texts what differs in every run: addresses of objects, progress bars, and the lines
# of IPython's ``%time``.

Moved = Union[tuple[str, str], None]
"""The temporary copy in which the code ran, and the original folder; None without a copy."""
READ = 200_000
"""Characters of a text that are compared."""
_ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{6,16}\b")
_PROGRESS = re.compile(
    r"\d{1,3}%\|[^|\n]{0,300}\||[\u2501\u2588\u2589-\u258f]{3}|\[[=>#.-]{10,300}\]"
)
_ID = re.compile(r"\bid\s{0,3}=\s{0,3}[\"']([\w-]{1,200})[\"']")
_WORD = re.compile(r"[\w-]{1,200}")
_MADE = re.compile(r"<dc:date>[^<]{0,40}</dc:date>")
"""The creation date of an SVG picture."""
_TIMING_LINES = ("CPU times:", "Wall time:", "Compiler time:", "Compiler :", "Parser   :")


def normal_lines(text: str, moved: Moved = None) -> list[str]:
    """The lines of a text, without the parts that differ in every run."""
    text = clean(text[:READ])
    if moved is not None:
        text = text.replace(*moved)
    lines = (line.rstrip() for line in text.split("\n"))
    return [
        _ADDRESS.sub("0x…", line)
        for line in lines
        if line and not _PROGRESS.search(line) and not line.lstrip().startswith(_TIMING_LINES)
    ]


def without_ids(markup: str) -> str:
    """HTML or SVG with its elements' ids replaced by numbers, because libraries choose random
    ids."""
    markup = _MADE.sub("", markup[:READ])
    ids: dict[str, str] = {}
    for name in _ID.findall(markup):
        ids.setdefault(name, f"id-{len(ids)}")
    return _WORD.sub(lambda word: ids.get(word[0], word[0]), markup)


RELATIVE = 1e-6
"""Relative tolerance of numbers with a decimal point. Whole numbers must be equal."""
ABSOLUTE = 1e-9
_NUMBER = re.compile(r"(-?\d{1,40}(?:\.\d{0,40})?(?:[eE][+-]?\d{1,4})?)")
_IMAGES = ("image/png", "image/jpeg", "image/gif", "image/webp")
_PLAIN, _HTML, _SVG = "text/plain", "text/html", "image/svg+xml"
_CODE = ("application/javascript", "application/x-latex")
_WIDGET = "application/vnd.jupyter.widget-view+json"
_LAST_LINES = 6


def compare(old: Sequence[Any], new: Sequence[Any], moved: Moved = None) -> Union[Difference, None]:
    """The first difference; None if the outputs are the same."""
    for stream in ("stdout", "stderr"):
        before, after = _stream(old, stream), _stream(new, stream)
        found = differing_line(normal_lines(before), normal_lines(after, moved))
        if found is not None:
            return found
    olds, news = list(_rich(old)), list(_rich(new))
    for before_, after_ in zip(olds, news, strict=False):
        found = _compare_rich(before_, after_, moved)
        if found is not None:
            return found
    if len(olds) != len(news):
        at = min(len(olds), len(news))
        return Difference(*(_named(some[at]) if at < len(some) else "" for some in (olds, news)))
    return None


def last_lines(outputs: Sequence[Any]) -> str:
    """The last lines of the traceback."""
    errors = [one for one in outputs if one.get("output_type") == "error"]
    lines = folded(errors[-1]).split("\n") if errors else []
    return (
        "\n".join(line for line in lines if line.strip())[-MOST_TEXT:]
        if len(lines) <= _LAST_LINES
        else "\n".join(lines[-_LAST_LINES:])[-MOST_TEXT:]
    )


def differing_line(old: Sequence[str], new: Sequence[str]) -> Union[Difference, None]:
    """The first line that differs by value; spaces do not count."""
    for at in range(max(len(old), len(new))):
        before = old[at] if at < len(old) else ""
        after = new[at] if at < len(new) else ""
        if before != after and not same_values(before, after):
            return Difference(_bounded(before), _bounded(after))
    return None


def same_values(old: str, new: str) -> bool:
    """Whether two lines have the same words and, within a tolerance, the same numbers."""
    olds, news = _NUMBER.split(old), _NUMBER.split(new)
    if len(olds) != len(news):
        return False
    for at, (before, after) in enumerate(zip(olds, news, strict=True)):
        if at % 2:
            if not _close(before, after):
                return False
        elif "".join(before.split()) != "".join(after.split()):
            return False
    return True


def _close(old: str, new: str) -> bool:
    if old == new:
        return True
    if not any(mark in old + new for mark in ".eE"):
        return False
    return math.isclose(float(old), float(new), rel_tol=RELATIVE, abs_tol=ABSOLUTE)


def _stream(outputs: Sequence[Any], name: str) -> str:
    return "".join(
        joined(one.get("text"))
        for one in outputs
        if one.get("output_type") == "stream" and one.get("name") == name
    )


def _rich(outputs: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for one in outputs:
        if one.get("output_type") == "error":
            yield {"text/plain": f"{one.get('ename')}: {one.get('evalue')}"}
        elif one.get("output_type") in ("display_data", "execute_result"):
            data = one.get("data")
            yield data if isinstance(data, dict) else {}


def _compare_rich(
    old: dict[str, Any], new: dict[str, Any], moved: Moved
) -> Union[Difference, None]:
    """The first difference in what both outputs have, the richest kinds first."""
    if _WIDGET in old and _WIDGET in new:
        return None
    if not old.keys() & new.keys():
        return differing_line(normal_lines(_any(old)), normal_lines(_any(new), moved))
    kinds = sorted(filter(_comparable, old.keys() | new.keys()), key=lambda one: one == _PLAIN)
    for kind in kinds:
        if kind not in old or kind not in new:
            return Difference(*(kind if kind in data else "" for data in (old, new)))
        if kind in _IMAGES:
            found = _compare_images(old[kind], new[kind])
        else:
            found = _compare_texts(kind, old[kind], new[kind], moved)
        if found is not None:
            return found
    return None


def _comparable(kind: str) -> bool:
    return kind in (*_IMAGES, _SVG, *_CODE) or kind.startswith("text/") or kind.endswith("json")


def _compare_texts(kind: str, old: Any, new: Any, moved: Moved) -> Union[Difference, None]:
    if kind.endswith("json"):
        return differing_line(normal_lines(_json(old)), normal_lines(_json(new), moved))
    before, after = joined(old), joined(new)
    if kind not in (_HTML, _SVG):
        return differing_line(normal_lines(before), normal_lines(after, moved))
    # A difference in the words is easier to read than one in the tags.
    seen = differing_line(normal_lines(strip_html(before)), normal_lines(strip_html(after), moved))
    return seen or differing_line(
        normal_lines(without_ids(before)), normal_lines(without_ids(after), moved)
    )


def _compare_images(old: Any, new: Any) -> Union[Difference, None]:
    before, after = ("".join(joined(image).split()) for image in (old, new))
    return None if before == after else Difference("an image", "another image")


def _any(data: dict[str, Any]) -> str:
    for kind in sorted(data):
        value = data[kind]
        if kind == _HTML:
            return strip_html(joined(value))
        if kind.startswith("text/") or kind == _SVG:
            return joined(value)
        if kind.endswith("json"):
            return _json(value)
    return ", ".join(sorted(data))


def _json(value: Any) -> str:
    try:
        return json.dumps(value, sort_keys=True, indent=0, default=str)
    except (RecursionError, TypeError, ValueError):
        return "JSON that cannot be compared"


def _named(data: dict[str, Any]) -> str:
    if any(kind in data for kind in _IMAGES):
        return "an image"
    lines = normal_lines(joined(data.get(_PLAIN)) or _any(data))
    return _bounded(lines[0]) if lines else "an output"


def _bounded(line: str) -> str:
    line = " ".join(line.split())
    return line if len(line) <= MOST_TEXT else f"{line[: MOST_TEXT - 1]}…"
