"""Where the notebooks' files are."""
