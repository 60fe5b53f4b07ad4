"""Runs whole notebooks in fresh kernels and compares their outputs."""

from .verifier import Verifier

__all__ = ["Verifier"]
