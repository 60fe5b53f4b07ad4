"""What can be done to a notebook, and what its outputs may hold."""
