"""Runs notebooks in fresh kernels: compares their outputs."""

from .verifier import NotebookRuns, Verifier

__all__ = ["NotebookRuns", "Verifier"]
