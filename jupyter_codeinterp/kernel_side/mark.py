"""Names that the server and the kernel share. Standard library only."""

AGENT = "codeinterp_agent"
"""A key in the metadata of the agent's requests."""
WATCH = "jupyter_codeinterp.watch"
"""The source of the payload that reports what a cell of the agent did."""
