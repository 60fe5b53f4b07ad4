"""Connected windows: identity, actions of other windows, and "Not me"."""
