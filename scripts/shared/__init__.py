"""Notebooks that several people share, tried in browsers: see scripts/engines."""
