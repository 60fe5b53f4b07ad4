"""One cell from its draft to its result: written, decided on, run."""
