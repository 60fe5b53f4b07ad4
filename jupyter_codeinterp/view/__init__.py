"""The notebook and outputs as text for the model: untrusted, bounded and marked."""
