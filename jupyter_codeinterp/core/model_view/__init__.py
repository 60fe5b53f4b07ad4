"""What the model sees of the notebook and of outputs: text of others, bounded and marked."""
