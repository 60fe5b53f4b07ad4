"""Notebooks, kernels and settings as a server started here would have them."""
