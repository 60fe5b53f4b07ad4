"""Names that other programs run, or take instructions from."""

PROTECTED = (".git", ".ipynb_checkpoints", ".codeinterp", ".hg", ".vscode", ".idea", ".envrc")
"""Read-only in a sandbox where they are there, and never copied out of an overlay."""
