"""Changed copies of data, made in the fresh kernel that then runs the cells."""

INPUTS = "jupyter_codeinterp.inputs"
_PARTS = ("picks", "refusal", "parquet", "excel", "variables", "inputs")
COPY_FILES = tuple(f"varying/{name}" for name in _PARTS)
"""In the order of their imports."""
