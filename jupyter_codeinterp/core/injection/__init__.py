"""Words in data that read like instructions to the model."""
