"""Names of the environment variables that give a kernel access to its server's models.

Read in the kernel and written on the server. Standard library only.
"""

TOKEN = "CODEINTERP_MODEL_TOKEN"
"""Allows model calls of this kernel, and nothing else."""
URL = "CODEINTERP_MODEL_URL"
"""The server's model endpoint."""
MODEL = "CODEINTERP_MODEL"
"""The server's default model."""
