"""Names that the server and the kernel share. Standard library only."""

LOOKS_AT = "codeinterp_looks_at"
"""A key in the metadata of the agent's requests: the result to report on."""
ANSWERS = "jupyter_codeinterp.answers"
"""The target of comms with the server's questions."""
WATCH = "jupyter_codeinterp.watch"
"""The source of the payload with the report on a cell of the agent."""
