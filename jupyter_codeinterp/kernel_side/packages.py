"""Versions of the packages that work with data often needs, without importing them. This file's
text runs **in the kernel**.

Standard library only.
"""

from __future__ import annotations

import importlib.metadata

PACKAGES = (
    *("numpy", "pandas", "polars", "matplotlib", "seaborn", "scipy", "scikit-learn"),
    *("statsmodels", "plotly", "altair", "pyarrow", "openpyxl", "duckdb", "sqlalchemy"),
    "requests",
)
LONGEST = 30
"""Characters of a version."""


def versions() -> dict[str, str]:
    """By package; "" where it is not installed."""
    return dict(map(version, PACKAGES))


def version(name: str) -> tuple[str, str]:
    try:
        return name, str(importlib.metadata.version(name))[:LONGEST]
    except Exception:
        # Also where its files are damaged.
        return name, ""
