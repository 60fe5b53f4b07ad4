"""A conversation as a file to read elsewhere."""
