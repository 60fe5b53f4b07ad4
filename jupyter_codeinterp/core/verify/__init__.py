"""Whether a notebook runs from scratch and gives the same outputs: what is compared and how."""
