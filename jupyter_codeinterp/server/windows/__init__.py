"""Connected windows: identity, and frames to all of them."""
