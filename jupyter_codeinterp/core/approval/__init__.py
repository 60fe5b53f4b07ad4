"""Whether something runs, is asked about or is refused, and what the person is told of it."""
