"""Python that shows HTML or JavaScript which does not stand in the code as a literal.

A script in such an output runs in the page of whoever looks at it: it may press buttons
there. So the card says where it is shown. Help for a reader, like all notices.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

_SHOWS = {
    **dict.fromkeys(("HTML", "display_html", "HTMLMath"), "HTML"),
    **dict.fromkeys(("Javascript", "display_javascript"), "JavaScript"),
    **dict.fromkeys(("SVG", "display_svg"), "SVG"),
    **dict.fromkeys(("Markdown", "display_markdown"), "Markdown"),
    **dict.fromkeys(
        ("IFrame", "YouTubeVideo", "VimeoVideo", "ScribdDocument", "FileLink", "FileLinks"),
        "a page or link",
    ),
    **dict.fromkeys(("publish_display_data", "publish"), "raw data"),
}
_ROOTS = ("IPython", "ipywidgets", "get_ipython()")
_FETCHES = ("url", "filename", "lib", "css")
_METHODS = frozenset(
    (
        *("_repr_html_", "_repr_javascript_", "_repr_svg_", "_repr_markdown_"),
        *("_repr_mimebundle_", "_ipython_display_"),
    )
)
_FORMATTERS = frozenset(("display_formatter", "mimebundle_formatter"))
_WARNING = "its scripts run in this page with your rights"


def shows(name: str, imported: Collection[str]) -> str:
    """What is shown under this name (`IPython.display.HTML`), "" if nothing of the kind.
    ``imported`` are the packages that the cell imports; a name of none may come from IPython
    all the same, through an earlier cell."""
    root, _, _ = name.partition(".")
    last = name.rpartition(".")[2]
    known = last in _SHOWS and (last != "publish" or "display_pub" in name)
    return _SHOWS[last] if known and (root in _ROOTS or root not in imported) else ""


def warned(kind: str, name: str) -> str:
    last = name.rpartition(".")[2]
    return f"shows {kind} created at run time ({last}): {_WARNING}"


def is_literal(call: ast.Call) -> bool:
    """Whether all that the call is given stands there, and nothing is fetched."""
    given = [*call.args, *(word.value for word in call.keywords)]
    named = {word.arg for word in call.keywords}
    return (
        all(map(_constant, given)) and not named.intersection(_FETCHES) and not _address(call.args)
    )


def _constant(node: ast.expr) -> bool:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return all(map(_constant, node.elts))
    if isinstance(node, ast.Dict):
        return None not in node.keys and all(
            _constant(part) for part in (*node.keys, *node.values) if part is not None
        )
    return isinstance(node, ast.Constant)


def _address(args: list[ast.expr]) -> bool:
    """IPython fetches what begins like an address, and reads what is given as bytes of a file."""
    first = args[0] if args else None
    value = first.value if isinstance(first, ast.Constant) else ""
    return isinstance(value, str) and value.lower().startswith("http")


def raw_display(call: ast.Call, name: str) -> str:
    """What to say of ``display(…, raw=True)``, "" if it is none or all of it stands there."""
    raw = next((word.value for word in call.keywords if word.arg in ("raw", None)), None)
    shown = name.rpartition(".")[2] == "display" and raw is not None
    off = isinstance(raw, ast.Constant) and not raw.value
    return warned("raw data", "display") if shown and not off and not is_literal(call) else ""


def defines(name: str) -> str:
    """What to say where a name is defined, assigned to or stands in a string."""
    if name in _METHODS:
        return f"defines how the page shows a value ({name}): {_WARNING}"
    if name in _FORMATTERS:
        return f"changes how the page shows values ({name}): {_WARNING}"
    return ""
