"""What travels between a session and its fronts: commands and events."""
