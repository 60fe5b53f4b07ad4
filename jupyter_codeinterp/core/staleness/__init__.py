"""Cells whose inputs have changed since they ran. Pure; see ``stale.find``."""
