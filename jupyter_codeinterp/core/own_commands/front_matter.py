"""The front matter of a Markdown file: single values only, read without YAML, because a file of
somebody else's may be anything."""

from __future__ import annotations

_FENCE = "---"
_MOST_LINES = 100


def split(text: str) -> tuple[dict[str, str], str]:
    """The values by key, and the text after them. A text without a closed front matter has none.

    Reads ``key: value``, quoted values, and blocks (``>``, ``|``) as one line each. Ignores lists
    and nested values.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != _FENCE:
        return {}, text.removeprefix("\ufeff")
    ends = [n for n, line in enumerate(lines[1:_MOST_LINES], 1) if line.rstrip() == _FENCE]
    if not ends:
        return {}, text
    return _values(lines[1 : ends[0]]), "\n".join(lines[ends[0] + 1 :])


def _values(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    key = ""
    for line in lines:
        if not line.strip():
            continue
        if line[:1].isspace():
            if key:
                found[key] = f"{found[key]} {line.strip()}".strip()
            continue
        name, colon, value = line.partition(":")
        key = name.strip().lower() if colon else ""
        if key:
            found[key] = _plain(value.strip())
    return found


def _plain(value: str) -> str:
    if value[:1] in ("'", '"') and len(value) > 1 and value[-1] == value[0]:
        return value[1:-1]
    return "" if value.rstrip("+-") in (">", "|") else value
