"""Names of the variables by which a server hands its kernels the way to its models.

Read in the kernel and written on the server. Standard library only.
"""

TOKEN = "CODEINTERP_MODEL_TOKEN"
"""Good for model calls of this kernel, and for nothing else."""
URL = "CODEINTERP_MODEL_URL"
"""Of the server's model endpoint, without ``/v1``."""
MODEL = "CODEINTERP_MODEL"
"""The server's default model."""
