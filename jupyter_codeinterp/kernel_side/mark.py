"""How a kernel knows what the agent of a server has sent. Standard library only."""

AGENT = "codeinterp_agent"
"""In the metadata of its requests."""
