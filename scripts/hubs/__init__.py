"""Two people on a JupyterHub, who see nothing of each other."""
