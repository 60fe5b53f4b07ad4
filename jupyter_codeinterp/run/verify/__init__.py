"""Compares a notebook's outputs with those of a run in a fresh kernel."""
