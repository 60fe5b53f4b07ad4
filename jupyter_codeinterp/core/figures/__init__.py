"""Figures of an answer and the outputs that have them. Pure; see ``lookup.look_up``."""
