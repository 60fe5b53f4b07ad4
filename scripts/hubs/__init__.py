"""Several people on a JupyterHub: that they see nothing of each other, and what they cost."""
