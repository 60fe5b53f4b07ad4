"""The notebook, open in a browser or as a file."""
