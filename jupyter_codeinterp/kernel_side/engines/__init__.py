"""Runs in the kernel: what engines (Spark, Dask, Ray) know of their tables and their work."""
