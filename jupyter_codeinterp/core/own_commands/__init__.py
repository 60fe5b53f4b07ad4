"""Commands and skills that a person keeps in files next to the notebook."""
