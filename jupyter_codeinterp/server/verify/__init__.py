"""Runs notebooks in fresh kernels: compares their outputs."""

from .notebook_runs import NotebookRuns
from .verifier import Verifier

__all__ = ["NotebookRuns", "Verifier"]
