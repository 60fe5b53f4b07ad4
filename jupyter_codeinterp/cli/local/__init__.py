"""Notebooks and kernels without a server, as one started in this folder would have them."""
