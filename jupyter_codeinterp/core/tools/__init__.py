"""What the model can call: its schemas, and the way from a call to its result."""
