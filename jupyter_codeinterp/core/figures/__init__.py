"""Finds the outputs that show the numbers of an answer. Pure; see ``lookup.look_up``."""
