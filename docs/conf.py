"""The documentation site: `sphinx-build -W docs docs/_build` (part of `scripts/check`)."""

from __future__ import annotations

import json
from pathlib import Path

_PACKAGE = json.loads((Path(__file__).parent.parent / "package.json").read_text(encoding="utf-8"))

project = "jupyter_codeinterp"
author = _PACKAGE["author"]
copyright = f"2026, {author}"
release = version = _PACKAGE["version"]

extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns = ["_build"]

# Every heading has an address of its own, so that links to one are checked as well.
myst_heading_anchors = 3
nitpicky = False

autodoc_default_options = {"members": True, "member-order": "bysource"}

html_theme = "sphinx_book_theme"
html_title = project
html_theme_options = {"show_toc_level": 2}
html_show_sourcelink = False
