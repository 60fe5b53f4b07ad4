"""What code may reach outside the notebook, read from the code."""
