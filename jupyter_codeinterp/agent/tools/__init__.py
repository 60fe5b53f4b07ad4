"""The tools of the model: their schemas, and the way from a call to its result."""
