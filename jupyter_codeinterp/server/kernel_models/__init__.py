"""Models for ``%%ai`` in kernels, with a token per kernel instead of keys."""
