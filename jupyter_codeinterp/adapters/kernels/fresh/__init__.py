"""Runs the cells of a notebook in a new kernel of the server's kernel manager."""

from .kernel import FreshKernel, Ran

__all__ = ["FreshKernel", "Ran"]
