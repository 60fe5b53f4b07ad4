"""Figures of an answer and the outputs that they come from. Pure; see ``origins.origins``."""
