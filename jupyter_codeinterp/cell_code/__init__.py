"""Reads the code of one cell without running it."""
