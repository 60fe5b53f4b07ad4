"""One turn: its services, limits and ending."""
