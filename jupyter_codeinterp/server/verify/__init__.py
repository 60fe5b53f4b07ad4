"""Runs notebooks in fresh kernels: compares their outputs, or changes their data."""

from .holder import Holder
from .notebook_runs import NotebookRuns
from .verifier import Verifier

__all__ = ["Holder", "NotebookRuns", "Verifier"]
