"""Checks of the built wheel, for ``scripts/package``."""
