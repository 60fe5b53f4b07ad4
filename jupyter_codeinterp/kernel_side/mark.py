"""Names that the server and the kernel share. Standard library only."""

AGENT = "codeinterp_agent"
"""A key in the metadata of the agent's requests."""
LOOKS_AT = "codeinterp_looks_at"
"""A key in the metadata of such a request: the result to report on."""
WATCH = "jupyter_codeinterp.watch"
"""The source of the payload with the report on a cell of the agent."""
