"""What the tools have in common: their form, a draft of a cell, a step, its title."""
