"""Watches cells of the agent in a Python kernel."""
