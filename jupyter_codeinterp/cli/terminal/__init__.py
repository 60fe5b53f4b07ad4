"""Output and questions, in a terminal or as JSON."""
