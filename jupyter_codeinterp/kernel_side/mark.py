"""Marks requests of a server's agent for the kernel. Standard library only."""

AGENT = "codeinterp_agent"
"""A key in the metadata of the agent's requests."""
