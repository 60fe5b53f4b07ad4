"""Runs in the kernel: facts of engines (Spark, Dask, Ray) about their tables and progress."""
