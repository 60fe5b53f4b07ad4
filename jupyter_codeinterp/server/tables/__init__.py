"""Tables that a person looks at: variables of a notebook's kernel, and CSV files."""
