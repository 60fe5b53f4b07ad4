"""The Python in a cell of IPython: without magics and shell commands."""

from __future__ import annotations

PYTHON_BELOW = ("%%time", "%%timeit", "%%capture", "%%prun", "%%memit")
"""Cell magics whose cells are Python."""
_PYTHON_BESIDE = ("%time", "%timeit", "%prun", "%memit")
"""Line magics with Python in the same line."""


def python_of(source: str) -> str:
    """The cell with every magic replaced, line for line; "" if the cell is no Python.

    Python beside a magic stays: ``%time x = 1`` is ``x = 1``. A name that gets a magic's result
    stays assigned: ``files = !ls`` is ``files = None``.
    """
    lines = source.split("\n")
    start = next((place for place, line in enumerate(lines) if line.strip()), len(lines))
    if start < len(lines) and lines[start].startswith("%%"):
        words = lines[start].split()
        if words[0] not in PYTHON_BELOW:
            return ""
        captured = [word for word in words[1:] if word.isidentifier()]
        is_capture = words[0] == "%%capture" and captured
        lines[start] = f"{captured[0]} = None" if is_capture else ""
    return "\n".join(map(_python_of_line, lines))


def _python_of_line(line: str) -> str:
    code = line.strip()
    if not code:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    if code[0] == "%":
        magic, _, rest = code.partition(" ")
        beside = rest.strip() if magic in _PYTHON_BESIDE else ""
        return indent + (beside if beside and beside[0] not in "-%!" else "pass")
    if code[0] in "!?" or (code[-1] == "?" and "#" not in code):
        return f"{indent}pass"
    target, equals, value = code.partition("=")
    if equals and value.lstrip()[:1] in ("!", "%") and value.lstrip()[:1]:
        return f"{indent}{target.rstrip()} = None"
    return line
