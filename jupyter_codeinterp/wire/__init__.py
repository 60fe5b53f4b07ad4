"""Commands from fronts to a session, and events back."""
