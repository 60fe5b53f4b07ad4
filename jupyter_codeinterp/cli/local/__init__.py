"""Notebooks and kernels as a server started in this folder would have them."""
